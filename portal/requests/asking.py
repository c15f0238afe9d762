"""Making a request, and withdrawing it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import func
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from portal.catalog.models import Section
from portal.core.db import transaction
from portal.people.models import AuditEntry
from portal.requests.errors import RequestRefused
from portal.requests.models import Request
from portal.requests.stale import obstacle
from portal.requests.telling import tell_admins


@dataclass(frozen=True)
class Deed:
    """What is done about a request, by whom and why."""

    action: str
    by: int
    why: str = ""


def ask_seats(section_id: int, wanted: int, reason: str, by: int) -> int:
    """Ask for a section to have so many seats; gives the request's id, raises RequestRefused."""
    with transaction() as session:
        section = session.get_one(Section, section_id, with_for_update={"read": True})
        asked = {"kind": "seats", "capacity": section.capacity, "wanted": wanted}
        if wanted <= section.capacity:
            raise RequestRefused("enough")
        return _make(session, section_id, by, reason, waives=[], **asked)


def ask_override(
    section_id: int, student_id: int, waives: Sequence[str], reason: str, by: int
) -> int:
    """Ask for a student to pass these rules of a section; raises RequestRefused."""
    with transaction() as session:
        asked = {"kind": "override", "student_id": student_id, "waives": sorted(set(waives))}
        return _make(session, section_id, by, reason, **asked)


def withdraw(request_id: int, by: int) -> None:
    """Take one's own request back while it is open; raises RequestRefused."""
    with transaction() as session:
        request = session.get_one(Request, request_id, with_for_update=True)
        if request.account_id != by:
            raise RequestRefused("not_yours")
        if request.state != "open":
            raise RequestRefused("decided")
        before = facts(request)
        request.state, request.decided_at = "withdrawn", session.scalar(func.now())
        note(session, request, Deed("withdraw", by), before)


def note(session: Session, request: Request, deed: Deed, before: dict[str, Any] | None) -> None:
    """Note in the audit trail what has been done about a request."""
    session.add(
        AuditEntry(
            account_id=deed.by,
            action=f"request.{deed.action}",
            subject=f"term:{request.section.term_id} section:{request.section_id}"
            f" request:{request.id}",
            before=before,
            after=facts(request),
            reason=deed.why,
        )
    )


def facts(request: Request) -> dict[str, Any]:
    """What is asked for, as the trail keeps it."""
    if request.kind == "seats":
        return {"capacity": request.capacity, "wanted": request.wanted, "state": request.state}
    return {"student": request.student_id, "waives": request.waives, "state": request.state}


def _make(session: Session, section_id: int, by: int, reason: str, **asked: Any) -> int:
    row = {"section_id": section_id, "account_id": by, "reason": reason, **asked}
    made = insert(Request).values(row).on_conflict_do_nothing().returning(Request.id)
    found = session.scalar(made)
    if found is None:
        raise RequestRefused("asked")
    request = session.get_one(Request, found)
    if why := obstacle(session, request):
        raise RequestRefused(why)
    note(session, request, Deed("make", by, reason), None)
    tell_admins(session, request)
    return request.id
