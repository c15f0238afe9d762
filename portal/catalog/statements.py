"""The few statements by which a term's board is read; the first column says whose a row is."""

from typing import Any

from sqlalchemy import select

from portal.catalog.models import (
    Course,
    CrossList,
    Department,
    Meeting,
    Reserve,
    Restriction,
    Room,
    Section,
    Subject,
    course_subjects,
    section_teachers,
)
from portal.people.models import Teacher


def sections(term_id: int) -> Any:
    return (
        select(Section, Course, Subject.code, Subject.name, Department.name)
        .join(Course, Section.course_id == Course.id)
        .join(Subject, Course.subject_id == Subject.id)
        .join(Department, Course.department_id == Department.id)
        .where(Section.term_id == term_id, Section.deleted_at.is_(None))
    )


def deleted(term_id: int) -> Any:
    """Those that were more than drafts, which no student is to hear of."""
    return (
        select(Section.id, Course.code, Section.number)
        .join(Course, Section.course_id == Course.id)
        .where(Section.term_id == term_id, Section.deleted_at.is_not(None))
        .where(Section.status != "NEW")
    )


def meetings(term_id: int) -> Any:
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


def teachers(term_id: int) -> Any:
    return (
        select(section_teachers.c.section_id, Teacher.id, Teacher.name)
        .join(Section, Section.id == section_teachers.c.section_id)
        .join(Teacher, Teacher.id == section_teachers.c.teacher_id)
        .where(Section.term_id == term_id, Teacher.deleted_at.is_(None))
        .order_by(Teacher.name)
    )


def restrictions(term_id: int) -> Any:
    return (
        select(Restriction.section_id, Restriction.rule, Restriction.kind, Restriction.value)
        .join(Section)
        .where(Section.term_id == term_id)
        .order_by(Restriction.id)
    )


def cross_lists(term_id: int) -> Any:
    return (
        select(CrossList.section_id, CrossList.course_code)
        .join(Section)
        .where(Section.term_id == term_id)
        .order_by(CrossList.course_code)
    )


def reserves(term_id: int) -> Any:
    return (
        select(Reserve.section_id, Reserve.id, Reserve.seats, Reserve.cohort, Reserve.until)
        .join(Section)
        .where(Section.term_id == term_id)
        .order_by(Reserve.position, Reserve.id)
    )


def restricted() -> Any:
    return select(course_subjects.c.course_id, Subject.code).join(
        Subject, Subject.id == course_subjects.c.subject_id
    )
