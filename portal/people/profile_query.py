"""Reads profiles, however many, in one statement."""

from collections.abc import Iterator
from typing import Any

from sqlalchemy import ARRAY, Integer, String, func, select
from sqlalchemy.orm import Session
from sqlalchemy.sql.elements import ColumnElement

from portal.catalog.models import Department, Subject
from portal.people.models import (
    Account,
    CompletedCourse,
    Hold,
    ListedStudent,
    Override,
    Student,
    StudentSubject,
)

Facts = dict[str, Any]


def facts(
    session: Session, *which: ColumnElement[bool], limit: int | None = None
) -> Iterator[Facts]:
    """What is on record of those students, by student."""
    found = (
        select(
            Student.id.label("student"),
            Student.account_id.label("account"),
            Account.name,
            Student.number,
            Student.level,
            Student.year,
            Student.degree,
            Student.campus,
            Student.college,
            func.coalesce(Department.name, "").label("department"),
            Student.credit_limit,
            _subjects().label("subjects"),
            _completed().label("completed"),
            _holds().label("holds"),
            _overrides().label("overrides"),
            _lists().label("lists"),
        )
        .join(Account, Account.id == Student.account_id)
        .outerjoin(Department, Department.id == Student.department_id)
        .where(Student.deleted_at.is_(None), *which)
        .order_by(Student.id)
        .limit(limit)
    )
    for row in session.execute(found).mappings():
        yield dict(row)


def _subjects() -> ColumnElement[Any]:
    pair = func.jsonb_build_array(StudentSubject.kind, Subject.code, Subject.name)
    return (
        select(func.jsonb_agg(pair))
        .join(Subject, Subject.id == StudentSubject.subject_id)
        .where(StudentSubject.student_id == Student.id)
        .correlate(Student)
        .scalar_subquery()
    )


def _completed() -> ColumnElement[Any]:
    return (
        select(func.array_agg(CompletedCourse.course_code, type_=ARRAY(String)))
        .where(CompletedCourse.student_id == Student.id)
        .correlate(Student)
        .scalar_subquery()
    )


def _holds() -> ColumnElement[Any]:
    dates = (func.extract("epoch", each) for each in (Hold.starts_at, Hold.ends_at))
    hold = func.jsonb_build_array(Hold.kind, Hold.reason, Hold.office, *dates)
    return (
        select(func.jsonb_agg(hold))
        .where(Hold.student_id == Student.id, Hold.lifted_at.is_(None))
        .correlate(Student)
        .scalar_subquery()
    )


def _overrides() -> ColumnElement[Any]:
    permit = func.jsonb_build_array(
        Override.section_id, Override.waives, func.extract("epoch", Override.expires_at)
    )
    return (
        select(func.jsonb_agg(permit))
        .where(Override.student_id == Student.id, Override.revoked_at.is_(None))
        .correlate(Student)
        .scalar_subquery()
    )


def _lists() -> ColumnElement[Any]:
    return (
        select(func.array_agg(ListedStudent.list_id, type_=ARRAY(Integer)))
        .where(ListedStudent.student_id == Student.id)
        .correlate(Student)
        .scalar_subquery()
    )
