"""Approving a request, which then acts, and declining it: once, whoever else presses."""

from contextlib import suppress
from dataclasses import asdict
from typing import Any

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from portal.catalog.models import Section, Term
from portal.core.db import transaction
from portal.ledger.errors import LedgerUnavailable
from portal.people import permissions
from portal.people.models import AuditEntry
from portal.recorder.promotion import retry_skipped
from portal.requests import listing
from portal.requests.asking import Deed, facts, note
from portal.requests.errors import RequestRefused
from portal.requests.models import Request
from portal.requests.stale import obstacle
from portal.requests.telling import tell_author
from portal.windows.warmup import send_sections


def approve(request_id: int, by: int, why: str) -> bool:
    """Do what is asked for; raises RequestRefused where that makes no sense any more.

    False where the ledger could not be told of new seats: it will be once it is back.
    """
    promised = _promised(request_id)
    with transaction() as session:
        request = _open(session, request_id)
        section = _locked(session, request.section_id)
        if refused := obstacle(session, request):
            raise RequestRefused(refused)
        before = facts(request)
        _act(session, request, section, by)
        _decide(session, request, "approved", by, why, promised)
        note(session, request, Deed("approve", by, why), before)
    if request.kind == "seats":
        return send_sections(section.term_id, section.id)
    retry_skipped(request.student_id or 0)
    return True


def decline(request_id: int, by: int, why: str) -> None:
    """Say no, and why; raises RequestRefused where it is decided already."""
    with transaction() as session:
        request = _open(session, request_id)
        before = facts(request)
        _decide(session, request, "declined", by, why, {})
        note(session, request, Deed("decline", by, why), before)


def _promised(request_id: int) -> dict[str, Any]:
    """What those who wait get by it, for its author; nothing where the ledger can't be asked."""
    with suppress(LedgerUnavailable):
        if line := listing.one(request_id):
            return {"promise": asdict(line.promise)}
    return {}


def _open(session: Session, request_id: int) -> Request:
    """The request, ours alone until the transaction ends."""
    request = session.get_one(Request, request_id, with_for_update=True)
    if request.state != "open":
        raise RequestRefused("decided")
    return request


def _locked(session: Session, section_id: int) -> Section:
    """The section as it is now; the term before it, in the order of whoever changes both."""
    term_of = select(Section.term_id).where(Section.id == section_id).scalar_subquery()
    session.execute(select(Term.id).where(Term.id == term_of).with_for_update())
    found = select(Section).where(Section.id == section_id).with_for_update()
    return session.scalars(found.execution_options(populate_existing=True)).one()


def _act(session: Session, request: Request, section: Section, by: int) -> None:
    if request.kind == "seats":
        _enlarge(session, request, section, by)
    else:
        wanted = permissions.NewPermission(
            request.student_id or 0, section.id, request.waives, request.reason
        )
        permissions.grant(session, wanted, by)


def _enlarge(session: Session, request: Request, section: Section, by: int) -> None:
    """Give the section the seats in the catalogue, by which the ledger is told afterwards."""
    before: dict[str, Any] = {"capacity": section.capacity}
    section.capacity = request.wanted or section.capacity
    section.version += 1
    bump = {"catalog_version": Term.catalog_version + 1}
    session.execute(update(Term).where(Term.id == section.term_id).values(bump))
    session.add(
        AuditEntry(
            account_id=by,
            action="section.capacity",
            subject=f"term:{section.term_id} section:{section.id}",
            before=before,
            after={"capacity": section.capacity, "request": request.id},
            reason=request.reason,
        )
    )


def _decide(  # noqa: PLR0913, PLR0917
    session: Session, request: Request, state: str, by: int, why: str, about: dict[str, Any]
) -> None:
    request.state, request.decided_by, request.note = state, by, why
    request.decided_at = session.scalar(func.now())
    tell_author(session, request, about)
