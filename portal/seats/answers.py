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


# The counts of a section as the ledger lists them; those of a pool only where there is one.
# `unasked` are those in line who are still to be asked about a reserved seat: the ledger's own.
COUNTS = (
    "capacity",
    "taken",
    "waiting",
    "waitlist_capacity",
    "status",
    "seq",
    "passed",
    "kept",
    "unasked",
    "pool_capacity",
    "pool_taken",
)


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
    passed: int = 0  # of those waiting, how many were passed over for the seats there are
    kept: int = 0  # seats that are kept for cohorts and not taken yet
    pool_capacity: int | None = None  # of the seats that it shares with others; None = no pool
    pool_taken: int = 0  # of these, in all the sections that share them

    @property
    def open(self) -> int:
        """Seats that anybody could have, of its own and of its pool, never below zero."""
        own = self.capacity - self.taken - self.kept
        if self.pool_capacity is None:
            return max(0, own)
        return max(0, min(own, self.pool_capacity - self.pool_taken))

    @property
    def over(self) -> int:
        """By how many it is over-enrolled: those with a seat beyond its own capacity."""
        return max(0, self.taken - self.capacity)

    @property
    def keeping(self) -> int:
        """Free seats that are kept for cohorts just now."""
        free = self.capacity - self.taken
        if self.pool_capacity is not None:
            free = min(free, self.pool_capacity - self.pool_taken)
        return max(0, min(self.kept, free))

    @property
    def claimable(self) -> bool:
        """Whether a newcomer could have a seat: one is open, and nobody waits who may take it."""
        return self.open > 0 and self.waiting == self.passed


@dataclass(frozen=True)
class Held:
    """A seat that a student holds; credits in hundredths, `at` in ms."""

    section: int
    credits: int
    registration: int
    at: int


@dataclass(frozen=True)
class Waiting:
    """A place on a waitlist: `position` from 1 of `size`; `reasons` if passed over."""

    section: int
    credits: int
    ticket: int
    at: int
    position: int
    size: int
    reasons: tuple[Reason, ...] = ()
    instead: int = 0  # section whose seat is given up once this one comes


@dataclass(frozen=True)
class Standing:
    """All that one student holds and waits for in a term, by section."""

    enrolled: tuple[Held, ...] = ()
    waiting: tuple[Waiting, ...] = ()


@dataclass(frozen=True)
class Answer:
    """A decision: what came of it, when by the ledger's clock (ms) and, if refused, why."""

    outcome: Outcome
    at: int
    seq: int = 0  # event of the decision, a refusal's too: the number of its receipt
    section: int = 0
    registration: int = 0  # the seat's number, where one was given
    position: int = 0  # place on the waitlist, from 1
    reasons: tuple[Reason, ...] = ()
    seats: Seats | None = None
    replayed: bool = False
    wake: tuple[str, ...] = ()  # "record", "promote": workers that nobody has called yet
    given_up: int = 0  # section whose seat went for this one, or will once a seat comes
    left: tuple[int, ...] = ()  # sections whose waitlists were left with a dropped seat
    # Where the student stands after it; not told with an answer that is given once more.
    standing: Standing | None = field(default=None, compare=False)


@dataclass(frozen=True)
class LineAnswer:
    """What came of a wish: the answers of the option that was taken, and of those that were not.

    Outcome: ENROLLED (every part has a seat), WAITLISTED (one part waits), or REFUSED.
    """

    outcome: Outcome
    rank: int = 0  # of the option taken, from 1; 0 where none was
    taken: tuple[Answer, ...] = ()  # one for each of its parts
    refused: tuple[tuple[Answer, ...], ...] = ()  # for each option that could not be had, by rank


@dataclass(frozen=True)
class Submission:
    """What came of several wishes, decided in one step at `at` (ms)."""

    at: int
    lines: tuple[LineAnswer, ...]
    replayed: bool = False
    wake: tuple[str, ...] = ()
    standing: Standing | None = field(default=None, compare=False)  # as of an answer


@dataclass(frozen=True)
class Change:
    """That something other than a selection was set; `seq` is 0 where it was so already."""

    at: int
    seq: int = 0
    wake: tuple[str, ...] = ()
    more: bool = False  # a canceled section has not given up all of its seats and places yet


@dataclass(frozen=True)
class Promotion:
    """Students that a promotion placed or passed over; `more` while a seat waits for a waiter.

    Those `aside` have no part in the kept seats, and wait on without a mark.
    """

    promoted: tuple[int, ...]
    passed: tuple[int, ...]
    more: bool
    wake: tuple[str, ...] = ()
    aside: tuple[int, ...] = ()


@dataclass(frozen=True)
class WindowView:
    """A selection window as the ledger decides by it; times in ms, `closes` excluded."""

    id: int
    name: str
    opens: int
    closes: int
    state: str  # scheduled, canceled or closed (early)
    cohort: dict[str, Any]
