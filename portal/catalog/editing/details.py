"""All of a section that an admin may set, as one plain value."""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from sqlalchemy import Row, select
from sqlalchemy.orm import Session

from portal.catalog import views
from portal.catalog.models import Department, Meeting, Reserve, Section, Term, section_teachers
from portal.catalog.requisites import Tree
from portal.catalog.views import MeetingView, ReserveView
from portal.people.models import Teacher


class Taught(NamedTuple):
    """A teacher, by the name that no other has."""

    id: int
    name: str


@dataclass(frozen=True)
class Details:
    """What is compared field by field when a section is changed; its status stands apart."""

    number: str
    title: str
    kind: str
    credits: tuple[Decimal, Decimal]
    capacity: int
    waitlist: int
    campus: str
    method: str
    note: str
    teachers: tuple[Taught, ...]
    meetings: tuple[MeetingView, ...]
    restrictions: tuple[tuple[str, str, str], ...]
    prerequisites: Tree | None
    corequisites: Tree | None
    cross_lists: tuple[str, ...]
    reserves: tuple[ReserveView, ...]  # by their order; id 0 = not stored yet


def details(session: Session, section: Section, term: Term) -> Details:
    """The section as it is stored now."""
    chosen = select(section_teachers.c.teacher_id).where(
        section_teachers.c.section_id == section.id
    )
    ids = set(session.scalars(chosen))
    meetings = views.select_meetings(term.id).where(Meeting.section_id == section.id)
    kept = views.select_reserves(term.id).where(Reserve.section_id == section.id)
    dates = (term.starts_on, term.ends_on)
    restrictions = sorted(section.restrictions, key=lambda each: each.id)
    return Details(
        number=section.number,
        title=section.title,
        kind=section.kind,
        credits=(section.credits_min, section.credits_max),
        capacity=section.capacity,
        waitlist=section.waitlist_capacity,
        campus=section.campus,
        method=section.method,
        note=section.note,
        teachers=tuple(each for each in teachers(session) if each.id in ids),
        meetings=tuple(views.meeting_view(row, dates) for row in session.execute(meetings)),
        restrictions=tuple((each.rule, each.kind, each.value) for each in restrictions),
        prerequisites=section.prerequisites,
        corequisites=section.corequisites,
        cross_lists=tuple(sorted(each.course_code for each in section.cross_lists)),
        reserves=tuple(ReserveView(*row[1:]) for row in session.execute(kept)),
    )


def teachers(session: Session) -> list[Taught]:
    """Everyone who may teach, sorted; of two alike the department is named, then the number."""
    found = (
        select(Teacher.id, Teacher.name, Department.code)
        .outerjoin(Department, Department.id == Teacher.department_id)
        .where(Teacher.deleted_at.is_(None))
        .order_by(Teacher.name, Teacher.id)
    )
    return _told_apart(session.execute(found).all())


def _told_apart(rows: Sequence[Row[int, str, str]]) -> list[Taught]:
    plain = [row.name for row in rows]
    fuller = [f"{row.name} ({row.code})" if row.code else row.name for row in rows]
    fullest = [f"{name} #{row.id}" for name, row in zip(fuller, rows, strict=True)]
    alike, still = Counter(plain), Counter(fuller)
    names = (
        a if alike[a] == 1 else b if still[b] == 1 else c
        for a, b, c in zip(plain, fuller, fullest, strict=True)
    )
    return [Taught(row.id, name) for row, name in zip(rows, names, strict=True)]


def of_names(known: Iterable[Taught], names: Iterable[str]) -> tuple[list[Taught], list[str]]:
    """Those of the names, sorted as `known` is; and the names that nobody has."""
    by_name = {each.name.casefold(): each for each in known}
    wanted = {name.casefold(): name for name in names}
    found = [each for key, each in by_name.items() if key in wanted]
    return found, [name for key, name in wanted.items() if key not in by_name]
