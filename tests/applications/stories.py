"""Students who apply, and what is known afterwards."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import select

from portal.applications import service
from portal.applications.documents import NewDocument, add
from portal.applications.kinds import KINDS
from portal.applications.models import Application, ApplicationEntry
from portal.applications.service import Decider
from portal.backend import backend
from portal.catalog.models import Section
from portal.core.audit_trail import AuditEntry
from portal.core.db import transaction
from portal.people.models import Student

ANSWERS: Mapping[str, dict[str, Any]] = {
    "late_add": {"why": "I need it to graduate."},
    "late_drop": {"why": "I was ill."},
    "permission": {"waives": ["prerequisite"], "why": "I took it elsewhere."},
    "credit_overload": {"why": "My last term.", "workload": "No job."},
    "withdrawal": {"why": "I am ill."},
}


def an_application(
    kind: str, student: Student, section: Section, documents: Iterable[bytes] = ()
) -> int:
    """An application that was sent, with PDFs of these contents."""
    made = service.start(KINDS[kind], student.id, section.id)
    service.save(made, student.id, ANSWERS[kind])
    for content in documents:
        part = next(iter(KINDS[kind].documents))
        add(made, student.id, NewDocument(part, "letter.pdf", content))
    service.submit(made, student.id)
    return made


def the(application: int) -> Application:
    with transaction() as session:
        return session.get_one(Application, application)


def decider(application: int, by: int, note: str = "Fine.") -> Decider:
    """Somebody who has just seen the application."""
    return Decider(by, note, the(application).version)


def history(application: int) -> list[str]:
    """What has happened to it, in order."""
    with transaction() as session:
        found = select(ApplicationEntry.action).order_by(ApplicationEntry.id)
        return list(session.scalars(found.where(ApplicationEntry.application_id == application)))


def deeds() -> list[str]:
    """What the audit trail has noted, in order."""
    with transaction() as session:
        return list(session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)))


def has_seat(student: Student, section: Section) -> bool:
    """Whether the ledger gives the student a seat."""
    registrations = backend().ledger.registrations(section.term_id, student.id)
    return any(each.section == section.id for each in registrations.enrolled)
