"""Student profiles: what the rules need to know of a student, cached until it changes."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from sys import intern
from typing import Any

from sqlalchemy import ARRAY, ColumnElement, Integer, and_, func, select
from sqlalchemy.orm import Session, aliased

from portal.catalog import grades, requisites
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
    within,
)

ADVISER = aliased(Account)


@dataclass(frozen=True)
class HoldView:
    """A hold that has not been lifted, with its start and end.

    `adviser` is who can lift it if it waits for a clearance: blank without one, else None.
    """

    kind: str
    reason: str
    office: str
    since: datetime | None = None
    until: datetime | None = None
    adviser: str | None = None

    @property
    def is_active(self) -> bool:
        """Return whether it blocks registration now."""
        return within(self.since, self.until)

    @property
    def over(self) -> bool:
        """Return whether it has ended."""
        return not within(None, self.until)

    @property
    def facts(self) -> dict[str, str]:
        """Return the facts that a refusal shows."""
        facts = {"kind": self.kind, "reason": self.reason, "office": self.office}
        return facts if self.adviser is None else facts | {"adviser": self.adviser}


@dataclass(frozen=True)
class PermissionView:
    """The reasons (codes) that the student may pass for a section, and until when if limited."""

    section: int
    waives: frozenset[str]
    until: datetime | None = None


@dataclass(frozen=True)
class StudentProfile:
    """A student as the rules see one; `majors` and `minors` hold codes and names alike."""

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
    fields: tuple[str, ...] = ()  # names of majors and minors, to show to the student
    # By course (`requisites.key`), the grade; blank if it is unknown.
    completed: Mapping[str, str] = field(default_factory=dict)
    earned: Decimal = Decimal(0)  # credits of completed courses
    holds: tuple[HoldView, ...] = ()
    credit_limit: Decimal | None = None  # None = the term's limit
    permits: tuple[PermissionView, ...] = ()
    lists: frozenset[int] = frozenset()  # ids of lists for windows
    adviser: str = ""  # name and mail address

    @property
    def overrides(self) -> Mapping[int, frozenset[str]]:
        """By section, the codes of the reasons that the student may pass now."""
        found: dict[int, frozenset[str]] = {}
        for permit in self.permits:
            if within(None, permit.until):
                found[permit.section] = found.get(permit.section, frozenset()) | permit.waives
        return found


def profile(student_id: int) -> StudentProfile:
    """Return the student's profile, at most 2 s out of date while PostgreSQL is reachable.

    Raises LookupError if there is no such student.
    """
    caches.refresh()
    return _profiles.get(student_id)


def read(student_id: int) -> StudentProfile:
    """Return the student's profile as it is now; raises LookupError if there is none."""
    with transaction() as session:
        found = _query(session, Student.id == student_id)
    if not found:
        raise LookupError(f"student {student_id}")
    return found[student_id]


def read_all(session: Session, students: Iterable[int]) -> dict[int, StudentProfile]:
    """Return the profiles of those students as they are now; unknown students are left out."""
    return _query(session, Student.id.in_(list(students)))


def preload() -> None:
    """Read profiles in bulk before many students arrive at once."""
    caches.preload(_profiles, _read_batch)


def cached() -> int:
    """Return how many profiles this process has cached."""
    return len(_profiles)


def cache_size() -> int:
    """Return how many profiles this process can cache."""
    return _profiles.size


def _read_batch(after: int) -> dict[int, StudentProfile]:
    with transaction() as session:
        return _query(session, Student.id > after, limit=caches.BATCH)


def _read_many(students: Collection[int]) -> dict[int, StudentProfile]:
    with transaction() as session:
        return read_all(session, students)


_profiles = caches.register("student", read, _read_many)


def _query(
    session: Session, which: ColumnElement[bool], limit: int | None = None
) -> dict[int, StudentProfile]:
    """Read profiles, however many, in one statement."""
    query = (
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
            ADVISER.name.label("adviser_name"),
            ADVISER.email.label("adviser_email"),
            Student.credit_limit,
            _subjects().label("subjects"),
            _completed().label("completed"),
            func.coalesce(_of_student(CompletedCourse, func.sum(CompletedCourse.credits)), 0).label(
                "earned"
            ),
            _holds().label("holds"),
            _permissions().label("permits"),
            _of_student(
                ListedStudent, func.array_agg(ListedStudent.list_id, type_=ARRAY(Integer))
            ).label("lists"),
        )
        .join(Account, Account.id == Student.account_id)
        .outerjoin(Department, Department.id == Student.department_id)
        .outerjoin(ADVISER, is_adviser(ADVISER) & is_advised_by(ADVISER.id))
        .where(Student.deleted_at.is_(None), which)
        .order_by(Student.id)
        .limit(limit)
    )
    return {row["student"]: _profile(dict(row)) for row in session.execute(query).mappings()}


def is_adviser(account: type[Account]) -> ColumnElement[bool]:
    has_role = account.staff_roles.contains(["adviser"])
    return has_role & account.deleted_at.is_(None) & account.deactivated_at.is_(None)


def is_advised_by(account: Any) -> ColumnElement[bool]:
    """Return whether the account is assigned to the student, and not the student's own."""
    return and_(Student.adviser_id == account, Student.account_id != account)


def _of_student(model: Any, aggregate: ColumnElement[Any], *which: ColumnElement[bool]) -> Any:
    """Return a subquery that collects the student's rows of a table in one value."""
    mine = model.student_id == Student.id
    return select(aggregate).where(mine, *which).correlate(Student).scalar_subquery()


def _subjects() -> Any:
    subject = func.jsonb_build_array(StudentSubject.kind, Subject.code, Subject.name)
    return (
        select(func.jsonb_agg(subject))
        .join(Subject, Subject.id == StudentSubject.subject_id)
        .where(StudentSubject.student_id == Student.id)
        .correlate(Student)
        .scalar_subquery()
    )


def _completed() -> Any:
    course = func.jsonb_build_array(CompletedCourse.course_code, CompletedCourse.grade)
    return _of_student(CompletedCourse, func.jsonb_agg(course))


def _holds() -> Any:
    dates = (func.extract("epoch", each) for each in (Hold.starts_at, Hold.ends_at))
    hold = func.jsonb_build_array(Hold.kind, Hold.reason, Hold.office, *dates, Hold.adviser_lifts)
    return _of_student(Hold, func.jsonb_agg(hold), Hold.lifted_at.is_(None))


def _permissions() -> Any:
    permission = func.jsonb_build_array(
        Permission.section_id, Permission.waives, func.extract("epoch", Permission.expires_at)
    )
    return _of_student(Permission, func.jsonb_agg(permission), Permission.revoked_at.is_(None))


def _profile(row: dict[str, Any]) -> StudentProfile:
    subjects = row.pop("subjects") or ()
    row["completed"] = _best_grades(row["completed"] or ())
    row["lists"] = frozenset(row["lists"] or ())
    name, email = row.pop("adviser_name") or "", row.pop("adviser_email")
    row["adviser"] = adviser = f"{name} ({email})" if email else name
    row["holds"] = tuple(
        HoldView(
            *(kind, reason, office),
            since=_moment(since),
            until=_moment(until),
            adviser=adviser if waits else None,
        )
        for kind, reason, office, since, until, waits in row["holds"] or ()
    )
    row["permits"] = tuple(
        PermissionView(section, frozenset(waives), _moment(until))
        for section, waives, until in row["permits"] or ()
    )
    return StudentProfile(
        **row,
        majors=_codes_and_names(subjects, "major"),
        minors=_codes_and_names(subjects, "minor"),
        fields=tuple(sorted({name for _, _, name in subjects})),
    )


def _best_grades(courses: Iterable[list[str]]) -> dict[str, str]:
    """Return the grade by course; of two spellings of one course the better grade."""
    found: dict[str, str] = {}
    for code, grade in courses:
        key = intern(requisites.key(code))
        found[key] = intern(grades.better(found[key], grade) if key in found else grade)
    return found


def _codes_and_names(subjects: Iterable[list[str]], kind: str) -> frozenset[str]:
    return frozenset(text for each, code, name in subjects if each == kind for text in (code, name))


def _moment(seconds: float | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
