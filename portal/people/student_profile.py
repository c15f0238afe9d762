"""What the rules need to know of a student, read at once and kept until it changes."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from decimal import Decimal
from sys import intern
from typing import Any

from sqlalchemy import ARRAY, Integer, String, func, select
from sqlalchemy.orm import Session
from sqlalchemy.sql.elements import ColumnElement

from portal.catalog.models import Department, Subject
from portal.core.db import transaction
from portal.people import caches
from portal.people.models import (
    Account,
    CompletedCourse,
    Hold,
    ListedStudent,
    Permission,
    Student,
    StudentSubject,
)

Facts = dict[str, Any]


@dataclass(frozen=True)
class HoldView:
    """A hold that has not been lifted, and from when to when it stands."""

    kind: str
    reason: str
    office: str
    since: datetime | None = None
    until: datetime | None = None

    @property
    def stands(self) -> bool:
        """Whether it bars now."""
        return within(self.since, self.until)

    @property
    def over(self) -> bool:
        """Whether its time has ended."""
        return not within(None, self.until)

    @property
    def facts(self) -> dict[str, str]:
        """What a refusal tells of it."""
        return {"kind": self.kind, "reason": self.reason, "office": self.office}


@dataclass(frozen=True)
class PermissionView:
    """Codes of the reasons that the student may pass for a section, until a moment if any."""

    section: int
    waives: frozenset[str]
    until: datetime | None = None


@dataclass(frozen=True)
class StudentProfile:
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
    permits: tuple[PermissionView, ...] = ()
    lists: frozenset[int] = frozenset()  # for windows, by id

    @property
    def overrides(self) -> Mapping[int, frozenset[str]]:
        """By section, the codes of the reasons that may be passed now."""
        found: dict[int, frozenset[str]] = {}
        for permit in self.permits:
            if within(None, permit.until):
                found[permit.section] = found.get(permit.section, frozenset()) | permit.waives
        return found


def within(since: datetime | None, until: datetime | None) -> bool:
    """Whether now is between two moments; None is no limit, the end is excluded."""
    now = datetime.now(UTC)
    return (since is None or since <= now) and (until is None or now < until)


def profile(student_id: int) -> StudentProfile:
    """The student's profile, at most 2 s behind, more only while PostgreSQL is away.

    Raises LookupError where there is no such student.
    """
    caches.refresh()
    return _profiles.get(student_id)


def read(student_id: int) -> StudentProfile:
    """The student's profile as it is now; raises LookupError where there is none."""
    with transaction() as session:
        found = next(facts(session, Student.id == student_id), None)
    if found is None:
        raise LookupError(f"student {student_id}")
    return _profile(found)


def read_all(session: Session, students: Iterable[int]) -> dict[int, StudentProfile]:
    """The profiles of those students as they are now; who is not there has none."""
    found = facts(session, Student.id.in_(list(students)))
    return {each["student"]: _profile(each) for each in found}


def preload() -> None:
    """Read profiles, so that a rush finds them."""
    caches.preload(_profiles, _batch)


def cached() -> int:
    """How many profiles this process holds."""
    return len(_profiles)


def cache_size() -> int:
    """How many profiles a process can hold."""
    return _profiles.size


def _batch(after: int) -> dict[int, StudentProfile]:
    with transaction() as session:
        found = facts(session, Student.id > after, limit=caches.BATCH)
        return {each["student"]: _profile(each) for each in found}


def _profile(found: Facts) -> StudentProfile:
    subjects, permits = found.pop("subjects") or (), found.pop("overrides") or ()
    return StudentProfile(
        **found
        | {
            "completed": frozenset(map(intern, found["completed"] or ())),
            "holds": tuple(_hold(*hold) for hold in found["holds"] or ()),
            "lists": frozenset(found["lists"] or ()),
        },
        majors=_named(subjects, "major"),
        minors=_named(subjects, "minor"),
        fields=tuple(sorted({name for _, _, name in subjects})),
        permits=tuple(_permit(*permit) for permit in permits),
    )


def _named(subjects: Iterable[list[str]], kind: str) -> frozenset[str]:
    return frozenset(word for each, code, name in subjects if each == kind for word in (code, name))


def _hold(
    kind: str, reason: str, office: str, since: float | None, until: float | None
) -> HoldView:
    return HoldView(kind, reason, office, _moment(since), _moment(until))


def _permit(section: int, waives: list[str], until: float | None) -> PermissionView:
    return PermissionView(section, frozenset(waives), _moment(until))


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _read_many(students: Collection[int]) -> dict[int, StudentProfile]:
    with transaction() as session:
        return read_all(session, students)


_profiles = caches.register("student", read, _read_many)


# Reads profiles, however many, in one statement.


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
        Permission.section_id, Permission.waives, func.extract("epoch", Permission.expires_at)
    )
    return (
        select(func.jsonb_agg(permit))
        .where(Permission.student_id == Student.id, Permission.revoked_at.is_(None))
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
