"""Start, submit, withdraw and decide applications, and carry out what was approved.

Each change of state is one transaction with the application locked.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date, datetime
from functools import partial
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from portal.applications.kind import Acted, Kind, Situation
from portal.applications.kinds import KINDS
from portal.applications.models import (
    ACTING,
    APPROVED,
    DECLINED,
    DRAFT,
    EDITABLE,
    MORE,
    REVIEW,
    UNDECIDED,
    WITHDRAWN,
    Application,
    ApplicationEntry,
)
from portal.backend import backend
from portal.catalog.models import Section
from portal.catalog.term_catalog import catalog_of
from portal.core.audit_trail import add_audit_entry
from portal.core.correlation import correlation, following
from portal.core.db import transaction
from portal.core.i18n import _l
from portal.core.moments import milliseconds
from portal.core.queue import NO_TERM
from portal.ledger.errors import LedgerUnavailable
from portal.notifications.creation import announce
from portal.notifications.kinds import APPLICATION_MOVED, APPLICATION_SENT
from portal.people import student_profile
from portal.people.models import Account, Student
from portal.recorder import read_with_fallback
from portal.recorder.promotion import retry_skipped
from portal.recorder.signals import DueJob

log = logging.getLogger(__name__)

UNDECIDED_WHERE = Application.state.in_(UNDECIDED)
REFUSED = {
    "too_late": _l("The last day for this kind of application has passed."),
    "many": _l("You have 20 applications that are not decided. Withdraw one first."),
    "not_complete": _l("A part of the form is not complete."),
    "changed": _l("The application has changed since you opened this page. Look at it again."),
    "decided": _l("This application has already been decided."),
    "same_person": _l("Somebody else must decide the second stage."),
    "unchecked": _l("A document is not checked yet. Wait, or decline the application."),
    "refused_document": _l("A document was refused. Remove it, or send another one."),
    "canceled": _l("The section has been canceled."),
    "gone": _l("The student’s record has been closed."),
    "has_seat": _l("The student has a seat in this section already."),
    "no_seat": _l("The student no longer has a seat in this section."),
    "permitted": _l("The student may pass these rules already."),
}


MOST_UNDECIDED = 20  # applications of a student: each may hold documents


class ApplicationRefused(Exception):  # noqa: N818  a fact, not a mistake
    """It can't be done: `code` is one of REFUSED."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


@dataclass(frozen=True)
class Decider:
    """Who decides, why, and the version of the application that the page had shown."""

    by: int
    note: str
    seen: int


# The student


def start(kind: Kind, student: int, section: int) -> int:
    """Return the id of a new draft, or of the unfinished application that there is already.

    Raises ApplicationRefused.
    """
    row = {"kind": kind.name, "student_id": student, "section_id": section}
    made = insert(Application).values(row).on_conflict_do_nothing().returning(Application.id)
    mine = UNDECIDED_WHERE, Application.student_id == student
    same = (getattr(Application, name) == value for name, value in row.items())
    with transaction() as session:
        if is_late(kind, session.get_one(Section, section).term_id):
            raise ApplicationRefused("too_late")
        # The lock lets no two starts of a student pass the limit together.
        session.execute(select(Student.id).where(Student.id == student).with_for_update())
        found = session.scalar(select(Application.id).where(UNDECIDED_WHERE, *same))
        if found is None:
            number = session.scalar(select(func.count(Application.id)).where(*mine)) or 0
            if number >= MOST_UNDECIDED:
                raise ApplicationRefused("many")
            found = session.scalar(made)
    return found or start(kind, student, section)  # another way of starting came first


def is_late(kind: Kind, term: int) -> bool:
    """Return whether the last day of a kind has passed in the term."""
    return _today() > kind.last_day(catalog_of(term).term)


def save(application: int, student: int, answers: dict[str, Any]) -> None:
    """Store the answers of a step; raise ApplicationRefused once it can't be changed."""
    with transaction() as session:
        found = locked(session, application, student)
        if found.state not in EDITABLE:
            raise ApplicationRefused("changed")
        found.answers = {**found.answers, **answers}
        found.version += 1


def submit(application: int, student: int) -> None:
    """Send an application; do nothing if it was sent already. Raises ApplicationRefused."""
    with transaction() as session:
        found = locked(session, application, student)
        if found.state not in EDITABLE:
            return
        kind = KINDS[found.kind]
        if not all(step.is_complete(found.answers) for step in kind.steps):
            raise ApplicationRefused("not_complete")
        if any(each.refused for each in found.documents):
            raise ApplicationRefused("refused_document")
        if found.state == DRAFT and is_late(kind, found.section.term_id):
            raise ApplicationRefused("too_late")
        found.stage = 0
        found.submitted_at = session.scalar(func.now())
        entry = _move(session, found, REVIEW, "submit", found.student.account_id)
        about, admins = _about(found), Account.is_admin.is_(True)
        announce(session, APPLICATION_SENT, found.section, admins, entry.id, **about)


def withdraw(application: int, student: int) -> None:
    """Withdraw an application that is not decided; raise ApplicationRefused."""
    with transaction() as session:
        found = locked(session, application, student)
        if found.state == WITHDRAWN:
            return
        if found.state not in {*EDITABLE, REVIEW}:
            raise ApplicationRefused("decided")
        _move(session, found, WITHDRAWN, "withdraw", found.student.account_id)


# The deciders


def ask_more(application: int, decider: Decider) -> None:
    """Return it to the student; the note names the missing information."""
    with transaction() as session:
        found = _in_review(session, application, decider)
        _announce(session, found, _move(session, found, MORE, "more", decider.by, decider.note))


def return_for_document(session: Session, application: Application, name: str) -> None:
    """Send an application in review back to the student: the checks refused a document."""
    entry = _move(session, application, MORE, "more", None, document=name)
    _announce(session, application, entry)


def decline(application: int, decider: Decider) -> None:
    """Decline it, with a reason for the student."""
    with transaction() as session:
        found = _in_review(session, application, decider)
        found.decided_at = session.scalar(func.now())
        entry = _move(session, found, DECLINED, "decline", decider.by, decider.note)
        _announce(session, found, entry)


def approve(application: int, decider: Decider, overrides: Sequence[str] = ()) -> Application:
    """Approve a stage; the last one is carried out at once, or by a worker if that fails.

    `overrides` are codes of the ledger's reasons that no longer refuse. Returns the application as
    it is then. Raises ApplicationRefused.
    """
    with transaction() as session:
        found = _in_review(session, application, decider)
        if code := pointless(found):
            raise ApplicationRefused(code)
        if any(each.state in {"waiting", "dead"} for each in found.documents):
            raise ApplicationRefused("unchecked")
        earlier = {each.account_id for each in found.entries if _counts(found, each)}
        if decider.by in earlier:
            raise ApplicationRefused("same_person")
        found.stage += 1
        if found.stage < len(KINDS[found.kind].stages):
            _move(session, found, REVIEW, "forward", decider.by, decider.note)
        else:
            entry = _move(session, found, ACTING, "approve", decider.by, decider.note)
            found.approval = {
                "entry": entry.id,
                "by": decider.by,
                "note": decider.note,
                "overrides": list(overrides),
                "correlation": correlation(),
            }
    if found.state == ACTING:
        act(application)
    with transaction() as session:
        return session.get_one(Application, application)


def pointless(application: Application) -> str:
    """Return the code of why an approval would change nothing, "" if it would."""
    section = application.section
    if section.deleted_at or section.status == "CANCELED":
        return "canceled"
    try:
        who = student_profile.profile(application.student_id)
    except LookupError:
        return "gone"
    read = partial(read_with_fallback.registrations, section.term_id, application.student_id)
    registrations = read_with_fallback.without_marking(read)
    return KINDS[application.kind].approval.pointless(Situation(application, who, registrations))


# What was approved


def act(application: int) -> None:
    """Carry out an approval. If the ledger is down, a worker does it later."""
    with transaction() as session:
        found = session.get(Application, application, with_for_update=True)
        if found is None or found.state != ACTING or not found.approval:
            return
        with following(found.approval["correlation"]):
            try:
                acted = KINDS[found.kind].approval.act(found)
            except LedgerUnavailable:
                log.warning("Application %s waits for the ledger.", application)
                return
            _settle(session, found, acted)
    if found.state == APPROVED:
        retry_skipped(found.student_id)


def act_all() -> None:
    """Carry out every approval that was not; for workers."""
    with transaction() as session:
        waiting = session.scalars(
            select(Application.id).where(Application.state == ACTING).order_by(Application.id)
        ).all()
    for application in waiting:
        act(application)


def due_jobs(_terms: Sequence[int]) -> Iterable[DueJob]:
    """Return the job that carries out approvals, if one was left."""
    oldest = select(func.min(ApplicationEntry.at)).where(
        ApplicationEntry.application_id == Application.id, ApplicationEntry.action == "approve"
    )
    with transaction() as session:
        since = session.scalar(
            select(func.min(oldest.scalar_subquery())).where(Application.state == ACTING)
        )
    return [DueJob(NO_TERM, "act", milliseconds(since))] if since else []


def _settle(session: Session, application: Application, acted: Acted) -> None:
    """Store the outcome of an act: carried out, or back to the queue with the reasons."""
    if acted.reasons:
        reasons = [{"code": each.code, "facts": each.facts} for each in acted.reasons]
        application.stage -= 1
        _move(session, application, REVIEW, "refused", None, reasons=reasons)
        application.approval = None
        return
    application.event = acted.event
    application.decided_at = session.scalar(func.now())
    note = (application.approval or {})["note"]
    _announce(session, application, _move(session, application, APPROVED, "done", None, note))


# Parts of each change


def _today() -> date:
    return datetime.now(backend().settings.zone).date()


def locked(session: Session, application: int, student: int) -> Application:
    """Return the student's application, locked; raise LookupError if it is another's."""
    found = session.get(Application, application, with_for_update=True)
    if found is None or found.student_id != student:
        raise LookupError(f"application {application}")
    return found


def _in_review(session: Session, application: int, decider: Decider) -> Application:
    """Return the application, locked, if it is still as the decider saw it."""
    found = session.get_one(Application, application, with_for_update=True)
    if found.state != REVIEW:
        raise ApplicationRefused("decided" if found.decided_at else "changed")
    if found.version != decider.seen:
        raise ApplicationRefused("changed")
    return found


def _counts(application: Application, entry: ApplicationEntry) -> bool:
    """Return whether the entry approved an earlier stage of the current submission."""
    since = application.submitted_at
    return entry.action == "forward" and bool(since and entry.at >= since)


def _move(  # noqa: PLR0913, PLR0917  the columns of an entry
    session: Session,
    application: Application,
    state: str,
    action: str,
    by: int | None,
    note: str = "",
    **data: Any,
) -> ApplicationEntry:
    """Set the state, with an entry in the history and in the audit trail."""
    before = {"state": application.state}
    application.state = state
    application.version += 1
    entry = ApplicationEntry(
        application_id=application.id, account_id=by, action=action, note=note, data=data
    )
    session.add(entry)
    subject = f"student:{application.student_id} section:{application.section_id}"
    add_audit_entry(
        session,
        f"application.{action}",
        f"application:{application.id} {subject}",
        by=by,
        before=before,
        after={"state": state},
        reason=note,
    )
    session.flush()
    return entry


def _about(application: Application) -> dict[str, Any]:
    return {"application": application.id, "state": application.state}


def _announce(session: Session, application: Application, entry: ApplicationEntry) -> None:
    """Notify the student of a decision."""
    about = _about(application) | {"note": entry.note}
    recipient = Account.id == application.student.account_id
    announce(session, APPLICATION_MOVED, application.section, recipient, entry.id, **about)
