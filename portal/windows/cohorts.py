"""Whom a window is for: {} = everyone, else years, levels, subjects and students who must match."""

from typing import Any

from sqlalchemy import Select, exists, func, select
from sqlalchemy.orm import Session

from portal.catalog.models import Subject
from portal.people.models import Student, StudentSubject
from portal.words import _

Cohort = dict[str, list[str]]

KINDS = ("years", "levels", "subjects", "students")
NAMED_AT_MOST = 3


def describe(cohort: dict[str, Any]) -> str:
    """Such as `Senior; majors and minors in CSCI, MATH`."""
    if not any(cohort.values()):
        return _("Everyone")
    return "; ".join(_told(kind, cohort[kind]) for kind in KINDS if cohort.get(kind))


def listed(names: list[str], most: int = NAMED_AT_MOST) -> str:
    """Names with commas; more than so many are counted."""
    shown = ", ".join(names[:most])
    if len(names) <= most:
        return shown
    return _("%(names)s and %(count)s more", names=shown, count=len(names) - most)


def size(session: Session, cohort: Cohort) -> int:
    """How many students it has."""
    count = select(func.count()).select_from(Student).where(Student.deleted_at.is_(None))
    return session.scalar(among(count, cohort)) or 0


def choices(session: Session) -> Cohort:
    """What years, levels and subjects there are to choose from."""
    years = select(Student.year).distinct().order_by(Student.year)
    levels = select(Student.level).distinct().order_by(Student.level)
    subjects = (
        select(Subject.code)
        .where(exists().where(StudentSubject.subject_id == Subject.id))
        .order_by(Subject.code)
    )
    found = {"years": years, "levels": levels, "subjects": subjects}
    return {kind: list(session.scalars(query)) for kind, query in found.items()}


def unknown_students(session: Session, numbers: list[str]) -> list[str]:
    """Those of the numbers that no student has."""
    known = select(Student.number).where(Student.number.in_(numbers), Student.deleted_at.is_(None))
    return sorted(set(numbers) - set(session.scalars(known)))


def among(query: Select[Any], cohort: Cohort) -> Select[Any]:
    """The query, of students, narrowed to those of the cohort."""
    if years := cohort.get("years"):
        query = query.where(Student.year.in_(years))
    if levels := cohort.get("levels"):
        query = query.where(Student.level.in_(levels))
    if students := cohort.get("students"):
        query = query.where(Student.number.in_(students))
    if subjects := cohort.get("subjects"):
        of_subject = (
            exists()
            .where(StudentSubject.student_id == Student.id)
            .where(StudentSubject.subject_id == Subject.id, Subject.code.in_(subjects))
        )
        query = query.where(of_subject)
    return query


def _told(kind: str, names: list[str]) -> str:
    if kind == "subjects":
        return _("majors and minors in %(names)s", names=listed(names))
    if kind == "students":
        return _("students %(names)s", names=listed(names))
    return listed(names)
