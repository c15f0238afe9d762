"""Place and lift holds; each change is in the audit trail."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.people.models import Hold, Student
from portal.people.signals import hold_changed


class NoSuchHold(LookupError):  # noqa: N818  an expected state, not an error
    """The student does not exist, or has no such hold."""


@dataclass(frozen=True)
class NewHold:
    """A hold to place: the reason that the student reads, and the office that lifts it.

    Without a start it applies at once, without an end until it is lifted.
    """

    kind: str
    reason: str
    office: str
    starts_at: datetime | None = None
    ends_at: datetime | None = None


def place(student: int, wanted: NewHold, *, by: int, why: str) -> bool:
    """Place the hold and return True; False if the student has the same hold already.

    Raises NoSuchHold.
    """
    with transaction() as session:
        _lock_student(session, student)
        same = (getattr(Hold, name) == value for name, value in asdict(wanted).items())
        found = select(Hold.id).where(Hold.student_id == student, Hold.lifted_at.is_(None), *same)
        if session.scalar(found):
            return False
        hold = Hold(student_id=student, **asdict(wanted))
        session.add(hold)
        session.flush()
        _record(session, hold, None, by, why)
    return True


def lift(student: int, hold_id: int, *, by: int, why: str) -> bool:
    """Lift the hold and return True; False if it has been lifted already. Raises NoSuchHold."""
    with transaction() as session:
        _lock_student(session, student)
        hold = session.scalar(select(Hold).where(Hold.id == hold_id, Hold.student_id == student))
        if hold is None:
            raise NoSuchHold(hold_id)
        if hold.lifted_at:
            return False
        before = _audit_facts(hold)
        hold.lifted_at = session.scalar(select(func.now()))
        _record(session, hold, before, by, why)
    return True


def _lock_student(session: Session, student: int) -> None:
    """Lock the student, so that two equal requests see each other; raises NoSuchHold."""
    known = select(Student.id).where(Student.id == student, Student.deleted_at.is_(None))
    if session.scalar(known.with_for_update()) is None:
        raise NoSuchHold(student)


def _record(session: Session, hold: Hold, before: dict[str, Any] | None, by: int, why: str) -> None:
    entry = add_audit_entry(
        session,
        "hold.lift" if before else "hold.place",
        f"student:{hold.student_id} hold:{hold.id}",
        by=by,
        before=before,
        after=_audit_facts(hold),
        reason=why,
    )
    hold_changed.send(session, hold, entry)


def _audit_facts(hold: Hold) -> dict[str, Any]:
    dates = {name: getattr(hold, name) for name in ("starts_at", "ends_at", "lifted_at")}
    written = {name: each.isoformat() for name, each in dates.items() if each}
    return {"kind": hold.kind, "reason": hold.reason, "office": hold.office, **written}
