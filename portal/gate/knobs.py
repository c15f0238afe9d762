"""The two limits of a waiting room as an admin turns them, each turn noted."""

from dataclasses import asdict, dataclass

from portal.db import transaction
from portal.gate import room
from portal.gate.places import Room
from portal.people.models import AuditEntry


@dataclass(frozen=True)
class Limits:
    """New ones per minute (0 = nobody), at once inside; `off` lets everyone in."""

    per_minute: int
    at_once: int
    off: bool = False


def limits_of(state: Room) -> Limits:
    """The limits of a room as it stands."""
    return Limits(state.per_minute, state.at_once, state.off)


def turn(term: int, window: int, limits: Limits, by: int) -> Room:
    """Set the limits, from this moment on; not where it can't be noted who did.

    Raises LedgerUnavailable, and ValueError for limits that make no sense.
    """
    before = limits_of(room.state(term, window))
    with transaction() as session:
        session.add(
            AuditEntry(
                account_id=by,
                action="room.limits",
                subject=f"term:{term} window:{window}",
                before=asdict(before),
                after=asdict(limits),
            )
        )
        session.flush()
        return room.set_limits(term, window, limits.per_minute, limits.at_once, off=limits.off)
