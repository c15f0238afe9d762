"""Cohorts: which students a window or a reserved seat is for, as queries and for one student.

An empty mapping means everyone; otherwise a student must match every entry.
"""

from collections.abc import Iterable, Mapping
from hashlib import sha256
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
    insert,
    literal,
    select,
    true,
)
from sqlalchemy.dialects.postgresql import insert as upsert
from sqlalchemy.orm import Session

from portal.catalog.cohort_names import MAX_NAMED
from portal.catalog.models import Subject
from portal.catalog.subjects import labels
from portal.core.db import transaction
from portal.ledger.types import WindowView
from portal.people.models import ListedStudent, Student, StudentList, StudentSubject, year_order
from portal.people.student_profile import StudentProfile

Cohort = dict[str, Any]


def open_to(profile: StudentProfile, windows: Iterable[WindowView]) -> list[WindowView]:
    """Return the windows whose cohort the student is in."""
    return [window for window in windows if in_cohort(profile, window.cohort)]


def in_cohort(profile: StudentProfile, cohort: Mapping[str, Any]) -> bool:
    """Return whether the student matches every entry of the cohort."""
    names: dict[str, frozenset[str]] = {
        "years": frozenset({profile.year}),
        "levels": frozenset({profile.level}),
        "subjects": profile.majors | profile.minors,
        "students": frozenset({profile.number}),
    }
    listed = cohort.get("list")
    if listed and listed["id"] not in profile.lists:
        return False
    return all(not cohort.get(kind) or mine & set(cohort[kind]) for kind, mine in names.items())


def in_cohort_clause(cohort: Cohort) -> ColumnElement[bool]:
    """Return the same rule as a condition on students in a query."""
    found: list[ColumnElement[bool]] = []
    if years := cohort.get("years"):
        found.append(Student.year.in_(years))
    if levels := cohort.get("levels"):
        found.append(Student.level.in_(levels))
    if students := cohort.get("students"):
        found.append(_has_number(students))
    if listed := cohort.get("list"):
        on_list = ListedStudent.list_id == listed["id"]
        found.append(exists().where(ListedStudent.student_id == Student.id, on_list))
    if subjects := cohort.get("subjects"):
        of_subject = (
            exists()
            .where(StudentSubject.student_id == Student.id)
            .where(StudentSubject.subject_id == Subject.id, Subject.code.in_(subjects))
        )
        found.append(of_subject)
    return and_(true(), *found)


def among(query: Select[Any], cohort: Cohort) -> Select[Any]:
    """Return a query of students, limited to those in the cohort."""
    return query.where(in_cohort_clause(cohort))


def count_students(session: Session, cohort: Cohort) -> int:
    count = select(func.count()).select_from(Student).where(Student.deleted_at.is_(None))
    return session.scalar(among(count, cohort)) or 0


def choices(session: Session) -> dict[str, dict[str, str]]:
    """Return the years, levels and subjects to choose from, each with its label."""
    live = Student.deleted_at.is_(None)
    years = select(Student.year).where(live).distinct()
    levels = select(Student.level).where(live).distinct().order_by(Student.level)
    subjects = (
        select(Subject.code)
        .where(Subject.deleted_at.is_(None))
        .where(exists().where(StudentSubject.subject_id == Subject.id))
        .order_by(Subject.code)
    )
    codes = list(session.scalars(subjects))
    return {
        "years": {year: year for year in sorted(session.scalars(years), key=year_order)},
        "levels": {level: level for level in session.scalars(levels)},
        "subjects": dict(zip(codes, labels(codes), strict=True)),
    }


def unknown_students(session: Session, numbers: list[str]) -> list[str]:
    known = session.scalars(select(Student.number).where(_has_number(numbers)))
    return sorted(set(numbers) - set(known))


def with_student_list(cohort: Cohort) -> Cohort:
    """Return the cohort with a stored list in place of its students if they are many.

    The same students make the same list, so repeating the call changes nothing.
    """
    numbers = cohort.get("students", [])
    if len(numbers) <= MAX_NAMED:
        return cohort
    rest = {kind: names for kind, names in cohort.items() if kind != "students"}
    list_id, students = save_list(numbers)
    return rest | {"list": {"id": list_id, "students": students}}


def numbers_of(session: Session, cohort: Cohort) -> list[str]:
    """Return the student numbers that a cohort names, also by a stored list."""
    if listed := cohort.get("list"):
        on_list = ListedStudent.list_id == listed["id"]
        return sorted(session.scalars(select(Student.number).join(ListedStudent).where(on_list)))
    return list(cohort.get("students", ()))


def save_list(numbers: list[str]) -> tuple[int, int]:
    """Return the id of the stored list of these students, and how many are on it."""
    digest = sha256("\n".join(sorted(set(numbers))).encode()).hexdigest()
    existing = select(StudentList.id).where(StudentList.digest == digest)
    with transaction() as session:
        new = session.scalar(
            upsert(StudentList)
            .values(digest=digest)
            .on_conflict_do_nothing()
            .returning(StudentList.id)
        )
        if new:
            students = select(literal(new), Student.id).where(_has_number(numbers))
            session.execute(insert(ListedStudent).from_select(["list_id", "student_id"], students))
        list_id = new or session.scalars(existing).one()
        count = select(func.count()).where(ListedStudent.list_id == list_id)
        return list_id, session.scalars(count).one()


def _has_number(numbers: list[str]) -> ColumnElement[bool]:
    """Return a condition: a student has one of these numbers, however many they are."""
    given = bindparam(None, numbers, type_=ARRAY(String))
    return (Student.number == any_(given)) & Student.deleted_at.is_(None)
