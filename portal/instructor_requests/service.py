"""Making, withdrawing and deciding a request of an instructor."""

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from typing import Any

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from portal.catalog.models import Section, Term
from portal.catalog.sections import raise_catalog_version
from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.core.errors import Refused
from portal.instructor_requests import listing
from portal.instructor_requests.listing import approval_obstacle
from portal.instructor_requests.models import REFUSED, InstructorRequest
from portal.ledger.errors import LedgerUnavailable
from portal.notifications.creation import announce
from portal.notifications.kinds import REQUEST_DECIDED, REQUEST_MADE, Kind
from portal.people import permissions
from portal.people.models import Account
from portal.recorder.promotion import retry_skipped
from portal.windows.warmup import send_sections

Facts = dict[str, Any]
# By the state that they lead to, as the audit trail names them.
ACTIONS = {"withdrawn": "withdraw", "declined": "decline", "approved": "approve"}


class RequestRefused(Refused):
    """A request can't be made or decided."""

    texts = REFUSED


def request_seats(section_id: int, wanted: int, reason: str, by: int) -> int:
    """Ask for a section to have so many seats; return the id. Raises RequestRefused."""
    with transaction() as session:
        section = session.get_one(Section, section_id, with_for_update={"read": True})
        details = {"kind": "seats", "capacity": section.capacity, "wanted": wanted}
        if wanted <= section.capacity:
            raise RequestRefused("enough")
        return _make(session, section_id, by, reason, waives=[], **details)


def request_override(
    section_id: int, student_id: int, waives: Sequence[str], reason: str, by: int
) -> int:
    """Ask for a student to pass these rules of a section; return the id. Raises RequestRefused."""
    with transaction() as session:
        details = {"kind": "override", "student_id": student_id, "waives": sorted(set(waives))}
        return _make(session, section_id, by, reason, **details)


def withdraw(request_id: int, by: int) -> None:
    """Withdraw an open request of one's own. Raises RequestRefused."""
    with transaction() as session:
        request = session.get_one(InstructorRequest, request_id, with_for_update=True)
        if request.account_id != by:
            raise RequestRefused("not_yours")
        _store_outcome(session, request, "withdrawn", by)


def decline(request_id: int, by: int, why: str) -> None:
    """Decline a request, and say why. Raises RequestRefused if it is decided already."""
    with transaction() as session:
        request = session.get_one(InstructorRequest, request_id, with_for_update=True)
        _store_outcome(session, request, "declined", by, why)
        _announce_decision(session, request)


def approve(
    request_id: int, by: int, why: str, *, seats: int | None = None, waives: Sequence[str] = ()
) -> bool:
    """Carry out a request, whole or in part. Raise RequestRefused if it no longer makes sense.

    In part: the section has fewer `seats` from then on than were asked for, or only the rules
    `waives` no longer apply. Return False if the ledger is away: it gets the new seats once it is
    back.
    """
    about = {}
    with suppress(LedgerUnavailable):
        if view := listing.one(request_id):
            about["promise"] = asdict(view.outlook(seats))  # to the waitlist
    with transaction() as session:
        request = session.get_one(InstructorRequest, request_id, with_for_update=True)
        if request.state != "open":
            raise RequestRefused("decided")
        section = _locked(session, request.section_id)
        if refused := approval_obstacle(session, request):
            raise RequestRefused(refused)
        if request.kind == "seats":
            request.given_seats = _possible_seats(request, section, seats)
            _raise_capacity(session, request, section, by)
        else:
            request.given_waives = _possible_rules(request, waives)
            given = (request.student_id or 0, section.id, request.given_waives, request.reason)
            permissions.grant(session, permissions.NewPermission(*given), by)
        _store_outcome(session, request, "approved", by, why)
        _announce_decision(session, request, **about)
    if request.kind == "seats":
        return send_sections(section.term_id, section.id)
    retry_skipped(request.student_id or 0)
    return True


def _possible_seats(request: InstructorRequest, section: Section, seats: int | None) -> int:
    """Return the capacity that an approval gives. Raises RequestRefused."""
    wanted = request.wanted or section.capacity
    if seats is None:
        return wanted
    if seats <= section.capacity:
        raise RequestRefused("enough")
    if seats > wanted:
        raise RequestRefused("more")
    return seats


def _possible_rules(request: InstructorRequest, waives: Sequence[str]) -> list[str]:
    """Return the rules that an approval lifts. Raises RequestRefused."""
    if not set(waives) <= set(request.waives):
        raise RequestRefused("other_rules")
    return [code for code in request.waives if code in waives] or request.waives


def _make(session: Session, section_id: int, by: int, reason: str, **details: Any) -> int:
    row = {"section_id": section_id, "account_id": by, "reason": reason, **details}
    put = insert(InstructorRequest).values(row).on_conflict_do_nothing()
    found = session.scalar(put.returning(InstructorRequest.id))
    if found is None:
        raise RequestRefused("repeated")
    request = session.get_one(InstructorRequest, found)
    if why := approval_obstacle(session, request):
        raise RequestRefused(why)
    _audit(session, request, "make", by, reason)
    who = request.account.name
    _announce(session, request, REQUEST_MADE, Account.is_admin.is_(True), who=who, reason=reason)
    return request.id


def _store_outcome(
    session: Session, request: InstructorRequest, state: str, by: int, why: str = ""
) -> None:
    """Store the outcome of an open request. Raises RequestRefused if it has one already."""
    if request.state != "open":
        raise RequestRefused("decided")
    before = _facts(request)
    request.state, request.decided_at = state, session.scalar(func.now())
    if state != "withdrawn":
        request.decided_by, request.note = by, why
    _audit(session, request, ACTIONS[state], by, why, before)


def _audit(  # noqa: PLR0913, PLR0917
    session: Session,
    request: InstructorRequest,
    action: str,
    by: int,
    why: str,
    before: Facts | None = None,
) -> None:
    section = request.section
    subject = f"term:{section.term_id} section:{section.id} request:{request.id}"
    facts = {"before": before, "after": _facts(request)}
    add_audit_entry(session, f"request.{action}", subject, by=by, reason=why, **facts)


def _facts(request: InstructorRequest) -> Facts:
    """Return the request's details for the audit trail."""
    facts: Facts = {"capacity": request.capacity, "wanted": request.wanted}
    if request.kind == "override":
        facts = {"student": request.student_id, "waives": request.waives}
    given = {"given": request.given_seats or request.given_waives} if request.in_part else {}
    return {**facts, "state": request.state, **given}


def _locked(session: Session, section_id: int) -> Section:
    """Return the section, locked; first its term, in the order of all who change both."""
    term_of = select(Section.term_id).where(Section.id == section_id).scalar_subquery()
    session.execute(select(Term.id).where(Term.id == term_of).with_for_update())
    found = select(Section).where(Section.id == section_id).with_for_update()
    return session.scalars(found.execution_options(populate_existing=True)).one()


def _raise_capacity(
    session: Session, request: InstructorRequest, section: Section, by: int
) -> None:
    """Store the new capacity of the section. The ledger gets it after the transaction."""
    before = {"capacity": section.capacity}
    section.capacity = request.given_seats or section.capacity
    section.version += 1
    raise_catalog_version(session, section.term_id)
    add_audit_entry(
        session,
        "section.capacity",
        f"term:{section.term_id} section:{section.id}",
        by=by,
        before=before,
        after={"capacity": section.capacity, "request": request.id},
        reason=request.reason,
    )


def _announce_decision(session: Session, request: InstructorRequest, **about: Any) -> None:
    about |= {"state": request.state, "note": request.note}
    if request.in_part:
        about["given"] = request.given_seats or request.given_waives
    _announce(session, request, REQUEST_DECIDED, Account.id == request.account_id, **about)


def _announce(
    session: Session,
    request: InstructorRequest,
    kind: Kind,
    recipients: ColumnElement[bool],
    **about: Any,
) -> None:
    about |= {"request": request.id, "wanted": request.wanted}
    announce(session, kind, request.section, recipients, request.id, **about)
