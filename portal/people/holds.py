"""Setting and lifting holds, each in the audit trail; what is done twice is done once."""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from portal.core.db import transaction
from portal.people.models import AuditEntry, Hold, Student

Tell = Callable[[Session, Hold, AuditEntry], None]  # has the student told, in the transaction


class NoSuchHold(LookupError):  # noqa: N818  a fact, not a mistake
    """The student has no such hold, or is none."""


@dataclass(frozen=True)
class NewHold:
    """A hold as it is to be: why students read it, who lifts it, and from when to when it stands.

    No beginning is at once, no end until it is lifted.
    """

    kind: str
    reason: str
    office: str
    starts_at: datetime | None = None
    ends_at: datetime | None = None


def place(student: int, wish: NewHold, *, by: int, why: str, tell: Tell) -> bool:
    """Set the hold; False where the student has the very same one already. Raises NoSuchHold."""
    with transaction() as session:
        _student(session, student)
        same = (getattr(Hold, name) == value for name, value in asdict(wish).items())
        found = select(Hold.id).where(Hold.student_id == student, Hold.lifted_at.is_(None), *same)
        if session.scalar(found):
            return False
        hold = Hold(student_id=student, **asdict(wish))
        session.add(hold)
        session.flush()
        entry = _entry("hold.place", hold, None, by, why)
        session.add(entry)
        tell(session, hold, entry)
    return True


def lift(student: int, hold_id: int, *, by: int, why: str, tell: Tell) -> bool:
    """Lift the hold; False where it has been lifted already. Raises NoSuchHold."""
    with transaction() as session:
        _student(session, student)
        hold = session.scalar(select(Hold).where(Hold.id == hold_id, Hold.student_id == student))
        if hold is None:
            raise NoSuchHold(hold_id)
        if hold.lifted_at:
            return False
        before = _facts(hold)
        hold.lifted_at = session.scalar(select(func.now()))
        entry = _entry("hold.lift", hold, before, by, why)
        session.add(entry)
        tell(session, hold, entry)
    return True


def _student(session: Session, student: int) -> None:
    """One at a time for each student, so that two who do the same see each other."""
    known = select(Student.id).where(Student.id == student, Student.deleted_at.is_(None))
    if session.scalar(known.with_for_update()) is None:
        raise NoSuchHold(student)


def _entry(action: str, hold: Hold, before: dict[str, Any] | None, by: int, why: str) -> AuditEntry:
    return AuditEntry(
        account_id=by,
        action=action,
        subject=f"student:{hold.student_id} hold:{hold.id}",
        before=before,
        after=_facts(hold),
        reason=why,
    )


def _facts(hold: Hold) -> dict[str, Any]:
    dates = {name: getattr(hold, name) for name in ("starts_at", "ends_at", "lifted_at")}
    told = {name: each.isoformat() for name, each in dates.items() if each}
    return {"kind": hold.kind, "reason": hold.reason, "office": hold.office, **told}
