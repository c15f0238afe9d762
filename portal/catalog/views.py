"""What pages know of a section: frozen values, read for a whole term in a handful of queries."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from sqlalchemy import Row, and_, func, or_, select
from sqlalchemy.orm import Session

from portal.catalog import formatting, requisites
from portal.catalog.models import (
    Course,
    CrossList,
    Department,
    Instructor,
    Meeting,
    Reserve,
    Restriction,
    Room,
    Section,
    Subject,
    Term,
    course_subjects,
    section_instructors,
)
from portal.catalog.search import index
from portal.catalog.section_fields import FIELDS, PlainFields, SectionDetails
from portal.catalog.term_fields import TermRules, rule_values
from portal.core.audit_trail import AuditEntry
from portal.ledger.types import SkipRule

DRAFTS_AGAIN = ("section.unpublish", "section.reoffer")  # actions


@dataclass(frozen=True, slots=True)
class TermView(TermRules):
    """A term as pages and rules need it."""

    id: int
    name: str
    starts_on: date
    ends_on: date
    state: str = "published"
    bands: tuple[Mapping[str, Any], ...] = field(default=(), hash=False)

    @property
    def skip_rule(self) -> SkipRule | None:
        """Return how many skips lose a waitlist position; None if it is never lost."""
        return SkipRule(self.skip_limit, self.skip_reasons) if self.skip_limit else None


@dataclass(frozen=True, slots=True)
class MeetingView:
    """One meeting in numbers; worded in the language of its reader."""

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
        return formatting.kind(self.code)

    @property
    def days(self) -> str:
        """`Mon Thu`; blank where none are given."""
        return formatting.days(self.mask)

    @property
    def times(self) -> str:
        """`2:00–3:50 pm` or `TBA`."""
        return formatting.times(clock_time(self.start), clock_time(self.end))

    @property
    def dates(self) -> str:
        """`Aug 31 – Oct 16` where they differ from the term's, else blank."""
        return formatting.dates(self.first, self.last, self.term) if self.term else ""


@dataclass(frozen=True, slots=True)
class ReserveView:
    """Seats reserved for a cohort, until a moment if one is given."""

    id: int
    seats: int
    cohort: Mapping[str, Any]
    until: datetime | None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class SectionView(PlainFields):
    """One section of a term with its course: a plain frozen value, nothing lazy behind it."""

    id: int
    term_id: int
    crn: str
    course_id: int
    course_code: str
    course_title: str
    description: str
    subject_code: str
    subject_name: str
    department: str
    credits_min: Decimal
    credits_max: Decimal
    status: str  # NEW, OPEN, CONFIRMED or CANCELED
    meetings: tuple[MeetingView, ...]
    instructors: tuple[str, ...]
    instructor_ids: tuple[int, ...]
    restrictions: tuple[tuple[str, str, str], ...]  # (rule, kind, value)
    cross_lists: tuple[str, ...]  # codes of other courses
    public: bool
    restricted_to: frozenset[str]  # subject codes, where the course is not public
    levels: frozenset[str]
    years: frozenset[str]
    department_id: int = 0
    categories: tuple[str, ...] = ()
    pool: int | None = None  # whose seats it shares with the other sections of it
    reserves: tuple[ReserveView, ...] = ()
    search_index: str = field(default="", repr=False)  # see `catalog.search.index`

    @property
    def credits(self) -> tuple[Decimal, Decimal]:
        """Return the least and the most credits, as forms and changes have them."""
        return self.credits_min, self.credits_max

    @property
    def ruled(self) -> bool:
        """Return whether a rule may keep a student out: an audience, a requirement or a consent."""
        return (
            not self.public
            or self.consent
            or self.prerequisites is not None
            or bool(self.restrictions)
        )

    @property
    def kind_name(self) -> str:
        """`Lecture`, `Lab`, …; blank where the source is silent."""
        return formatting.kind(self.kind)

    @property
    def picker_facts(self) -> list[str]:
        """Return the fields that the picker shows as facts of a section, such as its campus."""
        shown = (each for each in FIELDS.values() if each.picker)
        return [line for each in shown for line in each.lines(getattr(self, each.name))]


def term_view(term: Term) -> TermView:
    """Return a term as pages and rules need it."""
    return TermView(
        term.id,
        term.name,
        term.starts_on,
        term.ends_on,
        term.state,
        tuple(term.bands),
        **rule_values(term),
    )


def section_views(session: Session, term: TermView) -> list[SectionView]:
    """Return every section of the term that is not deleted, sorted by course and number."""
    parts = _Parts(session, term)
    sections = (
        select(Section, Course, Subject.code, Subject.name, Department.name)
        .join(Course, Section.course_id == Course.id)
        .join(Subject, Course.subject_id == Subject.id)
        .join(Department, Course.department_id == Department.id)
        .where(Section.term_id == term.id, Section.deleted_at.is_(None))
    )
    found = [parts.view(*row) for row in session.execute(sections)]
    return sorted(found, key=section_order)


def former_names(session: Session, term: TermView) -> dict[int, str]:
    """Return the names of sections that students knew and no longer see, by id.

    They are the deleted sections and drafts that were published once: students see no others.
    """
    unpublished = select(AuditEntry.subject).where(AuditEntry.action.in_(DRAFTS_AGAIN))
    subject = func.concat(f"term:{term.id} section:", Section.id)
    former = (
        select(Section.id, Course.code, Section.number)
        .join(Course, Section.course_id == Course.id)
        .where(
            Section.term_id == term.id,
            or_(
                and_(Section.deleted_at.is_not(None), Section.status != "NEW"),
                and_(Section.status == "NEW", subject.in_(unpublished)),
            ),
        )
    )
    found = session.execute(former)
    return {row.id: requisites.section_name(row.code, row.number) for row in found}


def meeting_view(row: Row[Any], term: tuple[date, date]) -> MeetingView:
    """Return one meeting of a row of `select_meetings`, in a term of these dates."""
    return MeetingView(
        code=row.kind,
        room=row.room or "",
        clashes=row.clashes,
        mask=row.days,
        start=minutes(row.starts_at),
        end=minutes(row.ends_at),
        first=row.date_start,
        last=row.date_end,
        term=term,
    )


def minutes(moment: time | None) -> int | None:
    """Return the minutes since midnight."""
    return None if moment is None else moment.hour * 60 + moment.minute


def clock_time(minute: int | None) -> time | None:
    """Return the time of day of minutes since midnight."""
    return None if minute is None else time(*divmod(minute, 60))


class _Parts:
    """The lists that belong to the sections of a term, each read once and grouped."""

    def __init__(self, session: Session, term: TermView) -> None:
        of_term, taught = Section.term_id == term.id, section_instructors.c
        instructors = (
            select(taught.section_id, Instructor.id, Instructor.name)
            .join(Section, Section.id == taught.section_id)
            .join(Instructor, Instructor.id == taught.instructor_id)
            .where(of_term, Instructor.deleted_at.is_(None))
            .order_by(Instructor.name)
        )
        rule = Restriction
        rules = select(rule.section_id, rule.rule, rule.kind, rule.value).join(Section)
        codes = select(CrossList.section_id, CrossList.course_code).join(Section)
        subjects = select(course_subjects.c.course_id, Subject.code).join(Subject)
        self.dates = (term.starts_on, term.ends_on)
        self.meetings = _grouped(session, select_meetings(term.id))
        self.instructors = _grouped(session, instructors)
        self.restrictions = _grouped(session, rules.where(of_term).order_by(rule.id))
        self.cross_lists = _grouped(session, codes.where(of_term).order_by(CrossList.course_code))
        self.reserves = _grouped(session, select_reserves(term.id))
        self.restricted = _grouped(session, subjects)

    def view(
        self, section: Section, course: Course, subject: str, subject_name: str, department: str
    ) -> SectionView:
        taught = self.instructors[section.id]
        names = tuple(row.name for row in taught)
        return SectionView(
            **SectionDetails.plain_values(section),
            id=section.id,
            term_id=section.term_id,
            crn=section.crn,
            course_id=course.id,
            course_code=course.code,
            course_title=course.title,
            description=course.description,
            subject_code=subject,
            subject_name=subject_name,
            department=department,
            department_id=course.department_id,
            credits_min=section.credits_min,
            credits_max=section.credits_max,
            status=section.status,
            meetings=tuple(meeting_view(row, self.dates) for row in self.meetings[section.id]),
            instructors=names,
            instructor_ids=tuple(row.id for row in taught),
            restrictions=tuple(
                (row.rule, row.kind, row.value) for row in self.restrictions[section.id]
            ),
            cross_lists=tuple(row.course_code for row in self.cross_lists[section.id]),
            public=course.public,
            restricted_to=frozenset(row.code for row in self.restricted[course.id]),
            levels=frozenset(course.levels),
            years=frozenset(course.years),
            categories=tuple(course.categories),
            pool=section.pool_id,
            reserves=tuple(ReserveView(*row[1:]) for row in self.reserves[section.id]),
            search_index=_search_index(section, course, subject_name, names),
        )


def section_order(section: SectionView) -> tuple[str, int, str, str]:
    """Return a key that sorts CSC-99 before CSC-100."""
    number = section.course_code.rpartition("-")[2]
    digits = "".join(sign for sign in number if sign in "0123456789")
    return section.subject_code, int(digits or 0), section.course_code, section.number


def _search_index(
    section: Section, course: Course, subject: str, instructors: tuple[str, ...]
) -> str:
    numbered = f"{course.code}-{section.number}"
    titles = section.title, course.title, subject
    return index(course.code, numbered, *titles, section.crn, *instructors)


def _grouped(session: Session, query: Any) -> dict[int, list[Any]]:
    """Return the rows of a query by their first column."""
    found: dict[int, list[Any]] = defaultdict(list)
    for row in session.execute(query):
        found[row[0]].append(row)
    return found


# The queries of a term's sections; the first column is the id of the section.


def select_meetings(term_id: int) -> Any:
    return (
        select(
            Meeting.section_id,
            Meeting.kind,
            Meeting.days,
            Meeting.starts_at,
            Meeting.ends_at,
            Meeting.date_start,
            Meeting.date_end,
            Meeting.clashes,
            Room.name.label("room"),
        )
        .join(Section)
        .outerjoin(Room)
        .where(Section.term_id == term_id)
        .order_by(Meeting.section_id, Meeting.position)
    )


def select_reserves(term_id: int) -> Any:
    return (
        select(Reserve.section_id, Reserve.id, Reserve.seats, Reserve.cohort, Reserve.until)
        .join(Section)
        .where(Section.term_id == term_id)
        .order_by(Reserve.position, Reserve.id)
    )
