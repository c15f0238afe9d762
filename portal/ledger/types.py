"""The ledger's types: claims, decisions, reasons and counts."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from enum import StrEnum
from typing import Any, Self


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


# The counts of a section in the ledger's order; those of a pool only if there is one. `passed` is
# `skipped` below. `unasked` counts waiting students not yet checked for a reserved seat; only the
# ledger and rounds use it.
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
    skipped: int = 0  # how many of the waiting students were skipped for the free seats
    kept: int = 0  # seats reserved for cohorts and not taken yet
    pool_capacity: int | None = None  # seats shared with other sections; None = no pool
    pool_taken: int = 0  # shared seats taken, in all sections of the pool
    unasked: int = field(default=0, compare=False)  # not in events

    @classmethod
    def of_event(cls, section: int, seq: int, counts: Mapping[str, Any]) -> Self:
        """Return the counts in an event; what other versions count is left out."""
        known = {**counts, "section": section, "seq": seq, "skipped": counts.get("passed", 0)}
        return cls(**{each.name: known[each.name] for each in fields(cls) if each.name in known})

    @property
    def promised(self) -> int:
        """Return how many free seats of the section its waiting students come before others for.

        While only reserved seats are free, those who were set aside can have none of them.
        """
        free, active = max(0, self.capacity - self.taken), self.waiting - self.skipped
        if self.kept:
            unreserved = max(0, free - self.kept)
            active = self.unasked + min(active - self.unasked, unreserved)
        return min(free, active)

    @property
    def open(self) -> int:
        """Return the seats open to everyone, of the section and its pool; never negative."""
        own = self.capacity - self.taken - self.kept
        if self.pool_capacity is None:
            return max(0, own)
        return max(0, min(own, self.pool_capacity - self.pool_taken))

    @property
    def over(self) -> int:
        """Return how many students hold a seat beyond the section's own capacity."""
        return max(0, self.taken - self.capacity)

    @property
    def free_reserved(self) -> int:
        """Return the free seats now reserved for cohorts."""
        free = self.capacity - self.taken
        if self.pool_capacity is not None:
            free = min(free, self.pool_capacity - self.pool_taken)
        return max(0, min(self.kept, free))

    @property
    def claimable(self) -> bool:
        """Return whether a new student could get a seat: one is open, and no student waits."""
        return self.open > 0 and self.waiting == self.skipped


@dataclass(frozen=True)
class HeldSeat:
    """A seat that a student holds; credits in hundredths, `at` in ms."""

    section: int
    credits: int
    registration: int
    at: int


# A waitlist is a sorted set: the score of a student is (band - 1) * BAND + ticket.
BAND = 10**12


@dataclass(frozen=True)
class WaitlistPosition:
    """A waitlist position: `position` from 1 of `size`; `reasons` if skipped."""

    section: int
    credits: int
    ticket: int
    at: int
    position: int
    size: int
    reasons: tuple[Reason, ...] = ()
    swap_out: int = 0  # section to drop once this seat comes
    band: int = 1  # of the waitlist's order, fixed on joining

    @property
    def place(self) -> tuple[int, int]:
        """Return the key that sorts a waitlist."""
        return self.band, self.ticket


@dataclass(frozen=True)
class Registrations:
    """A student's seats and waitlist positions in a term, by section."""

    enrolled: tuple[HeldSeat, ...] = ()
    waiting: tuple[WaitlistPosition, ...] = ()


@dataclass(frozen=True)
class StudentState:
    """A student's registrations at a time (ms), with what a page shows beside them."""

    registrations: Registrations
    at: int
    plan_changes: int  # how often the plan has changed
    seats: Mapping[int, SeatCounts]  # of the sections that were asked for


@dataclass(frozen=True)
class Decision:
    """A decision of the ledger: its outcome, its time (ms) and, if refused, its reasons."""

    outcome: Outcome
    at: int
    seq: int = 0  # event of the decision, also of a refusal: the number in its receipt
    section: int = 0
    registration: int = 0  # the seat's number, if one was given
    position: int = 0  # waitlist position, from 1
    reasons: tuple[Reason, ...] = ()
    seats: SeatCounts | None = None
    replayed: bool = False
    wake: tuple[str, ...] = ()  # "record", "promote": workers that are not enqueued yet
    swap_out: int = 0  # section dropped for this one, or to drop once a seat opens
    left: tuple[int, ...] = ()  # sections whose waitlists were left along with a dropped seat
    # The student's state afterwards; not part of a replayed answer.
    registrations: Registrations | None = field(default=None, compare=False)


@dataclass(frozen=True)
class ChoiceResult:
    """The result of a choice: the decisions on the alternative taken, and on those refused.

    Outcome: ENROLLED (every part has a seat), WAITLISTED (one part waits), or REFUSED.
    """

    outcome: Outcome
    rank: int = 0  # of the alternative taken, from 1; 0 if none was
    taken: tuple[Decision, ...] = ()  # one for each of its parts
    refused: tuple[tuple[Decision, ...], ...] = ()  # for each alternative that was refused, by rank

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Return the decisions on the alternative taken, else on the first."""
        return self.taken or self.refused[0]


@dataclass(frozen=True)
class SubmissionResult:
    """The result of a submission, decided in one step at `at` (ms)."""

    at: int
    results: tuple[ChoiceResult, ...]  # of the choices, in their order
    replayed: bool = False
    wake: tuple[str, ...] = ()
    registrations: Registrations | None = field(default=None, compare=False)  # as in a Decision

    @property
    def decisions(self) -> list[Decision]:
        """Return the decision on each section; each has the registrations after all of them."""
        return [
            replace(each, replayed=self.replayed, wake=self.wake, registrations=self.registrations)
            for result in self.results
            for each in result.decisions
        ]


@dataclass(frozen=True)
class Change:
    """A change to a section or window; `seq` is 0 if nothing changed."""

    at: int
    seq: int = 0
    wake: tuple[str, ...] = ()
    more: bool = False  # a canceled section still has seats or waitlist positions to free


@dataclass(frozen=True)
class Promotion:
    """Students whom a promotion enrolled or skipped; `more` while a seat waits for a student.

    Students in `aside` cannot have the reserved seats, and keep waiting unmarked.
    """

    promoted: tuple[int, ...]
    skipped: tuple[int, ...]
    more: bool
    wake: tuple[str, ...] = ()
    aside: tuple[int, ...] = ()


@dataclass(frozen=True)
class WindowView:
    """A selection window in the form that the ledger uses; times in ms, `closes` excluded."""

    id: int
    name: str
    opens: int
    closes: int
    state: str  # scheduled, canceled or closed (early)
    cohort: dict[str, Any]


# The deadlines of a term: the last days to add, drop and withdraw. The ledger has the first moment
# (ms) after each.
DEADLINES = ("add_deadline", "drop_deadline", "withdraw_deadline")


# days (Monday=1 … Sunday=64), start and end (minutes since midnight, end excluded),
# first and last day (days since 1970-01-01, both included)
Meeting = tuple[int, int, int, int, int]


@dataclass(frozen=True)
class PoolSpec:
    """Seats that several sections share."""

    id: int
    capacity: int
    version: int  # the newest version sets the capacity for all sections


@dataclass(frozen=True)
class ReserveSpec:
    """Seats of a section that are reserved for a cohort."""

    id: int
    seats: int
    until: int = 0  # ms; 0 = forever


@dataclass(frozen=True)
class SectionSpec:
    """A section for the ledger: credits in hundredths; applied only if `version` is newer."""

    section: int
    capacity: int
    waitlist: int
    prior: int  # seats taken before the import
    status: str  # NEW, OPEN, CONFIRMED or CANCELED
    course: int
    credits_min: int
    credits_max: int
    times: tuple[Meeting, ...]  # the meetings that can conflict
    version: int
    pool: PoolSpec | None = None
    reserves: tuple[ReserveSpec, ...] = ()


# Codes of reasons that no admin can override.
NOT_OVERRIDABLE = frozenset(
    {
        "already_enrolled",
        "in_round",
        "not_enrolled",
        "section_canceled",
        "section_new",
        "section_unknown",
        "student_unknown",
    }
)

# The fields of a section, which events and read models follow. The ledger stores the fields left
# out here in its own way.
SECTION_FIELDS = tuple(
    each.name
    for each in fields(SectionSpec)
    if each.name not in {"section", "version", "pool", "reserves"}
)

# Constants that the ledger's functions get when they are loaded: numbers, lists and sets. Those of
# COUNTS are places: `counts[POOL_TAKEN]`.
LUA_CONSTANTS = {
    "FIELDS": SECTION_FIELDS,
    "NOT_OVERRIDABLE": NOT_OVERRIDABLE,
    "DEADLINES": DEADLINES,
    "BAND": BAND,
    **{name.upper(): place for place, name in enumerate(COUNTS, start=1)},
}


@dataclass(frozen=True, kw_only=True)
class RuleFacts:
    """What PostgreSQL knows of a student, a section and the term, for the rules of the ledger.

    `rules` holds the reasons that the ledger can't find itself. `waived` holds the codes that a
    permission lifts, of both; the event names those that would have refused. `reserves` holds the
    section's reserves that the student belongs to. `waived_corequisites` takes the place of
    `corequisites` if a permission lifts them: the seat does not depend on them later.
    """

    corequisites: dict[str, Any] | None = None  # a tree of courses by id
    rules: tuple[Reason, ...] = ()
    waived: tuple[str, ...] = ()
    reserves: tuple[int, ...] = ()
    waived_corequisites: dict[str, Any] | None = None


@dataclass(frozen=True)
class Claim(RuleFacts):
    """A claim: one section with everything that the ledger needs; credits in hundredths.

    `band` is the student's on the waitlist, None for the first.
    """

    section: int
    credits: int
    band: int | None = None


ClaimGroup = tuple[Claim, ...]  # sections to be taken together or not at all


@dataclass(frozen=True)
class Rate:
    """The cost of a request, charged to its student's rate limit, and the burst; both in ms."""

    cost: float
    size: float


@dataclass(frozen=True)
class RequestContext:
    """The context of a student's request, the same from its web page or API down to the ledger."""

    term: int
    student: int
    actor: str  # the name of the account in events
    correlation: str
    idempotency_key: str | None = None
    window: int | None = None  # of the access token; None = any window of the student's
    rate: Rate | None = None  # None = unlimited


@dataclass(frozen=True)
class LedgerChoice:
    """A choice: its alternatives by rank, and a section that is dropped for it (a swap).

    The first alternative that can be had in full is taken. If none can and `wait` is set, it is the
    first whose full parts have room on their waitlists. Of several parts, at least one must have a
    seat.
    """

    alternatives: tuple[ClaimGroup, ...]
    wait: bool = False
    swap_out: int | None = None


@dataclass(frozen=True)
class RoundMove:
    """What an allocation round gives a student: all seats of an alternative, or none.

    With `wait`, a waitlist position of the only section. `turn` is 0 if it has none.
    `credit_limit` is in hundredths.
    """

    idempotency_key: str
    student: int
    claims: ClaimGroup
    credit_limit: int
    turn: int = 0
    wait: bool = False


@dataclass(frozen=True)
class RoundAnswer:
    """What came of a move: ENROLLED, WAITLISTED, or REFUSED with reasons by section."""

    outcome: Outcome
    against: Mapping[int, tuple[Reason, ...]] = field(default_factory=dict)
    wake: tuple[str, ...] = ()


@dataclass(frozen=True)
class Candidate(RuleFacts):
    """A waiting student as catalog and record know them now.

    `credit_limit` is in hundredths.
    """

    student: int
    windows: tuple[int, ...]
    credit_limit: int


@dataclass(frozen=True)
class SkipRule:
    """The number of skips that loses a waitlist position; `codes` that count, none = any."""

    most: int
    codes: tuple[str, ...] = ()

    @property
    def payload(self) -> dict[str, Any]:
        """Return the rule as the ledger reads it."""
        codes = {"codes": dict.fromkeys(self.codes, True)} if self.codes else {}
        return {"most": self.most, **codes}


@dataclass(frozen=True)
class AdminAdjustment:
    """An admin adjustment, `add`, `drop` or both, and the data to decide it.

    `credit_limit` is in hundredths; `days` are the starts (ms) and names of the days around now.
    `chosen_credits` is 0 if the catalog filled them in: a retry must match it.
    """

    student: int
    add: Claim | None
    drop: int | None
    credit_limit: int
    windows: tuple[int, ...]
    days: tuple[tuple[int, str], ...]
    drop_limit: int
    chosen_credits: int = 0
    application: int | None = None  # whose approval this is; the event names it
    mark: str | None = None  # what the student's record shows for a dropped section, such as W


def as_payload(item: LedgerChoice | Candidate | AdminAdjustment | RoundMove) -> dict[str, Any]:
    """Return JSON values; absent values are left out, as the ledger knows no null."""
    payload: dict[str, Any] = _given(item)
    return payload


def _given(value: Any) -> Any:
    if is_dataclass(value):
        value = vars(value)  # `asdict` would copy everything in it first
    if isinstance(value, dict):
        return {name: _given(each) for name, each in value.items() if each not in (None, ())}
    if isinstance(value, list | tuple):
        return [_given(each) for each in value]
    return value
