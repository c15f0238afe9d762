"""What a visit to the student's pages takes: with forms alone, and as htmx asks."""

import re
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.backend import backend
from tests.ledger_claims import claim

HTMX = {"HX-Request": "true"}
DIALOG = {**HTMX, "HX-Target": "dialog"}


def address(section: Any, act: str) -> str:
    """Where something is done about a section."""
    return f"/terms/{section.term_id}/sections/{section.id}/{act}"


def hidden(html: str) -> dict[str, str]:
    """The hidden fields of the page's own form."""
    form = html[html.index("<h1>") :] if "<h1>" in html else html
    form = form.partition("</form>")[0]
    fields = re.findall(r'<input type="hidden" name="([\w-]+)" value="([^"]*)"', form)
    return {name: value.replace("&amp;", "&") for name, value in fields}


def held(term: Any, student: Any) -> list[int]:
    """The sections in which a student has a seat."""
    return [each.section for each in backend().ledger.registrations(term.id, student.id).enrolled]


def seat(student: Any, section: Any) -> None:
    """A seat for the student, straight at the ledger and whatever the rules say."""
    assert claim(student, section, wait=False).outcome == "enrolled"


def press(client: FlaskClient, section: Any, act: str, **fields: Any) -> Any:
    """Open the form that asks, and send it as it stands, but for `fields`."""
    form = client.get(address(section, act))
    return client.post(address(section, act), data={**hidden(form.text), **fields})


def send(browser: FlaskClient, path: str, form: Any) -> TestResponse:
    """Send a form that is looked over first: the page that shows it, or the answer of the deed."""
    answer = browser.post(path, data=form)
    looked = answer.status_code == 303 and "?draft=" in answer.location
    return browser.get(answer.location) if looked else answer


def cell(html: str, section: Any) -> str:
    """What can be done about a section on a page."""
    found = re.search(rf'<div class="row-act act" id="act-{section.id}".*?</div>', html, re.DOTALL)
    assert found, f"no cell for section {section.id}"
    return found[0]


def words(html: str) -> str:
    """The text of a page, its white space squeezed."""
    text = re.sub(r'<span class="nowrap">([^<]*)</span>', r"\1", html)
    text = re.sub(r"<[^>]+>", " ", text)
    return re.sub(r"\s+", " ", text.replace("&nbsp;", " ").replace("&#39;", "'"))
