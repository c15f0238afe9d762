"""What the rules need to know of a student, read at once and kept for a moment."""

from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from sqlalchemy import ARRAY, String, func, select
from sqlalchemy.sql.elements import ColumnElement

from portal.cache import Cache
from portal.catalog.models import Department, Subject
from portal.db import transaction
from portal.people.models import Account, CompletedCourse, Hold, Student, StudentSubject

FRESH_SECONDS = 5


@dataclass(frozen=True)
class HoldView:
    """A hold that has not been lifted."""

    kind: str
    reason: str
    office: str


@dataclass(frozen=True)
class Profile:
    """A student as the rules see one; `majors` and `minors` have codes and names alike."""

    student: int
    account: int
    name: str
    number: str
    level: str
    year: str
    degree: str
    campus: str
    college: str
    department: str
    majors: frozenset[str] = frozenset()
    minors: frozenset[str] = frozenset()
    fields: tuple[str, ...] = ()  # names of majors and minors, as the student is told of them
    completed: frozenset[str] = frozenset()
    holds: tuple[HoldView, ...] = ()
    credit_limit: Decimal | None = None  # None = the term's limit


def profile(student_id: int) -> Profile:
    """The student's profile, at most 5 s old, older only while PostgreSQL is away.

    Raises LookupError where there is no such student.
    """
    return _profiles.get(student_id)


def read(student_id: int) -> Profile:
    """The student's profile as it is now; raises LookupError where there is none."""
    with transaction() as session:
        row = session.execute(_everything(student_id)).mappings().one_or_none()
    if row is None:
        raise LookupError(f"student {student_id}")
    facts: dict[str, Any] = dict(row)
    subjects = facts.pop("subjects") or []
    holds = facts.pop("holds") or []
    return Profile(
        **facts | {"completed": frozenset(facts["completed"] or ())},
        majors=_named(subjects, "major"),
        minors=_named(subjects, "minor"),
        fields=tuple(sorted({name for _, _, name in subjects})),
        holds=tuple(HoldView(*hold) for hold in holds),
    )


def _everything(student_id: int) -> Any:
    """One statement for all of it, since a rush asks for thousands of profiles."""
    return (
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
        )
        .join(Account, Account.id == Student.account_id)
        .outerjoin(Department, Department.id == Student.department_id)
        .where(Student.id == student_id, Student.deleted_at.is_(None))
    )


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
    hold = func.jsonb_build_array(Hold.kind, Hold.reason, Hold.office)
    return (
        select(func.jsonb_agg(hold))
        .where(Hold.student_id == Student.id, Hold.lifted_at.is_(None))
        .correlate(Student)
        .scalar_subquery()
    )


def _named(subjects: list[list[str]], kind: str) -> frozenset[str]:
    return frozenset(word for each, code, name in subjects if each == kind for word in (code, name))


_profiles = Cache(read, FRESH_SECONDS)
