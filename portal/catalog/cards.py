"""What pages know of a section: plain frozen values, with nothing lazy behind them."""

from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from typing import Any

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


@dataclass(frozen=True, slots=True)
class MeetingView:
    """One meeting in words, and as numbers for filters: day mask, minutes since midnight."""

    kind: str  # "Lecture", "Lab", …; blank where the source is silent
    days: str  # "Mon Thu"; blank where none are given
    times: str  # "2:00–3:50 pm" or "TBA"
    dates: str  # "Aug 31 – Oct 16" where they differ from the term's, else blank
    room: str
    clashes: bool  # False for common exam blocks
    mask: int = 0  # Monday 1 … Sunday 64
    start: int | None = None
    end: int | None = None
    first: date | None = None
    last: date | None = None


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
    kind: str
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
    words: str = field(default="", repr=False)  # see catalog.search.index
