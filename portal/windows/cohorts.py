"""Whom a window is for: {} = everyone, else those who match all that is given.

Years, levels, subjects and students are lists of names; a `list` has its id and its size.
"""

from collections.abc import Mapping
from typing import Any

from sqlalchemy import (
    ARRAY,
    ColumnElement,
    Select,
    String,
    and_,
    any_,
    bindparam,
    exists,
    func,
    select,
    true,
)
from sqlalchemy.orm import Session

from portal.catalog import formatting, requisites
from portal.catalog.models import Subject
from portal.catalog.term_catalog import known_labels, labels
from portal.core.i18n import _, _n
from portal.people.models import ListedStudent, Student, StudentSubject
from portal.people.years import place

Cohort = dict[str, Any]

KINDS = ("years", "levels", "subjects", "students", "list")
NAMED_AT_MOST = 3
LONG = 50  # students whom a window names itself, as its every decision reads them


def describe(cohort: Mapping[str, Any], most: int = NAMED_AT_MOST) -> str:
    """Such as `Senior; majors and minors in Mathematics (MTH)`; more than so many are counted."""
    if not any(cohort.values()):
        return _("Everyone")
    return "; ".join(_told(kind, cohort[kind], most) for kind in KINDS if cohort.get(kind))


def whom(cohort: Mapping[str, Any]) -> str:
    """The same as any student may read it: nobody is named."""
    told = []
    if years := cohort.get("years"):
        told.append(_("students of class year %(names)s", names=requisites.any_of(years)))
    if levels := cohort.get("levels"):
        told.append(_("students of level %(names)s", names=requisites.any_of(levels)))
    if subjects := cohort.get("subjects"):
        names = requisites.any_of(known_labels(subjects))
        told.append(_("majors and minors in %(names)s", names=names))
    if cohort.get("students") or cohort.get("list"):
        told.append(_("students on a list"))
    return ", ".join(told) or _("everyone")


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


def choices(session: Session) -> dict[str, dict[str, str]]:
    """What years, levels and subjects there are to choose from, with what each is called."""
    live = Student.deleted_at.is_(None)
    years = select(Student.year).where(live).distinct()
    levels = select(Student.level).where(live).distinct().order_by(Student.level)
    subjects = (
        select(Subject.code)
        .where(exists().where(StudentSubject.subject_id == Subject.id))
        .order_by(Subject.code)
    )
    found = {"years": years, "levels": levels, "subjects": subjects}
    offered = {kind: list(session.scalars(query)) for kind, query in found.items()}
    offered["years"].sort(key=place)
    called = {**offered, "subjects": labels(offered["subjects"])}
    return {kind: dict(zip(names, called[kind], strict=True)) for kind, names in offered.items()}


def unknown_students(session: Session, numbers: list[str]) -> list[str]:
    """Those of the numbers that no student has."""
    return sorted(
        set(numbers) - set(session.scalars(select(Student.number).where(numbered(numbers))))
    )


def numbered(numbers: list[str]) -> ColumnElement[bool]:
    """Whether a student has one of these numbers, however many, as a condition."""
    given = bindparam(None, numbers, type_=ARRAY(String))
    return (Student.number == any_(given)) & Student.deleted_at.is_(None)


def among(query: Select[Any], cohort: Cohort) -> Select[Any]:
    """The query, of students, narrowed to those of the cohort."""
    return query.where(inside(cohort))


def inside(cohort: Cohort) -> ColumnElement[bool]:
    """Whether a student is in the cohort, as a condition."""
    found: list[ColumnElement[bool]] = []
    if years := cohort.get("years"):
        found.append(Student.year.in_(years))
    if levels := cohort.get("levels"):
        found.append(Student.level.in_(levels))
    if students := cohort.get("students"):
        found.append(numbered(students))
    if kept := cohort.get("list"):
        on_it = ListedStudent.list_id == kept["id"]
        found.append(exists().where(ListedStudent.student_id == Student.id, on_it))
    if subjects := cohort.get("subjects"):
        of_subject = (
            exists()
            .where(StudentSubject.student_id == Student.id)
            .where(StudentSubject.subject_id == Subject.id, Subject.code.in_(subjects))
        )
        found.append(of_subject)
    return and_(true(), *found)


def _told(kind: str, names: Any, most: int) -> str:
    if kind == "list" or (kind == "students" and len(names) > max(LONG, most)):
        count = names["students"] if kind == "list" else len(names)
        told = formatting.number(count)
        return _n("a list of %(count)s student", "a list of %(count)s students", count, count=told)
    shown = listed(labels(names) if kind == "subjects" else names, most)
    if kind == "subjects":
        return _("majors and minors in %(names)s", names=shown)
    if kind == "students":
        return _("students %(names)s", names=shown)
    return shown
