"""Student records as the registrar sees them: search, read, and correct completed courses."""

from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import ColumnElement, Row, or_, select, true
from sqlalchemy.orm import Session, joinedload

from portal.catalog import requisites
from portal.catalog.models import Course, Section, Term
from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.core.sorting import Sorting
from portal.people import student_profile
from portal.people.models import Account, CompletedCourse, Hold, Permission, Student, within
from portal.people.student_profile import ADVISER, StudentProfile, is_advised_by, is_adviser

PAGE_SIZE = 50
MAX_WORDS = 6  # of a search; further words are ignored


class StaleRecord(Exception):
    """The record has changed since the page was shown."""


@dataclass(frozen=True)
class PermissionRecord:
    """A permission for one section; `waives` are codes of reasons."""

    id: int
    term: str
    term_id: int
    section_id: int
    code: str
    number: str
    waives: list[str]
    reason: str
    granted: datetime
    until: datetime | None
    revoked: datetime | None

    @property
    def name(self) -> str:
        """Return the section's name, such as CSC 1100-01."""
        return requisites.section_name(self.code, self.number)

    @property
    def is_active(self) -> bool:
        """Return whether it can be used now."""
        return self.revoked is None and within(None, self.until)


@dataclass(frozen=True)
class CompletedRecord:
    """A completed course; `grade` is blank if it is unknown."""

    code: str
    term_name: str
    grade: str
    credits: Decimal


@dataclass(frozen=True)
class Adviser:
    """The account that is assigned to a student, and whether it still has the role."""

    id: int
    username: str
    name: str
    has_role: bool


@dataclass(frozen=True)
class StudentRecord:
    """A student's record, with the latest entries first."""

    profile: StudentProfile
    username: str
    email: str
    private: bool  # see portal/people/privacy.py
    adviser: Adviser | None
    holds: list[Hold]
    permits: list[PermissionRecord]
    completed: list[CompletedRecord]


@dataclass(frozen=True)
class StudentSummary:
    """A student in a list."""

    id: int
    name: str
    number: str
    email: str
    year: str
    level: str


# Columns that sort a list of students.
SORTS: dict[str, Any] = {
    "name": Account.name,
    "number": Student.number,
    "email": Account.email,
    "year": Student.year,
    "level": Student.level,
}


def search(
    session: Session, text: str, page: int, sorting: Sorting, *which: ColumnElement[bool]
) -> tuple[list[StudentSummary], bool]:
    """Return a page of the students who match every word, and whether more follow.

    `which` are conditions, such as `advised_by`. They are sorted by the column of SORTS that
    `sorting` names.
    """
    column = SORTS[sorting.key]
    first = column.desc() if sorting.down else column
    query = (
        select(Student.id, Account.name, Student.number, Account.email, Student.year, Student.level)
        .join(Account, Account.id == Student.account_id)
        .where(Student.deleted_at.is_(None), *which, *map(_matches, text.split()[:MAX_WORDS]))
        .order_by(first, Account.name, Student.number)
        .offset((page - 1) * PAGE_SIZE)
        .limit(PAGE_SIZE + 1)
    )
    rows = [StudentSummary(*row) for row in session.execute(query)]
    return rows[:PAGE_SIZE], len(rows) > PAGE_SIZE


def find_name(condition: ColumnElement[bool]) -> Row[int, str, str] | None:
    """Return the id, the name and the number of a student, also of a deleted one."""
    found = select(Student.id, Account.name, Student.number).join(Student.account).where(condition)
    with transaction() as session:
        return session.execute(found).one_or_none()


def find_by_number(session: Session, number: str, *, adviser: int | None = None) -> int | None:
    """Return the id of the student with exactly this number, of an `adviser` if given."""
    found = select(Student.id).where(Student.number == number, Student.deleted_at.is_(None))
    return session.scalar(found.where(advised_by(adviser)))


def advised_by(adviser: int | None) -> ColumnElement[bool]:
    """Return the condition for students whom this account advises; None = for all students."""
    return true() if adviser is None else is_advised_by(adviser)


def without_adviser() -> ColumnElement[bool]:
    """Return the condition for students whom no account with the role advises."""
    advised = select(ADVISER.id).where(is_adviser(ADVISER), is_advised_by(ADVISER.id))
    return ~advised.correlate(Student).exists()


def find(session: Session, student_id: int) -> StudentRecord | None:
    student = session.get(Student, student_id)
    if student is None or student.deleted_at:
        return None
    return StudentRecord(
        profile=student_profile.read(student_id),
        username=student.account.username,
        email=student.account.email,
        private=student.private,
        adviser=_adviser(session, student_id),
        holds=_holds(session, student_id),
        permits=_permissions(session, student_id),
        completed=completed_courses(session, student_id),
    )


def completed_courses(session: Session, student_id: int) -> list[CompletedRecord]:
    """Return the student's completed courses, by code."""
    query = (
        select(
            CompletedCourse.course_code,
            CompletedCourse.term_name,
            CompletedCourse.grade,
            CompletedCourse.credits,
        )
        .where(CompletedCourse.student_id == student_id)
        .order_by(CompletedCourse.course_code)
    )
    return [CompletedRecord(*row) for row in session.execute(query)]


def correct_completed_course(  # noqa: PLR0913  the course before and after, who and why
    student: int,
    code: str,
    seen: CompletedRecord | None,
    wanted: CompletedRecord | None,
    *,
    by: int,
    why: str,
) -> None:
    """Add the course (`seen` is None), correct it, or remove it (`wanted` is None).

    Repeating the call changes nothing. Raises StaleRecord if the record is not as `seen`.
    """
    with transaction() as session:
        session.execute(select(Student.id).where(Student.id == student).with_for_update())
        row = session.get(CompletedCourse, (student, code))
        now = CompletedRecord(code, row.term_name, row.grade, row.credits) if row else None
        if now == wanted:
            return
        if now != seen:
            raise StaleRecord(code)
        if row and wanted is None:
            session.delete(row)
        elif wanted:
            facts = {**asdict(wanted), "course_code": code, "student_id": student}
            del facts["code"]
            session.merge(CompletedCourse(**facts))
        action = "record.add" if now is None else "record.correct" if wanted else "record.remove"
        add_audit_entry(
            session,
            action,
            f"student:{student} course:{code}",
            by=by,
            before=_audit_facts(now),
            after=_audit_facts(wanted),
            reason=why,
        )


def _audit_facts(course: CompletedRecord | None) -> dict[str, Any] | None:
    if course is None:
        return None
    facts = asdict(course)
    return {"course": facts.pop("code"), **facts, "credits": str(course.credits)}


def _matches(word: str) -> ColumnElement[bool]:
    return or_(
        Student.number.istartswith(word, autoescape=True),
        Account.name.icontains(word, autoescape=True),
        Account.email.icontains(word, autoescape=True),
        Account.username.istartswith(word, autoescape=True),
    )


def _adviser(session: Session, student_id: int) -> Adviser | None:
    query = (
        select(ADVISER.id, ADVISER.username, ADVISER.name, is_adviser(ADVISER))
        .join(Student, is_advised_by(ADVISER.id))
        .where(Student.id == student_id)
    )
    row = session.execute(query).one_or_none()
    return Adviser(*row) if row else None


def _holds(session: Session, student_id: int) -> list[Hold]:
    query = select(Hold).options(joinedload(Hold.cleared_by)).where(Hold.student_id == student_id)
    ordered = query.order_by(Hold.lifted_at.desc().nulls_first(), Hold.id.desc())
    return list(session.scalars(ordered))


def _permissions(session: Session, student_id: int) -> list[PermissionRecord]:
    query = (
        select(
            Permission.id,
            Term.name,
            Term.id,
            Section.id,
            Course.code,
            Section.number,
            Permission.waives,
            Permission.reason,
            Permission.granted_at,
            Permission.expires_at,
            Permission.revoked_at,
        )
        .join(Section, Section.id == Permission.section_id)
        .join(Course, Course.id == Section.course_id)
        .join(Term, Term.id == Section.term_id)
        .where(Permission.student_id == student_id)
        .order_by(Permission.id.desc())
    )
    return [PermissionRecord(*row) for row in session.execute(query)]
