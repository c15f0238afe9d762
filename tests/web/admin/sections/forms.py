"""An admin's actions on sections, through the pages."""

import re
from html import unescape
from html.parser import HTMLParser
from typing import Any

from flask.testing import FlaskClient
from werkzeug.datastructures import MultiDict
from werkzeug.test import TestResponse

from portal.backend import backend
from portal.catalog.models import Section
from portal.catalog.section_fields import SectionDetails
from portal.catalog.sections import StoredSection, find_section
from portal.core.db import transaction
from portal.ledger.types import SeatCounts
from tests.web import pages


def address(section: Section, rest: str = "") -> str:
    """Return the address of a section's page, or of one below it."""
    return f"/admin/terms/{section.term_id}/sections/{section.id}{rest}"


def stored(section: Section) -> StoredSection:
    """Return the stored section."""
    with transaction() as session:
        found = find_section(session, section.term_id, section.id)
    assert found
    return found


def details(section: Section) -> SectionDetails:
    """Return the current values of the section."""
    return stored(section).details


def filled(admin: FlaskClient, section: Section, **fields: Any) -> MultiDict[str, str]:
    """Return the form as shown, with some other values."""
    form = inputs(admin.get(address(section, "/edit")).text)
    for name, value in fields.items():
        form.setlist(name, value if isinstance(value, list) else [str(value)])
    return form


def send(admin: FlaskClient, section: Section, **fields: Any) -> TestResponse:
    """Send the form and return the preview."""
    return pages.send(admin, address(section, "/edit"), filled(admin, section, **fields))


def change(admin: FlaskClient, section: Section, **fields: Any) -> TestResponse:
    """Change a section, with a reason."""
    stored = {"confirmed": "yes", "reason": "The room is smaller.", **fields}
    return send(admin, section, **stored)


def do(
    admin: FlaskClient, section: Section, action: str, reason: str = "No teacher."
) -> TestResponse:
    """Change the status: publish, confirm, cancel, delete and so on."""
    form = {"version": str(stored(section).version), "reason": reason}
    return admin.post(address(section, f"/{action}"), data=form)


def seats(section: Section) -> SeatCounts:
    """Return the ledger's counts of the section."""
    return backend().ledger.seats_of(section.term_id, [section.id])[section.id]


def errors(answer: TestResponse) -> str:
    """Return the errors that the page shows."""
    found = re.search(r'<div class="errors".*?</div>', answer.text, re.DOTALL)
    assert found, "there is nothing to be put right"
    return unescape(found[0])


def text_of(answer: TestResponse) -> str:
    """Return the page's text."""
    joined = re.sub(r'<span class="nowrap">(.*?)</span>', r"\1", answer.text)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", joined)).split())


def typed(page: str, name: str) -> str:
    """Return the value of an input of the page."""
    found = re.search(rf'<input [^>]*name="{name}"[^>]* value="([^"]*)"', page)
    assert found, f"there is no input {name}"
    return unescape(found[1])


def inputs(page: str) -> MultiDict[str, str]:
    """Return what a browser sends of the page's form."""
    reader = _Inputs()
    reader.feed(page[page.index('<form class="form') :].partition("</form>")[0])
    return reader.found


class _Inputs(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: MultiDict[str, str] = MultiDict()
        self.inside = ""  # the text area or the list that is open

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        name, value = known.get("name") or self.inside, known.get("value") or ""
        ticked = known.get("type") not in {"checkbox", "radio"} or "checked" in known
        if (tag == "input" and name and ticked) or (tag == "option" and "selected" in known):
            self.found.add(name, value)
        if tag in {"textarea", "select"}:
            self.inside = name

    def handle_data(self, data: str) -> None:
        if self.inside and self.lasttag == "textarea":
            self.found[self.inside] = data.removeprefix("\r\n").removeprefix("\n")

    def handle_endtag(self, tag: str) -> None:
        if tag in {"textarea", "select"}:
            self.inside = ""
