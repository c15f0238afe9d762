"""The classes that a student holds, as PostgreSQL remembers them, for their calendar."""

from dataclasses import dataclass
from datetime import date, time
from typing import Any

from sqlalchemy import Row, func, select
from sqlalchemy.dialects.postgresql import aggregate_order_by
from sqlalchemy.orm import Session

from portal.catalog.models import Course, Meeting, Room, Section, Term, section_teachers
from portal.people.models import Teacher
from portal.recorder.models import Enrollment
from portal.schedule.models import DayOff


@dataclass(frozen=True)
class Held:
    """One meeting of a class: `days` is a mask, Monday 1 … Sunday 64."""

    section: int
    position: int
    version: int  # of the section
    canceled: bool
    course: str  # code
    number: str
    title: str
    crn: str
    teachers: tuple[str, ...]
    kind: str
    exam: bool
    days: int
    starts: time
    ends: time
    first: date
    last: date
    room: str
    off: frozenset[date]  # days of the term without classes


def held(session: Session, student: int) -> list[Held]:
    """Every meeting with days and a time that the student holds, of all terms that are offered."""
    rows = session.execute(_meetings(student)).all()
    off = _days_off(session, {row.Section.term_id for row in rows})
    return [_held(row, off) for row in rows]


def _meetings(student: int) -> Any:
    return (
        select(Section, Course, Meeting, Room.name.label("room"), _teachers().label("teachers"))
        .join(Enrollment, Enrollment.section_id == Section.id)
        .join(Term, Term.id == Section.term_id)
        .join(Course, Course.id == Section.course_id)
        .join(Meeting, Meeting.section_id == Section.id)
        .outerjoin(Room, Room.id == Meeting.room_id)
        .where(
            Enrollment.student_id == student,
            Enrollment.state == "enrolled",
            Term.deleted_at.is_(None),
            Meeting.days > 0,
            Meeting.starts_at.is_not(None),
            Meeting.ends_at.is_not(None),
        )
        .order_by(Section.term_id, Section.id, Meeting.position)
    )


def _teachers() -> Any:
    return (
        select(func.array_agg(aggregate_order_by(Teacher.name, Teacher.name)))
        .join(section_teachers, section_teachers.c.teacher_id == Teacher.id)
        .where(section_teachers.c.section_id == Section.id, Teacher.deleted_at.is_(None))
        .correlate(Section)
        .scalar_subquery()
    )


def _days_off(session: Session, terms: set[int]) -> dict[int, frozenset[date]]:
    found = select(DayOff.term_id, DayOff.day).where(DayOff.term_id.in_(terms))
    rows = session.execute(found).all()
    return {term: frozenset(row.day for row in rows if row.term_id == term) for term in terms}


def _held(row: Row[Any], off: dict[int, frozenset[date]]) -> Held:
    section, course, meeting = row.Section, row.Course, row.Meeting
    return Held(
        section=section.id,
        position=meeting.position,
        version=section.version,
        canceled=section.status == "CANCELED" or section.deleted_at is not None,
        course=course.code,
        number=section.number,
        title=course.title or section.title,
        crn=section.crn,
        teachers=tuple(row.teachers or ()),
        kind=meeting.kind,
        exam=not meeting.clashes,
        days=meeting.days,
        starts=meeting.starts_at,
        ends=meeting.ends_at,
        first=meeting.date_start,
        last=meeting.date_end,
        room=row.room or "",
        off=off[section.term_id],
    )
