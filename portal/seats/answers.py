"""What the ledger says: answers, reasons and counts, as plain values."""

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class Outcome(StrEnum):
    ENROLLED = "enrolled"
    WAITLISTED = "waitlisted"
    DROPPED = "dropped"
    LEFT = "left"
    REFUSED = "refused"


@dataclass(frozen=True)
class Reason:
    """Why something was refused: a code and the facts that its sentence needs."""

    code: str
    facts: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Seats:
    """The counts of one section; `taken` includes seats taken before the import."""

    section: int
    capacity: int
    taken: int
    waiting: int
    waitlist_capacity: int
    status: str
    seq: int

    @property
    def open(self) -> int:
        """Seats that nobody holds, never below zero."""
        return max(0, self.capacity - self.taken)

    @property
    def claimable(self) -> bool:
        """Whether a newcomer could have a seat: one is open and nobody waits for it."""
        return self.open > 0 and self.waiting == 0


@dataclass(frozen=True)
class Answer:
    """A decision: what came of it, when by the ledger's clock (ms) and, if refused, why."""

    outcome: Outcome
    at: int
    seq: int = 0  # event of the decision; 0 where nothing changed
    registration: int = 0  # the seat's number, where one was given
    position: int = 0  # place on the waitlist, from 1
    reasons: tuple[Reason, ...] = ()
    seats: Seats | None = None
    replayed: bool = False
    wake: tuple[str, ...] = ()  # "record", "promote": workers that nobody has called yet
