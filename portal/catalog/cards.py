"""What pages know of a section: plain frozen values, with nothing lazy behind them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from portal.catalog import present
from portal.seats.asks import Passes

Tree = dict[str, Any]


@dataclass(frozen=True, slots=True)
class TermView:
    """A term as pages and rules need it."""

    id: int
    name: str
    starts_on: date
    ends_on: date
    credit_limit: Decimal
    drops_per_day: int
    passes: Passes | None = None  # after which a place on a waitlist is lost


@dataclass(frozen=True, slots=True)
class MeetingView:
    """One meeting in numbers; its words are made in the language of whoever reads them."""

    code: str  # LEC, LAB, …; blank where the source is silent
    room: str
    clashes: bool  # False for common exam blocks
    mask: int = 0  # Monday 1 … Sunday 64
    start: int | None = None  # minutes since midnight
    end: int | None = None
    first: date = date.min
    last: date = date.max
    term: tuple[date, date] | None = None  # its first and its last day

    @property
    def kind(self) -> str:
        """`Lecture`, `Lab`, …; blank where the source is silent."""
        return present.kind(self.code)

    @property
    def days(self) -> str:
        """`Mon Thu`; blank where none are given."""
        return present.days(self.mask)

    @property
    def times(self) -> str:
        """`2:00–3:50 pm` or `TBA`."""
        return present.times(_time(self.start), _time(self.end))

    @property
    def dates(self) -> str:
        """`Aug 31 – Oct 16` where they differ from the term's, else blank."""
        return present.dates(self.first, self.last, self.term) if self.term else ""


@dataclass(frozen=True, slots=True)
class ReserveView:
    """Seats that are kept for a cohort, until a moment if it is given."""

    id: int
    seats: int
    cohort: Mapping[str, Any]
    until: datetime | None


@dataclass(frozen=True, slots=True, eq=False)
class Card:
    """One section of a term, with all that its course says."""

    id: int
    term_id: int
    crn: str
    number: str
    title: str
    course_id: int
    course_code: str
    course_title: str
    description: str
    subject_code: str
    subject_name: str
    department: str
    credits_min: Decimal
    credits_max: Decimal
    form: str  # its kind as it is stored
    campus: str
    method: str
    note: str
    status: str  # NEW, OPEN, CONFIRMED or CANCELED
    capacity: int
    waitlist_capacity: int
    meetings: tuple[MeetingView, ...]
    teachers: tuple[str, ...]
    teacher_ids: tuple[int, ...]
    prerequisites: Tree | None  # {"course": code} | {"all": […]} | {"any": […]}
    corequisites: Tree | None
    restrictions: tuple[tuple[str, str, str], ...]  # (rule, kind, value)
    cross_lists: tuple[str, ...]  # codes of other courses
    public: bool
    restricted_to: frozenset[str]  # subject codes, where the course is not public
    levels: frozenset[str]
    years: frozenset[str]
    categories: tuple[str, ...] = ()
    pool: int | None = None  # whose seats it shares with the other sections of it
    reserves: tuple[ReserveView, ...] = ()
    words: str = field(default="", repr=False)  # see catalog.search.index

    @property
    def kind(self) -> str:
        """`Lecture`, `Lab`, …; blank where the source is silent."""
        return present.kind(self.form)


def _time(minutes: int | None) -> time | None:
    return None if minutes is None else time(*divmod(minutes, 60))
