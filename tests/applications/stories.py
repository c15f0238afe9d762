"""Students who apply, and what is known afterwards."""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlalchemy import select

from portal.applications import documents, fees, service
from portal.applications.documents import NewDocument, add
from portal.applications.kinds import KINDS
from portal.applications.models import Application, ApplicationEntry, Charge
from portal.applications.payments.test_provider import TestProvider
from portal.applications.service import Decider
from portal.backend import backend
from portal.catalog import term_catalog
from portal.catalog.models import Section
from portal.core.db import transaction
from portal.notifications.models import Notification
from portal.people.models import Account, Student
from tests.applications.files import a_pdf
from tests.audit_trail import entries
from tests.notifications.stories import set_section

ANSWERS: Mapping[str, dict[str, Any]] = {
    "late_add": {"why": "I need it to graduate."},
    "late_drop": {"why": "I was ill."},
    "permission": {"waives": ["prerequisite"], "why": "I took it elsewhere."},
    "consent": {"why": "I have read the course’s first book."},
    "credit_overload": {"why": "My last term.", "workload": "No job."},
    "withdrawal": {"why": "I am ill."},
    "visiting": {
        "institution": "Other University",
        "level": "undergraduate",
        "phone": "+1 555 010 0199",
        "address": "1 Main Street",
        "courses": "MAT 1",
        "why": "I took the courses before it.",
        "truth": ["yes"],
    },
}


def an_application(
    kind: str, student: Student, section: Section, documents: Iterable[bytes] = ()
) -> int:
    """An application that was sent, with PDFs of these contents."""
    made = a_draft(kind, student, section, documents)
    service.submit(made, student.account_id)
    return made


def a_draft(kind: str, student: Student, section: Section, documents: Iterable[bytes] = ()) -> int:
    """A complete application that was not sent."""
    made = service.start(KINDS[kind], student.account_id, section.term_id, section.id)
    service.save(made, student.account_id, ANSWERS[kind])
    for content in documents:
        part = next(iter(KINDS[kind].documents))
        add(made, student.account_id, NewDocument(part, "letter.pdf", content))
    return made


def a_visiting_application(
    account: Account, term: int, *, paid: bool = True, **answers: str
) -> int:
    """A checked application of a visiting student that was sent."""
    made = service.start(KINDS["visiting"], account.id, term)
    service.save(made, account.id, {**ANSWERS["visiting"], **answers})
    documents.add(made, account.id, NewDocument("transcript", "grades.pdf", a_pdf()))
    if paid and the(made).fee:
        pay(made, account)
    service.submit(made, account.id)
    documents.check_due()
    return made


def set_answer(application: int, **answers: list[str]) -> None:
    """Change answers of an application, as its student could before it was sent."""
    with transaction() as session:
        found = session.get_one(Application, application)
        found.answers = {**found.answers, **answers}


def require(section: Section) -> None:
    """Give the section a prerequisite that no student has passed."""
    set_section(section, prerequisites={"course": "MAT-0"})
    term_catalog.expire(section.term_id)


def pay(application: int, account: Account, outcome: str = "paid") -> None:
    """The fee, on the page of the test provider."""
    fees.pay(application, account.id)
    TestProvider().choose(f"test_{charges(application)[-1].id}", outcome)
    fees.look(application, account.id)


def charges(application: int) -> list[Charge]:
    """The charges of an application, in order."""
    with transaction() as session:
        mine = select(Charge).where(Charge.application_id == application)
        return list(session.scalars(mine.order_by(Charge.id)))


def steps(account: int) -> list[str]:
    """The steps of applications that someone was told of, in order."""
    mine = Notification.account_id == account, Notification.kind == "application_moved"
    with transaction() as session:
        found = session.scalars(select(Notification).where(*mine).order_by(Notification.id))
        return [each.data["step"] for each in found]


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


def audit_actions() -> list[str]:
    """What the audit trail has noted, in order."""
    return [each.action for each in entries()]


def has_seat(student: Student, section: Section) -> bool:
    """Whether the ledger gives the student a seat."""
    registrations = backend().ledger.registrations(section.term_id, student.id)
    return any(each.section == section.id for each in registrations.enrolled)
