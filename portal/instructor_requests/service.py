"""Making, withdrawing and deciding a request of an instructor."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from sqlalchemy import ColumnElement, func, select, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.instructor_requests import listing
from portal.instructor_requests.listing import approval_obstacle
from portal.instructor_requests.models import InstructorRequest
from portal.ledger.errors import LedgerUnavailable
from portal.notifications.creation import announce
from portal.notifications.kinds import REQUEST_DECIDED, REQUEST_MADE, Kind
from portal.people import permissions
from portal.people.models import Account, add_audit_entry
from portal.recorder.promotion import retry_skipped
from portal.windows.warmup import send_sections


class RequestRefused(Exception):  # noqa: N818  a fact, not a mistake
    """A request can't be made or decided: `code` is one of REFUSED."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.code = code


def ask_seats(section_id: int, wanted: int, reason: str, by: int) -> int:
    """Ask for a section to have so many seats; return the id. Raises RequestRefused."""
    with transaction() as session:
        section = session.get_one(Section, section_id, with_for_update={"read": True})
        asked = {"kind": "seats", "capacity": section.capacity, "wanted": wanted}
        if wanted <= section.capacity:
            raise RequestRefused("enough")
        return _make(session, section_id, by, reason, waives=[], **asked)


def ask_override(
    section_id: int, student_id: int, waives: Sequence[str], reason: str, by: int
) -> int:
    """Ask for a student to pass these rules of a section; return the id. Raises RequestRefused."""
    with transaction() as session:
        asked = {"kind": "override", "student_id": student_id, "waives": sorted(set(waives))}
        return _make(session, section_id, by, reason, **asked)


def withdraw(request_id: int, by: int) -> None:
    """Withdraw an open request of one's own. Raises RequestRefused."""
    with transaction() as session:
        request = session.get_one(InstructorRequest, request_id, with_for_update=True)
        if request.account_id != by:
            raise RequestRefused("not_yours")
        if request.state != "open":
            raise RequestRefused("decided")
        before = _facts(request)
        request.state, request.decided_at = "withdrawn", session.scalar(func.now())
        _note(session, request, "withdraw", by, before)


def _note(  # noqa: PLR0913, PLR0917
    session: Session,
    request: InstructorRequest,
    action: str,
    by: int,
    before: dict[str, Any] | None,
    why: str = "",
) -> None:
    """Add an entry to the audit trail."""
    add_audit_entry(
        session,
        f"request.{action}",
        f"term:{request.section.term_id} section:{request.section_id} request:{request.id}",
        by=by,
        before=before,
        after=_facts(request),
        reason=why,
    )


def _facts(request: InstructorRequest) -> dict[str, Any]:
    """Return what is asked for, as the audit trail keeps it."""
    if request.kind == "seats":
        return {"capacity": request.capacity, "wanted": request.wanted, "state": request.state}
    return {"student": request.student_id, "waives": request.waives, "state": request.state}


def _make(session: Session, section_id: int, by: int, reason: str, **asked: Any) -> int:
    row = {"section_id": section_id, "account_id": by, "reason": reason, **asked}
    made = (
        insert(InstructorRequest)
        .values(row)
        .on_conflict_do_nothing()
        .returning(InstructorRequest.id)
    )
    found = session.scalar(made)
    if found is None:
        raise RequestRefused("asked")
    request = session.get_one(InstructorRequest, found)
    if why := approval_obstacle(session, request):
        raise RequestRefused(why)
    _note(session, request, "make", by, None, reason)
    who = request.account.name
    _announce(session, request, REQUEST_MADE, Account.is_admin.is_(True), who=who, reason=reason)
    return request.id


def approve(request_id: int, by: int, why: str) -> bool:
    """Do what is asked for. Raises RequestRefused if that makes no sense any more.

    Return False if the ledger is away: it gets the new seats once it is back.
    """
    promised = _promised(request_id)
    with transaction() as session:
        request = _open(session, request_id)
        section = _locked(session, request.section_id)
        if refused := approval_obstacle(session, request):
            raise RequestRefused(refused)
        before = _facts(request)
        _act(session, request, section, by)
        _decide(session, request, "approved", by, why, promised)
        _note(session, request, "approve", by, before, why)
    if request.kind == "seats":
        return send_sections(section.term_id, section.id)
    retry_skipped(request.student_id or 0)
    return True


def decline(request_id: int, by: int, why: str) -> None:
    """Decline a request, and say why. Raises RequestRefused if it is decided already."""
    with transaction() as session:
        request = _open(session, request_id)
        before = _facts(request)
        _decide(session, request, "declined", by, why, {})
        _note(session, request, "decline", by, before, why)


def _promised(request_id: int) -> dict[str, Any]:
    """Return what the waitlist gets by it, for the author; nothing if the ledger is away."""
    with suppress(LedgerUnavailable):
        if line := listing.one(request_id):
            return {"promise": asdict(line.promise)}
    return {}


def _open(session: Session, request_id: int) -> InstructorRequest:
    """Return the request, locked until the transaction ends."""
    request = session.get_one(InstructorRequest, request_id, with_for_update=True)
    if request.state != "open":
        raise RequestRefused("decided")
    return request


def _locked(session: Session, section_id: int) -> Section:
    """Return the section, locked; first its term, in the order of all who change both."""
    term_of = select(Section.term_id).where(Section.id == section_id).scalar_subquery()
    session.execute(select(Term.id).where(Term.id == term_of).with_for_update())
    found = select(Section).where(Section.id == section_id).with_for_update()
    return session.scalars(found.execution_options(populate_existing=True)).one()


def _act(session: Session, request: InstructorRequest, section: Section, by: int) -> None:
    if request.kind == "seats":
        _enlarge(session, request, section, by)
    else:
        wanted = permissions.NewPermission(
            request.student_id or 0, section.id, request.waives, request.reason
        )
        permissions.grant(session, wanted, by)


def _enlarge(session: Session, request: InstructorRequest, section: Section, by: int) -> None:
    """Store the new capacity of the section, of which the ledger is told afterwards."""
    before: dict[str, Any] = {"capacity": section.capacity}
    section.capacity = request.wanted or section.capacity
    section.version += 1
    bump = {"catalog_version": Term.catalog_version + 1}
    session.execute(update(Term).where(Term.id == section.term_id).values(bump))
    add_audit_entry(
        session,
        "section.capacity",
        f"term:{section.term_id} section:{section.id}",
        by=by,
        before=before,
        after={"capacity": section.capacity, "request": request.id},
        reason=request.reason,
    )


def _decide(  # noqa: PLR0913, PLR0917
    session: Session,
    request: InstructorRequest,
    state: str,
    by: int,
    why: str,
    about: dict[str, Any],
) -> None:
    request.state, request.decided_by, request.note = state, by, why
    request.decided_at = session.scalar(func.now())
    about = {"state": state, "note": why} | about
    _announce(session, request, REQUEST_DECIDED, Account.id == request.account_id, **about)


def _announce(
    session: Session,
    request: InstructorRequest,
    kind: Kind,
    whom: ColumnElement[bool],
    **about: Any,
) -> None:
    about |= {"request": request.id, "wanted": request.wanted}
    announce(session, kind, request.section, whom, request.id, **about)
