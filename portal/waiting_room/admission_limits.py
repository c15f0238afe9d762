"""The two limits of a waiting room. Admins change them while it runs, and give a reason."""

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime

from sqlalchemy import false, or_, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.core.audit_trail import AuditEntry, add_audit_entry
from portal.core.db import transaction
from portal.people.models import Account
from portal.waiting_room import room
from portal.waiting_room.room import RoomState

ACTION = "room.limits"


@dataclass(frozen=True)
class AdmissionLimits:
    """Admissions per minute (0 pauses the queue), students at once; `off` lets everyone in."""

    per_minute: int
    at_once: int
    off: bool = False

    @property
    def counts(self) -> bool:
        """Return whether they admit by numbers: neither paused nor switched off."""
        return not self.off and self.per_minute > 0

    @property
    def paused(self) -> bool:
        """Return whether they admit no one."""
        return not self.off and self.per_minute == 0

    @property
    def mark(self) -> str:
        """Return the limits as a text for the hidden field of a form."""
        return f"{self.per_minute} {self.at_once} {self.off:d}"

    @classmethod
    def of(cls, mark: str) -> "AdmissionLimits":
        """Return the limits in a text of `mark`; raise ValueError for other texts."""
        per_minute, at_once, off = map(int, mark.split())
        return cls(per_minute, at_once, bool(off))


@dataclass(frozen=True)
class Pause:
    """When a queue was paused, and the name of the admin who paused it."""

    at: datetime
    by: str


@dataclass(frozen=True)
class EarlierLimits:
    """Limits that applied before, and who changed them, when and why."""

    limits: AdmissionLimits
    at: datetime
    by: str
    reason: str


def limits_of(state: RoomState) -> AdmissionLimits:
    return AdmissionLimits(state.per_minute, state.at_once, state.off)


def change(  # noqa: PLR0913  the room, its limits, what was seen, who and why
    term: int, window: int, limits: AdmissionLimits, seen: AdmissionLimits, *, by: int, reason: str
) -> None:
    """Set the limits of a room, and record who changed them and why.

    Raises LedgerUnavailable, ValueError for limits out of range, and LimitsChanged where another
    admin has changed them since they were `seen`.
    """
    if limits == limits_of(room.state(term, window)):
        return
    with transaction() as session:
        add_audit_entry(
            session,
            ACTION,
            _subject(term, window),
            by=by,
            before=asdict(seen),
            after=asdict(limits),
            reason=reason,
        )
        session.flush()
        room.set_limits(term, window, **asdict(limits), seen=asdict(seen))


def changed(control: str, now: AdmissionLimits, term: int, window: int) -> AdmissionLimits:
    """Return the limits that a control of CHANGES makes of those of `now`."""
    return CHANGES[control](now, usual_rate(term, window))


def last_set(term: int, window: int) -> AdmissionLimits | None:
    """Return the limits that an admin has last set, None if none has."""
    mine = AuditEntry.action == ACTION, AuditEntry.subject == _subject(term, window)
    last = select(AuditEntry.after).where(*mine).order_by(AuditEntry.id.desc()).limit(1)
    with transaction() as session:
        found = session.scalar(last)
    return AdmissionLimits(**found) if found else None


def usual_rate(term: int, window: int) -> int:
    """Return the admissions per minute before a pause, or those of the settings."""
    pace = AuditEntry.before["per_minute"].as_integer()
    turned = select(pace).where(AuditEntry.subject == _subject(term, window), pace > 0)
    with transaction() as session:
        known = session.scalar(turned.order_by(AuditEntry.id.desc()).limit(1))
    per_minute, _ = backend().settings.room or (0, 0)
    return known or per_minute


def earlier(term: int, window: int, now: AdmissionLimits) -> EarlierLimits | None:
    """Return the last limits other than those of `now`, and who set those of `now` and why.

    Pauses and switches don't count.
    """
    of_room = AuditEntry.action == ACTION, AuditEntry.subject == _subject(term, window)
    pace, most = (AuditEntry.before[name].as_integer() for name in ("per_minute", "at_once"))
    limits = (
        select(AuditEntry.before)
        .where(*of_room, pace > 0, AuditEntry.before["off"].as_boolean().is_(False))
        .where(or_(pace != now.per_minute, most != now.at_once))
    )
    to_now = (
        AuditEntry.after[name].as_integer() == value
        for name, value in (("per_minute", now.per_minute), ("at_once", now.at_once))
    )
    setter = (
        select(AuditEntry, Account.name)
        .outerjoin(Account, Account.id == AuditEntry.account_id)
        .where(*of_room, *to_now)
    )
    last = AuditEntry.id.desc()
    with transaction() as session:
        before = session.scalar(limits.order_by(last).limit(1))
        found = session.execute(setter.order_by(last).limit(1)).first()
    if before is None or found is None:
        return None
    entry, name = found
    return EarlierLimits(AdmissionLimits(**before), entry.at, name or "", entry.reason)


def latest_pauses(session: Session, terms: Sequence[int]) -> dict[int, Pause]:
    """Return the last pause of each window of these terms, by window."""
    of_terms = or_(false(), *(AuditEntry.subject.startswith(f"term:{term} ") for term in terms))
    before, after = (
        side["off"].as_boolean().is_(False) & (side["per_minute"].as_integer() == 0)
        for side in (AuditEntry.before, AuditEntry.after)
    )
    found = (
        select(AuditEntry.subject, AuditEntry.at, Account.name)
        .outerjoin(Account, Account.id == AuditEntry.account_id)
        .where(AuditEntry.action == ACTION, of_terms, after, ~before)
        .ext(distinct_on(AuditEntry.subject))
        .order_by(AuditEntry.subject, AuditEntry.id.desc())
    )
    rows = session.execute(found)
    return {_window(row.subject): Pause(row.at, row.name or "") for row in rows}


def _subject(term: int, window: int) -> str:
    return f"term:{term} window:{window}"


def _window(subject: str) -> int:
    return int(subject.rpartition(":")[2])


# By button, the limits that it sets; they come from those of now and the usual number a minute.
CHANGES: dict[str, Callable[[AdmissionLimits, int], AdmissionLimits]] = {
    "pause": lambda now, _usual: replace(now, per_minute=0, off=False),
    "resume": lambda now, usual: replace(now, per_minute=now.per_minute or usual),
    "off": lambda now, _usual: replace(now, off=True),
    "on": lambda now, _usual: replace(now, off=False),
}
