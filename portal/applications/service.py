"""Start, submit, withdraw and decide applications, and carry out what was approved.

Each change of state is one transaction with the application locked.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from sqlalchemy import Connection, func, select
from sqlalchemy.orm import Session

from portal.applications import fees
from portal.applications.history import locked, move, notify, tell_applicant
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
from portal.applications.stages import decided_by, deciders_of
from portal.catalog.local_time import today
from portal.catalog.models import Term
from portal.catalog.term_catalog import catalog_of
from portal.core.correlation import correlation, following
from portal.core.db import transaction
from portal.core.errors import Refused
from portal.core.i18n import _l
from portal.core.queue import attempt_each
from portal.ledger.errors import LedgerUnavailable
from portal.notifications.kinds import APPLICATION_AT_DEPARTMENT, APPLICATION_SENT, CONSENT_ASKED
from portal.people import visitors
from portal.people.models import Account, Student
from portal.people.signals import sessions_ended
from portal.recorder.promotion import retry_skipped
from portal.recorder.signals import DueJob, due_since

log = logging.getLogger(__name__)

UNDECIDED_WHERE = Application.state.in_(UNDECIDED)
REFUSED = {
    "no_term": _l("This term is no longer offered."),
    "too_late": _l("The last day to apply has passed. Ask the registrar’s office."),
    "many": _l("You have 20 applications that are not decided. Withdraw one first."),
    "often": _l("You have begun 40 applications in this term. Ask the registrar’s office."),
    "not_complete": _l("Part of the form is incomplete."),
    "changed": _l("The application has changed since you opened this page. Look at it again."),
    "decided": _l("This application has already been decided."),
    "own": _l("This is your own application. Someone else must decide it."),
    "same_person": _l("Someone else must decide the second stage."),
    "key_reused": _l("This idempotency key was used for another request"),
    "unpaid": _l("The fee is not paid yet. Wait, or decline the application."),
    "missing_document": _l("A required document is missing. Add it first."),
    "is_student": _l("This person already has a student record."),
    "unchecked": _l("A document is not checked yet. Wait, or decline the application."),
    "refused_document": _l("A document was refused. Remove it, then send another one."),
    "canceled": _l("The section has been canceled."),
    "gone": _l("The student’s record has been closed."),
    "has_seat": _l("The student already has a seat in this section."),
    "no_seat": _l("The student no longer has a seat in this section."),
    "permitted": _l("These rules already don’t apply to the student."),
    "met": _l("None of these rules prevents the student from registering for the section."),
}


MOST_UNDECIDED = 20  # applications of a person: each may hold documents
MOST_IN_TERM = 40  # applications of a person, also withdrawn ones: admins are notified of each


class ApplicationRefused(Refused):
    """It can't be done."""

    texts = REFUSED


@dataclass(frozen=True)
class Approved:
    """The state after an approval; `forwarded` is whether the next stage decides."""

    state: str
    forwarded: bool


class NotTheirs(LookupError):
    """A decider who is no admin may not, or no longer, decide the application."""


@dataclass(frozen=True)
class Decider:
    """Who decides, why, and the version of the application that the page had shown.

    `limited`: they may decide what waits for their department or their sections, nothing else.
    """

    by: int
    note: str
    seen: int
    limited: bool = False


# The student


def start(kind: Kind, account: int, term: int, section: int | None = None) -> int:
    """Return the id of a new draft, or of the unfinished application that there is already.

    Raises ApplicationRefused.
    """
    row = {"kind": kind.name, "account_id": account, "term_id": term, "section_id": section}
    same = (getattr(Application, name).is_not_distinct_from(row[name]) for name in row)
    with transaction() as session:
        # A term is hidden or archived only once no application is undecided: it locks the row.
        state = session.scalar(
            select(Term.state).where(Term.id == term).with_for_update(read=True, key_share=True)
        )
        if state != "published":
            raise ApplicationRefused("no_term")
        if is_late(kind, term):
            raise ApplicationRefused("too_late")
        # The lock lets no two starts of a person pass the limit together.
        session.execute(select(Account.id).where(Account.id == account).with_for_update())
        found = session.scalar(select(Application.id).where(UNDECIDED_WHERE, *same))
        if found is None:
            if code := _too_many(session, account, term):
                raise ApplicationRefused(code)
            record = select(Student.id).where(
                Student.account_id == account, Student.deleted_at.is_(None)
            )
            made = Application(
                **row, fee=fees.amount_of(kind.fee), student_id=session.scalar(record)
            )
            session.add(made)
            session.flush()
            found = made.id
    return found


def _too_many(session: Session, account: int, term: int) -> str:
    """Return the code of why a person can't begin another application; blank if they can."""
    number = func.count(Application.id)
    found = select(
        number.filter(UNDECIDED_WHERE), number.filter(Application.term_id == term)
    ).where(Application.account_id == account)
    undecided, in_term = session.execute(found).one()
    if undecided >= MOST_UNDECIDED:
        return "many"
    return "often" if in_term >= MOST_IN_TERM else ""


def is_late(kind: Kind, term: int) -> bool:
    """Return whether the last day of a kind has passed in the term."""
    return today() > last_day(kind, term)


def last_day(kind: Kind, term: int) -> date:
    """Return the last day on which an application of a kind can be sent in the term."""
    return kind.last_day(catalog_of(term).term)


def save(application: int, account: int, answers: dict[str, Any]) -> None:
    """Store the answers of a step; raise ApplicationRefused once it can't be changed."""
    with transaction() as session:
        found = locked(session, application, account)
        if found.state not in EDITABLE:
            raise ApplicationRefused("changed")
        found.answers = {**found.answers, **answers}
        found.note_change()


def submit(application: int, account: int, key: str = "") -> bool:
    """Send an application; return whether it was sent already. Raises ApplicationRefused.

    An idempotency key sends one application, and the same one when it is used again.
    """
    with transaction() as session:
        found = locked(session, application, account)
        if key and (used := _sent_under(session, account, key)):
            if used != application:
                raise ApplicationRefused("key_reused")
            return True
        if found.state not in EDITABLE:
            return True
        if code := _unfinished(found):
            raise ApplicationRefused(code)
        named = KINDS[found.kind].courses(found.answers, found.term_id)
        found.stage, found.course_ids = 0, sorted(named)
        found.submitted_at = session.scalar(func.now())
        entry = move(session, found, REVIEW, "submit", account, key=key)
        _tell_deciders(session, found, entry)
        in_order = bool(found.documents) and found.checked
        tell_applicant(session, found, entry, "sent", documents_in_order=in_order)
    return False


def _tell_deciders(session: Session, application: Application, sent: ApplicationEntry) -> None:
    """Notify who may decide it; admins of what waits for an instructor only if there is none."""
    deciders = deciders_of(application.id)
    if KINDS[application.kind].stages[0] == "instructor":
        notify(session, CONSENT_ASKED, application, deciders, sent.id)
        if session.scalar(select(Account.id).where(deciders).limit(1)) is not None:
            return
    else:
        others = deciders & Account.is_admin.is_(False)
        notify(session, APPLICATION_AT_DEPARTMENT, application, others, sent.id)
    notify(session, APPLICATION_SENT, application, Account.is_admin.is_(True), sent.id)


def _sent_under(session: Session, account: int, key: str) -> int | None:
    """Return the application that the person sent under an idempotency key."""
    # The lock lets no two requests of a person use a key at the same time.
    session.execute(select(Account.id).where(Account.id == account).with_for_update())
    sent = (
        select(ApplicationEntry.application_id)
        .join(Application, Application.id == ApplicationEntry.application_id)
        .where(Application.account_id == account, ApplicationEntry.action == "submit")
        .where(ApplicationEntry.data["key"].astext == key)
    )
    return session.scalar(sent.limit(1))


def _unfinished(application: Application) -> str:
    """Return the code of why a draft can't be sent yet; blank if it can."""
    kind, term = KINDS[application.kind], application.term_id
    if not all(step.is_complete(application.answers, term) for step in kind.steps):
        return "not_complete"
    if any(each.refused for each in application.documents):
        return "refused_document"
    if kind.required - {each.part for each in application.documents}:
        return "missing_document"
    if application.state == DRAFT and is_late(kind, term):
        return "too_late"
    return ""


def withdraw(application: int, account: int) -> None:
    """Withdraw an application that is not decided; raise ApplicationRefused."""
    with transaction() as session:
        fees.lock_charges(session, application)
        found = locked(session, application, account)
        if found.state == WITHDRAWN:
            return
        if found.state not in {*EDITABLE, REVIEW}:
            raise ApplicationRefused("decided")
        _withdraw(session, found, account)


def withdraw_unsent(session: Session, application: Application) -> None:
    """Withdraw a draft that its person left; the caller has locked it and its charges."""
    entry = _withdraw(session, application, None)
    tell_applicant(session, application, entry, WITHDRAWN)


def _withdraw(session: Session, application: Application, by: int | None) -> ApplicationEntry:
    fees.refund_after(session, application)
    return move(session, application, WITHDRAWN, "withdraw", by)


# The deciders


def ask_more(application: int, decider: Decider) -> None:
    """Return it to the student; the note names the missing information."""
    with transaction() as session:
        found = _in_review(session, application, decider)
        entry = move(session, found, MORE, "more", decider.by, decider.note)
        tell_applicant(session, found, entry, MORE)


def return_for_document(session: Session, application: Application, name: str) -> None:
    """Send an application in review back to the student: the checks refused a document."""
    entry = move(session, application, MORE, "more", None)
    tell_applicant(session, application, entry, MORE, document=name)


def decline(application: int, decider: Decider) -> None:
    """Decline it, with a reason for the student."""
    with transaction() as session:
        found = _in_review(session, application, decider)
        found.decided_at = session.scalar(func.now())
        entry = move(session, found, DECLINED, "decline", decider.by, decider.note)
        tell_applicant(session, found, entry, DECLINED)


def approve(
    application: int,
    decider: Decider,
    overrides: Sequence[str] = (),
    waives: Sequence[str] | None = None,
) -> Approved:
    """Approve a stage; the last one is carried out at once, or by a worker if that fails.

    `overrides` are codes of the ledger's reasons that no longer refuse; `waives` are the rules of
    the application that are approved, None = all. Raises ApplicationRefused.
    """
    with transaction() as session:
        found = _in_review(session, application, decider)
        if code := pointless(found):
            raise ApplicationRefused(code)
        if any(each.state in {"waiting", "dead"} for each in found.documents):
            raise ApplicationRefused("unchecked")
        if not found.paid:
            raise ApplicationRefused("unpaid")
        kind = KINDS[found.kind]
        earlier = {each.account_id for each in found.entries if _counts(found, each)}
        if decider.by in earlier and not (kind.one_decider and only_admin(session)):
            raise ApplicationRefused("same_person")
        found.stage += 1
        if found.stage < len(kind.stages):
            entry = move(session, found, REVIEW, "forward", decider.by, decider.note)
            tell_applicant(session, found, entry, "forward", note="")
        else:
            part = _part(kind.approval.parts(found), waives)
            entry = move(session, found, ACTING, "approve", decider.by, decider.note, **part)
            found.approval = {
                "entry": entry.id,
                "by": decider.by,
                "note": decider.note,
                "overrides": list(overrides),
                "correlation": correlation(),
                **part,
            }
            if part and (code := pointless(found)):
                raise ApplicationRefused(code)
    if found.state == REVIEW:
        return Approved(REVIEW, forwarded=True)
    act(application)
    with transaction() as session:
        return Approved(session.get_one(Application, application).state, forwarded=False)


def only_admin(session: Session) -> bool:
    """Return whether the portal has no second admin, who could decide another stage."""
    admins = Account.is_admin.is_(True), Account.deleted_at.is_(None)
    return session.scalar(select(func.count(Account.id)).where(*admins)) == 1


def pointless(application: Application) -> str:
    """Return the code of why an approval would change nothing, "" if it would."""
    section = application.section
    if section and (section.deleted_at or section.status == "CANCELED"):
        return "canceled"
    if application.account.deleted_at:
        return "gone"
    try:
        return KINDS[application.kind].approval.pointless(Situation(application))
    except LookupError:
        return "gone"


# What was approved


def act(application: int) -> None:
    """Carry out an approval. If the ledger is down, a worker does it later."""
    with transaction() as session:
        found = session.get(Application, application, with_for_update=True)
        if found is None or found.state != ACTING or not found.approval:
            return
        was_student = found.student_id is not None
        with following(found.approval["correlation"]):
            try:
                acted = KINDS[found.kind].approval.act(session, found)
            except LedgerUnavailable:
                log.warning("Application %s waits for the ledger.", application)
                return
            _settle(session, found, acted)
    if found.state == APPROVED and found.student_id:
        visitors.forget(found.account_id)
        if not was_student:
            sessions_ended.send(found.account_id)  # each process may know the account without it
        retry_skipped(found.student_id)


def act_all() -> None:
    """Carry out every approval that was not, for workers; one that fails leaves the others.

    Raises RuntimeError with the applications that failed, and the errors of ENDS_JOB.
    """
    with transaction() as session:
        waiting = session.scalars(
            select(Application.id).where(Application.state == ACTING).order_by(Application.id)
        ).all()
    failed = attempt_each(waiting, act, "Application %s could not be carried out.")
    if failed:
        raise RuntimeError(f"These applications could not be carried out: {failed}")


APPROVED_AT = select(func.min(ApplicationEntry.at)).where(
    ApplicationEntry.application_id == Application.id, ApplicationEntry.action == "approve"
)
LEFT_SINCE = select(func.min(APPROVED_AT.scalar_subquery())).where(Application.state == ACTING)


def due_jobs(look: Connection, _terms: Sequence[int]) -> Iterable[DueJob]:
    """Return the job that carries out approvals, if one was left."""
    return due_since("act", look.scalar(LEFT_SINCE))


def _settle(session: Session, application: Application, acted: Acted) -> None:
    """Store the outcome of an act: carried out, or back to the queue with the reasons."""
    if acted.reasons:
        reasons = [{"code": each.code, "facts": each.facts} for each in acted.reasons]
        application.stage -= 1
        move(session, application, REVIEW, "refused", None, reasons=reasons)
        application.approval = None
        return
    application.event = acted.event
    application.decided_at = session.scalar(func.now())
    approval = application.approval or {}
    part = {name: approval[name] for name in ("waives",) if name in approval}
    entry = move(session, application, APPROVED, "done", None, approval["note"], **part)
    tell_applicant(session, application, entry, APPROVED, **part)


# Parts of each change


def _part(rules: Sequence[str], given: Sequence[str] | None) -> dict[str, list[str]]:
    """Return the rules that an approval in part gives, to be noted; nothing for a whole one.

    Raises ApplicationRefused if none of the rules is given.
    """
    if given is None or not rules:
        return {}
    some = [each for each in rules if each in given]
    if not some:
        raise ApplicationRefused("changed")
    return {"waives": some} if len(some) < len(rules) else {}


def _in_review(session: Session, application: int, decider: Decider) -> Application:
    """Return the application, locked, if it is another's and still as the decider saw it.

    Raises ApplicationRefused or NotTheirs.
    """
    found = session.get_one(Application, application, with_for_update=True)
    if decider.limited:
        theirs = select(Application.id).where(Application.id == application)
        if session.scalar(theirs.where(decided_by(decider.by))) is None:
            raise NotTheirs(f"application {application}")
    if found.account_id == decider.by:
        raise ApplicationRefused("own")
    if found.state != REVIEW:
        raise ApplicationRefused("decided" if found.decided_at else "changed")
    if found.version != decider.seen:
        raise ApplicationRefused("changed")
    return found


def _counts(application: Application, entry: ApplicationEntry) -> bool:
    """Return whether the entry approved an earlier stage of the current submission."""
    since = application.submitted_at
    return entry.action == "forward" and bool(since and entry.at >= since)
