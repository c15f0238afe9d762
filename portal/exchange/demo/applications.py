"""Applications of the demo, in every state but `acting`, and a decider.

A worker ends that state at once, unless the ledger does not respond.

Refused documents, and calls and checks that failed for good, are shown too.
"""

import json
import time
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func, select, update

from portal.applications import documents, service
from portal.applications.approvals import ALWAYS_OVERRIDDEN
from portal.applications.documents import NewDocument
from portal.applications.kinds import KINDS
from portal.applications.models import (
    FAILED,
    NEW,
    PAID,
    REFUNDED,
    Application,
    ApplicationDocument,
    Charge,
)
from portal.applications.service import Decider
from portal.backend import backend
from portal.catalog.models import Course, Department, Instructor, Section
from portal.core.correlation import correlation, following
from portal.core.db import transaction
from portal.core.i18n import _k
from portal.exchange.demo import FILES, rows
from portal.people import instructors
from portal.people.models import Account, Student
from portal.recorder.events import IMPORT_PREFIX
from portal.registration import adjustments
from portal.registration.adjustments import Adjustment

DECIDER = "instructor29"  # of history, which the visiting students apply for
LOOK_AGAIN = 0.5  # seconds
TRIES = 4  # after which a check or a call has failed for good
CHARGES = {"paid": PAID, "refunded": REFUNDED, "failed": FAILED, "dead": NEW}


@dataclass(frozen=True)
class Desk:
    """Who decides: the admin, and the instructor who decides for the department of history."""

    admin: Account
    decider: int


def create(term: int) -> None:
    """Create them in the demo's term."""
    with transaction() as session:
        admin = session.scalars(select(Account).where(Account.username == "admin")).one()
    desk = Desk(admin, _decider(admin))
    answers = {row["kind"]: json.loads(row["answers"]) for row in rows("answers")}
    # As in the demo's import, no page waits for its seats to be recorded.
    with following(f"{IMPORT_PREFIX}demo"):
        for row in rows("applications"):
            _create(row, term, desk, answers[row["kind"]])


def _decider(admin: Account) -> int:
    """Let an instructor decide for the department; return the account."""
    found = (
        select(Instructor.id, Account.id, Department.code)
        .join(Account, Account.id == Instructor.account_id)
        .join(Department, Department.id == Instructor.department_id)
    )
    with transaction() as session:
        instructor, account, department = session.execute(
            found.where(Account.username == DECIDER)
        ).one()
    instructors.let_decide(
        instructor, account, department, by=admin.id, why="Chair of the department."
    )
    return int(account)


def _create(row: dict[str, str], term: int, desk: Desk, answers: dict[str, Any]) -> None:
    kind, account = KINDS[row["kind"]], _account(row, desk.admin)
    section = _section(row["class"], term)
    if kind.holds and section:
        _enroll(account, term, section, desk)
    made = service.start(kind, account, term, section)
    service.save(made, account, answers)
    if row["document"]:
        _add_document(made, account, row)
    _set_fee(made, kind.fee, row["fee"])
    if row["state"] != "draft":
        service.submit(made, account)
        _wait_for_checks(made)
    if row["state"] == "withdrawn":
        service.withdraw(made, account)
    elif row["state"] in {"forward", "approved", "more", "declined"}:
        _decide(made, row, desk)


def _enroll(account: int, term: int, section: int, desk: Desk) -> None:
    """Give the student the seat that the application is about."""
    with transaction() as session:
        student = session.scalars(select(Student.id).where(Student.account_id == account)).one()
    adjustments.adjust(
        Adjustment(term, student, add=section, overrides=ALWAYS_OVERRIDDEN),
        why="The student took part in a trial of the portal.",
        by=desk.admin.id,
        idempotency_key=f"demo-{section}-{student}",
        correlation=correlation(),
    )


def _add_document(made: int, account: int, row: dict[str, str]) -> None:
    """Add a document that the check accepts or refuses, or one whose check has failed for good."""
    file = "letter_with_script.pdf" if row["check"] == "refused" else "letter.pdf"
    sent = NewDocument(row["document"], "letter.pdf", (FILES / file).read_bytes())
    document = documents.add(made, account, sent)
    if row["check"] == "dead":
        error = _k("The virus scanner did not respond.")
        failed = {"dead_at": func.now(), "tries": TRIES, "error": error}
        with transaction() as session:
            session.execute(
                update(ApplicationDocument).where(ApplicationDocument.id == document).values(failed)
            )


def _wait_for_checks(made: int) -> None:
    """Wait until all documents are checked: a worker may do it, or a check may be repeated."""
    while True:
        documents.check_due()
        with transaction() as session:
            found = session.get_one(Application, made).documents
            if all(each.state != "waiting" for each in found):
                return
        time.sleep(LOOK_AGAIN)


def _decide(made: int, row: dict[str, str], desk: Desk) -> None:
    """Decide it, at the stage of the department by its decider."""
    kind = KINDS[row["kind"]]
    if row["state"] == "more":
        service.ask_more(made, _seen(made, row, desk.admin.id))
    elif row["state"] == "declined":
        service.decline(made, _seen(made, row, desk.admin.id))
    else:
        for stage in kind.stages if row["state"] == "approved" else kind.stages[:1]:
            theirs = stage == "department" and kind.whole_term
            by = desk.decider if theirs else desk.admin.id
            service.approve(made, _seen(made, row, by, limited=theirs))


def _seen(made: int, row: dict[str, str], by: int, *, limited: bool = False) -> Decider:
    """Return a decider who has just seen the application."""
    with transaction() as session:
        version = session.get_one(Application, made).version
    return Decider(by, row["note"], version, limited)


def _set_fee(made: int, fee: int, state: str) -> None:
    """Set the fee, as if payments had been on, and a payment that ended so.

    A dead one is the call that opens a payment: it has failed for good.
    """
    done = state in {"paid", "refunded"}
    with transaction() as session:
        session.get_one(Application, made).fee = fee
        if state:
            charge = Charge(
                application_id=made,
                amount=fee,
                currency=backend().settings.currency,
                provider="test",
                state=CHARGES[state],
                reference="" if state == "dead" else f"demo_{made}",
                paid_at=func.now() if done else None,
                refunded_at=func.now() if state == "refunded" else None,
                sent_at=None if state == "dead" else func.now(),
            )
            if state == "dead":
                charge.dead_at, charge.tries = func.now(), TRIES
                charge.error = _k("The payment provider did not respond.")
            session.add(charge)


def _account(row: dict[str, str], admin: Account) -> int:
    """Return the account of a row; one of a visiting student gets the demo's password."""
    with transaction() as session:
        named = select(Account).where(Account.username == row["username"])
        account = session.scalar(named)
        if account is None:
            account = Account(
                username=row["username"],
                email=row["username"],
                name=row["name"],
                password_hash=admin.password_hash,
            )
            session.add(account)
            session.flush()
        return account.id


def _section(name: str, term: int) -> int | None:
    if not name:
        return None
    code, _, number = name.rpartition("-")
    found = select(Section.id).join(Course, Course.id == Section.course_id)
    with transaction() as session:
        return session.scalars(
            found.where(Section.term_id == term, Course.code == code, Section.number == number)
        ).one()
