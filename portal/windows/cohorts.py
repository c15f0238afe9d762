"""Whom a window is for: {} = everyone, else those who match all that is given.

Years, levels, subjects and students are lists of names; a `list` has its id and its size.
"""

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
from portal.people.models import ListedStudent, Student, StudentList, StudentSubject, year_order

Cohort = dict[str, Any]


def count_students(session: Session, cohort: Cohort) -> int:
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
    offered["years"].sort(key=year_order)
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
    return query.where(in_cohort_clause(cohort))


def in_cohort_clause(cohort: Cohort) -> ColumnElement[bool]:
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


# Long lists of students: kept once and for all, so that a window need only name its own.


def with_student_list(cohort: Cohort) -> Cohort:
    """The cohort with its students as a list, where they are many.

    The same students make the same list, so that doing it again changes nothing.
    """
    numbers = cohort.get("students", [])
    if len(numbers) <= MAX_NAMED:
        return cohort
    rest = {kind: names for kind, names in cohort.items() if kind != "students"}
    number, students = save_list(numbers)
    return rest | {"list": {"id": number, "students": students}}


def save_list(numbers: list[str]) -> tuple[int, int]:
    """The id of the list of these students, and how many there are of them."""
    digest = sha256("\n".join(sorted(set(numbers))).encode()).hexdigest()
    which = select(StudentList.id).where(StudentList.digest == digest)
    with transaction() as session:
        made = session.scalar(
            upsert(StudentList)
            .values(digest=digest)
            .on_conflict_do_nothing()
            .returning(StudentList.id)
        )
        if made:
            known = select(literal(made), Student.id).where(numbered(numbers))
            session.execute(insert(ListedStudent).from_select(["list_id", "student_id"], known))
        kept = made or session.scalars(which).one()
        count = select(func.count()).where(ListedStudent.list_id == kept)
        return kept, session.scalars(count).one()
