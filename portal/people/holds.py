"""Place and lift holds; each change is in the audit trail."""

from dataclasses import asdict, dataclass
from datetime import datetime
from typing import Any, ClassVar

from sqlalchemy import ColumnElement, func, select
from sqlalchemy.orm import Session

from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.core.errors import Refused
from portal.core.i18n import _l
from portal.people.models import Account, Hold, Student
from portal.people.signals import hold_changed
from portal.people.student_profile import is_advised_by, is_adviser


class HoldRefused(Refused):
    """There is no such student, or no such hold, or not one that the adviser may change."""

    texts: ClassVar = {
        "gone": _l("You no longer advise this student, or the registrar’s office lifted the hold."),
        "deleted": _l("The student’s record is closed."),
    }


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
    adviser_lifts: bool = False


def place(student: int, wanted: NewHold, *, by: int, why: str) -> bool:
    """Place the hold and return True; False if the student has the same hold already.

    Raises HoldRefused.
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
        _record(session, hold, ("hold.place", None), by, why)
    return True


def lift(student: int, hold_id: int, *, by: int, why: str, as_adviser: bool = False) -> bool:
    """Lift the hold and return True; False if it has been lifted already. Raises HoldRefused.

    With `as_adviser` it is a clearance: `by` must advise the student, and the hold wait for it.
    """
    with transaction() as session:
        hold = _locked(session, student, hold_id, by if as_adviser else None)
        if hold.lifted_at:
            return False
        before = _audit_facts(hold)
        hold.lifted_at = session.scalar(select(func.now()))
        hold.cleared_by_id = by if as_adviser else None
        _record(session, hold, ("hold.lift", before), by, why)
    return True


def take_back(student: int, hold_id: int, *, by: int, why: str, as_adviser: bool = False) -> bool:
    """Take back the clearance that lifted the hold; return False if the hold is in force.

    Raises HoldRefused, also if it never waited for a clearance. With `as_adviser`, `by` must advise
    the student, and an adviser must have given it: what the registrar's office lifted stays so.
    """
    with transaction() as session:
        hold = _locked(session, student, hold_id, by if as_adviser else None)
        if not hold.adviser_lifts or (as_adviser and hold.lifted_at and not hold.cleared_by_id):
            raise HoldRefused("gone")
        if not hold.lifted_at:
            return False
        before = _audit_facts(hold)
        hold.lifted_at = hold.cleared_by_id = None
        _record(session, hold, ("hold.take_back", before), by, why)
    return True


def _locked(session: Session, student: int, hold_id: int, adviser: int | None) -> Hold:
    """Return the hold, with the student locked; one that the adviser may lift if one is given."""
    _lock_student(session, student)
    which: list[ColumnElement[bool]] = [Hold.id == hold_id, Hold.student_id == student]
    if adviser is not None:
        # Locked, so that neither the role nor the assignment ends before the commit.
        advises = select(Account.id).join(Student, is_advised_by(Account.id))
        advises = advises.where(Student.id == student, Account.id == adviser, is_adviser(Account))
        if session.scalar(advises.with_for_update(read=True, of=Account)) is None:
            raise HoldRefused("gone")
        which.append(Hold.adviser_lifts.is_(True))
    hold = session.scalar(select(Hold).where(*which))
    if hold is None:
        raise HoldRefused("gone")
    return hold


def _lock_student(session: Session, student: int) -> None:
    """Lock the student, so that two equal requests see each other; raises HoldRefused."""
    known = select(Student.id).where(Student.id == student, Student.deleted_at.is_(None))
    if session.scalar(known.with_for_update()) is None:
        raise HoldRefused("deleted")


def _record(
    session: Session, hold: Hold, act: tuple[str, dict[str, Any] | None], by: int, why: str
) -> None:
    action, before = act
    entry = add_audit_entry(
        session,
        action,
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
    clearance = {"adviser_lifts": True} if hold.adviser_lifts else {}
    texts = {"kind": hold.kind, "reason": hold.reason, "office": hold.office}
    return {**texts, **clearance, **written}
