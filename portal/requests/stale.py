"""What has made an open request pointless since it was made."""

from collections.abc import Iterable

from sqlalchemy import func, or_, select
from sqlalchemy.orm import Session

from portal.people.models import Permission
from portal.requests.models import Request


def obstacle(session: Session, request: Request) -> str:
    """The code of what forbids to approve it, blank where nothing does."""
    section = request.section
    if section.deleted_at or section.status == "CANCELED":
        return "canceled"
    if request.kind == "seats":
        return "enough" if section.capacity >= (request.wanted or 0) else ""
    if request.student is None or request.student.deleted_at:
        return "gone"
    given = _permitted(session, request.student_id or 0, section.id)
    return "permitted" if set(request.waives) <= set(given) else ""


def _permitted(session: Session, student: int, section: int) -> Iterable[str]:
    good = or_(Permission.expires_at.is_(None), Permission.expires_at > func.now())
    return session.scalars(
        select(func.unnest(Permission.waives)).where(
            Permission.student_id == student,
            Permission.section_id == section,
            Permission.revoked_at.is_(None),
            good,
        )
    )
