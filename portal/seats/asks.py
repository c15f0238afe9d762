"""What the ledger is told: sections as it needs them, and waiters to consider."""

from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from portal.seats.answers import Reason

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


# What a section is set to be: the ledger's functions get this list when they are loaded, its events
# and the record follow it. What is missing here the ledger keeps in its own way.
SECTION_FACTS = tuple(
    each.name
    for each in fields(SectionSpec)
    if each.name not in {"section", "version", "pool", "reserves"}
)


@dataclass(frozen=True)
class Part:
    """One section that is wished for, with all that the ledger must be told; credits in hundredths.

    `waived` are codes of the ledger's own reasons that the registrar permits the student to pass;
    `reserves` those of the section's reserves that the student belongs to.
    """

    section: int
    credits: int
    corequisites: dict[str, Any] | None = None  # a tree of courses by id
    rules: tuple[Reason, ...] = ()
    waived: tuple[str, ...] = ()
    reserves: tuple[int, ...] = ()


Option = tuple[Part, ...]  # sections to be had together or not at all


@dataclass(frozen=True)
class Line:
    """A wish: its options by rank, and a section that is given up for it (a swap).

    The first option that can be had whole is taken. With `wait`, where none can: the first whose
    full parts have room on their waitlists; of several parts one at least must have a seat.
    """

    options: tuple[Option, ...]
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
class Passes:
    """After how many passes a place on a waitlist is lost; `codes` that count, none = any."""

    most: int
    codes: tuple[str, ...] = ()

    @property
    def payload(self) -> dict[str, Any]:
        """As the ledger is told of it."""
        codes = {"codes": dict.fromkeys(self.codes, True)} if self.codes else {}
        return {"most": self.most, **codes}


@dataclass(frozen=True)
class ByHand:
    """A change by hand, `add`, `drop` or both, and by what it is decided.

    `limit` is in hundredths; `days` are the starts (ms) and names of the days around now. `asked`
    are the credits that were asked for, 0 where the catalog filled them in: a retry must match it.
    """

    student: int
    add: Part | None
    drop: int | None
    limit: int
    windows: tuple[int, ...]
    days: tuple[tuple[int, str], ...]
    drop_limit: int
    asked: int = 0


def content(lines: Sequence[Line]) -> list[Any]:
    """The lines as the content of an idempotency key."""
    return [
        [
            [[[part.section, part.credits] for part in option] for option in line.options],
            line.wait,
            line.instead or 0,
        ]
        for line in lines
    ]


def as_payload(asked: Line | Candidate | ByHand) -> dict[str, Any]:
    """As JSON tells it: the ledger knows no null, so what is not given is not there."""
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
