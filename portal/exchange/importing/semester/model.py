"""A semester as read from files: checked values, not yet rows of tables."""

from dataclasses import dataclass, field
from datetime import date, time
from decimal import Decimal

from portal.catalog.requisites import Tree
from portal.exchange.importing.tables import Row

TREES = "prerequisites.json"

Credits = tuple[Decimal, Decimal]


@dataclass
class Course:
    """A course; `credits` None until its sections say."""

    row: Row
    code: str
    department: str
    title: str = ""
    description: str = ""
    offered: str = ""
    credits: Credits | None = None
    categories: dict[str, None] = field(default_factory=dict)
    taught: bool = False  # whether it has a section


@dataclass
class Meeting:
    """A meeting; its dates are None until the term's are known."""

    kind: str
    days: int
    starts_at: time | None
    ends_at: time | None
    first: date | None
    last: date | None
    room: str
    clashes: bool


@dataclass
class Section:
    """A section with everything that belongs to it."""

    row: Row
    crn: str
    course: Course
    texts: dict[str, str]  # by the name of the field, see `catalog.section_fields`
    credits: Credits
    capacity: int
    waitlist: int
    prior: int
    meetings: list[Meeting] = field(default_factory=list)
    teachers: dict[str, None] = field(default_factory=dict)
    restrictions: dict[tuple[str, str, str], None] = field(default_factory=dict)
    cross_lists: dict[str, None] = field(default_factory=dict)
    prerequisites: Tree | None = None
    corequisites: Tree | None = None


@dataclass
class Semester:
    """All of it; sections by registration number, the rest by code."""

    departments: dict[str, tuple[str, str]] = field(default_factory=dict)  # name, school
    courses: dict[str, Course] = field(default_factory=dict)
    sections: dict[str, Section] = field(default_factory=dict)
    starts_on: date = date.max
    ends_on: date = date.min
