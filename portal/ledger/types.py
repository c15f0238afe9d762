"""The types that the ledger takes and gives: claims, decisions, reasons and counts."""

from collections.abc import Sequence
from dataclasses import dataclass, field, fields, is_dataclass
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
    """Why something was refused: a code, and the facts that its text needs."""

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
class SeatCounts:
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
        """Return how many students hold a seat beyond the section's own capacity."""
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
        """Return whether a new student could get a seat: one is open, and nobody waits for it."""
        return self.open > 0 and self.waiting == self.passed


@dataclass(frozen=True)
class HeldSeat:
    """A seat that a student holds; credits in hundredths, `at` in ms."""

    section: int
    credits: int
    registration: int
    at: int


@dataclass(frozen=True)
class WaitlistPosition:
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
    """A student's seats and waitlist positions in a term, by section."""

    enrolled: tuple[HeldSeat, ...] = ()
    waiting: tuple[WaitlistPosition, ...] = ()


@dataclass(frozen=True)
class Decision:
    """A decision of the ledger: its outcome, its time (ms) and, if refused, its reasons."""

    outcome: Outcome
    at: int
    seq: int = 0  # event of the decision, a refusal's too: the number of its receipt
    section: int = 0
    registration: int = 0  # the seat's number, where one was given
    position: int = 0  # place on the waitlist, from 1
    reasons: tuple[Reason, ...] = ()
    seats: SeatCounts | None = None
    replayed: bool = False
    wake: tuple[str, ...] = ()  # "record", "promote": workers that nobody has called yet
    given_up: int = 0  # section whose seat went for this one, or will once a seat comes
    left: tuple[int, ...] = ()  # sections whose waitlists were left with a dropped seat
    # Where the student stands after it; not told with an answer that is given once more.
    standing: Standing | None = field(default=None, compare=False)


@dataclass(frozen=True)
class ChoiceResult:
    """The result of a choice: the decisions on the alternative taken, and on those refused.

    Outcome: ENROLLED (every part has a seat), WAITLISTED (one part waits), or REFUSED.
    """

    outcome: Outcome
    rank: int = 0  # of the option taken, from 1; 0 where none was
    taken: tuple[Decision, ...] = ()  # one for each of its parts
    refused: tuple[tuple[Decision, ...], ...] = ()  # for each option that could not be had, by rank


@dataclass(frozen=True)
class SubmissionResult:
    """The result of a submission, decided in one step at `at` (ms)."""

    at: int
    lines: tuple[ChoiceResult, ...]
    replayed: bool = False
    wake: tuple[str, ...] = ()
    standing: Standing | None = field(default=None, compare=False)  # as of an answer


@dataclass(frozen=True)
class Change:
    """A change to a section or window; `seq` is 0 if nothing changed."""

    at: int
    seq: int = 0
    wake: tuple[str, ...] = ()
    more: bool = False  # a canceled section has not given up all of its seats and places yet


@dataclass(frozen=True)
class Promotion:
    """Students whom a promotion enrolled or skipped; `more` while a seat waits for a student.

    Those `aside` can't have the reserved seats, and keep waiting unmarked.
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


# days (Monday=1 … Sunday=64), start and end (minutes since midnight, end excluded),
# first and last day (days since 1970-01-01, both included)
Meeting = tuple[int, int, int, int, int]


@dataclass(frozen=True)
class PoolSpec:
    """Seats that several sections share."""

    id: int
    capacity: int
    version: int  # whichever section tells of a newer one, the capacity holds for all


@dataclass(frozen=True)
class ReserveSpec:
    """Seats of a section that are kept for a cohort."""

    id: int
    seats: int
    until: int = 0  # ms; 0 = for good


@dataclass(frozen=True)
class SectionSpec:
    """A section for the ledger: credits in hundredths; applied if `version` is a newer one."""

    section: int
    capacity: int
    waitlist: int
    prior: int  # seats taken before the import
    status: str  # NEW, OPEN, CONFIRMED or CANCELED
    course: int
    credits_min: int
    credits_max: int
    times: tuple[Meeting, ...]  # those meetings that can clash
    version: int
    pool: PoolSpec | None = None
    reserves: tuple[ReserveSpec, ...] = ()


# The fields of a section: the ledger's functions get this list when they are loaded, and events
# and read models follow it. The ledger stores the fields left out here in its own way.
SECTION_FIELDS = tuple(
    each.name
    for each in fields(SectionSpec)
    if each.name not in {"section", "version", "pool", "reserves"}
)


@dataclass(frozen=True)
class Claim:
    """A claim: one section with everything that the ledger needs; credits in hundredths.

    `waived` are codes of the ledger's own reasons that the registrar permits the student to pass;
    `reserves` those of the section's reserves that the student belongs to.
    """

    section: int
    credits: int
    corequisites: dict[str, Any] | None = None  # a tree of courses by id
    rules: tuple[Reason, ...] = ()
    waived: tuple[str, ...] = ()
    reserves: tuple[int, ...] = ()


ClaimGroup = tuple[Claim, ...]  # sections to be had together or not at all


@dataclass(frozen=True)
class LedgerChoice:
    """A choice: its alternatives by rank, and a section that is dropped for it (a swap).

    The first option that can be had whole is taken. With `wait`, where none can: the first whose
    full parts have room on their waitlists; of several parts one at least must have a seat.
    """

    options: tuple[ClaimGroup, ...]
    wait: bool = False
    instead: int | None = None


@dataclass(frozen=True)
class Candidate:
    """A waiter as the catalogue and the record know them now; credits in hundredths."""

    student: int
    windows: tuple[int, ...]
    limit: int
    corequisites: dict[str, Any] | None = None
    rules: tuple[Reason, ...] = ()
    waived: tuple[str, ...] = ()
    reserves: tuple[int, ...] = ()


@dataclass(frozen=True)
class SkipRule:
    """After how many passes a place on a waitlist is lost; `codes` that count, none = any."""

    most: int
    codes: tuple[str, ...] = ()

    @property
    def payload(self) -> dict[str, Any]:
        """Return the rule as the ledger reads it."""
        codes = {"codes": dict.fromkeys(self.codes, True)} if self.codes else {}
        return {"most": self.most, **codes}


@dataclass(frozen=True)
class AdminAdjustment:
    """A change by hand, `add`, `drop` or both, and by what it is decided.

    `limit` is in hundredths; `days` are the starts (ms) and names of the days around now. `asked`
    are the credits that were asked for, 0 where the catalog filled them in: a retry must match it.
    """

    student: int
    add: Claim | None
    drop: int | None
    limit: int
    windows: tuple[int, ...]
    days: tuple[tuple[int, str], ...]
    drop_limit: int
    asked: int = 0


def content(lines: Sequence[LedgerChoice]) -> list[Any]:
    """The lines as the content of an idempotency key."""
    return [
        [
            [[[part.section, part.credits] for part in option] for option in line.options],
            line.wait,
            line.instead or 0,
        ]
        for line in lines
    ]


def as_payload(asked: LedgerChoice | Candidate | AdminAdjustment) -> dict[str, Any]:
    """Return JSON values; absent values are left out, as the ledger knows no null."""
    payload: dict[str, Any] = _given(asked)
    return payload


def _given(value: Any) -> Any:
    if is_dataclass(value):
        value = vars(value)  # `asdict` copies all that is in it first
    if isinstance(value, dict):
        return {name: _given(each) for name, each in value.items() if each not in (None, ())}
    if isinstance(value, list | tuple):
        return [_given(each) for each in value]
    return value
