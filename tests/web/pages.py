"""Visits to students' pages: with plain forms, and with htmx."""

import re
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.backend import backend
from tests.ledger_claims import claim

HTMX = {"HX-Request": "true"}
DIALOG = {**HTMX, "HX-Target": "dialog"}


def address(section: Any, act: str) -> str:
    """Return the address of an action on a section."""
    return f"/terms/{section.term_id}/sections/{section.id}/{act}"


def hidden(html: str) -> dict[str, str]:
    """Return the hidden fields of the page's own form."""
    form = html[html.index("<h1>") :] if "<h1>" in html else html
    form = form.partition("</form>")[0]
    fields = re.findall(r'<input type="hidden" name="([\w-]+)" value="([^"]*)"', form)
    return {name: value.replace("&amp;", "&") for name, value in fields}


def held(term: Any, student: Any) -> list[int]:
    """Return the sections in which a student has a seat."""
    return [each.section for each in backend().ledger.registrations(term.id, student.id).enrolled]


def seat(student: Any, section: Any) -> None:
    """Give the student a seat directly in the ledger, without the rules."""
    assert claim(student, section, wait=False).outcome == "enrolled"


def press(client: FlaskClient, section: Any, act: str, **fields: Any) -> Any:
    """Open the form, and send it as shown with the changed `fields`."""
    form = client.get(address(section, act))
    return client.post(address(section, act), data={**hidden(form.text), **fields})


def send(browser: FlaskClient, path: str, form: Any) -> TestResponse:
    """Send a form with a preview; return the preview, or the response to its confirmation."""
    answer = browser.post(path, data=form)
    looked = answer.status_code == 303 and "?draft=" in answer.location
    return browser.get(answer.location) if looked else answer


def cell(html: str, section: Any) -> str:
    """Return the cell with a section's actions on a page."""
    found = re.search(rf'<div class="row-act act" id="act-{section.id}".*?</div>', html, re.DOTALL)
    assert found, f"no cell for section {section.id}"
    return found[0]


def words(html: str) -> str:
    """Return the text of a page with white space squeezed."""
    text = re.sub(r'<span class="nowrap">([^<]*)</span>', r"\1", html)
    text = re.sub(r"<[^>]+>", " ", text)
    return re.sub(r"\s+", " ", text.replace("&nbsp;", " ").replace("&#39;", "'"))
