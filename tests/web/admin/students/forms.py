"""An admin's adjustments of students' selections, through the pages."""

import re
from html import unescape
from typing import Any

from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from portal.backend import backend
from portal.catalog.models import Section
from portal.core.audit_trail import AuditEntry
from portal.people.models import Student
from portal.recorder.recorder import drain
from tests import audit_trail
from tests.web.pages import hidden, send, words

WHY = "Agreed with the dean."


def desk(term_id: int) -> str:
    """Return the address of the adjustment page."""
    return f"/admin/terms/{term_id}/adjust"


def look(
    admin: FlaskClient, student: Student, add: Section | None = None, drop: Section | None = None
) -> TestResponse:
    """Return the preview of an adjustment."""
    section = add or drop
    assert section
    requested = {"student": student.number, "add": add and add.crn, "drop": drop and drop.crn}
    query = {name: value for name, value in requested.items() if value} | {"look": "1"}
    return admin.get(desk(section.term_id), query_string=query)


def press(
    admin: FlaskClient, page: TestResponse, over: tuple[str, ...] = (), **fields: Any
) -> TestResponse:
    """Send the form of that page with these overrides."""
    form = {**hidden(page.text), "reason": WHY, "over": list(over), **fields}
    return send(admin, page.request.path, form)


def obstacles(page: TestResponse) -> list[str]:
    """Return the codes that the page offers to override."""
    return re.findall(r'name="over" value="(\w+)"', page.text)


def text_of(page: TestResponse) -> str:
    """Return the page's text."""
    return unescape(words(page.text))


def holds(student: Student, term_id: int) -> list[int]:
    """Return the sections in which the student has a seat."""
    return [each.section for each in backend().ledger.registrations(term_id, student.id).enrolled]


def entries(term_id: int = 0) -> list[AuditEntry]:
    """Record the term and return the audit trail."""
    if term_id:
        drain(term_id)
    return audit_trail.entries()
