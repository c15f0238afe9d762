"""A student's record as the registrar sees it."""

from dataclasses import asdict, dataclass
from datetime import datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.orm import Session

from portal.catalog import requisites
from portal.catalog.models import Course, Section, Term
from portal.core.db import transaction
from portal.people import student_profile
from portal.people.models import Account, AuditEntry, CompletedCourse, Hold, Permission, Student
from portal.people.student_profile import StudentProfile, within


@dataclass(frozen=True)
class HoldRecord:
    """A hold with all of its dates."""

    id: int
    kind: str
    reason: str
    office: str
    placed: datetime
    since: datetime | None
    until: datetime | None
    lifted: datetime | None

    @property
    def stands(self) -> bool:
        """Whether it bars now."""
        return self.lifted is None and within(self.since, self.until)

    @property
    def over(self) -> bool:
        """Whether it will not bar any more."""
        return self.lifted is not None or (self.until is not None and not within(None, self.until))


@dataclass(frozen=True)
class PermissionRecord:
    """What the registrar permits for one section; `waives` are codes of reasons."""

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
        """Of the section, such as CSC 1100-01."""
        return f"{requisites.shown(self.code)}-{self.number}"

    @property
    def stands(self) -> bool:
        """Whether it can be used now."""
        return self.revoked is None and within(None, self.until)


@dataclass(frozen=True)
class Completed:
    """A course that is on record as completed."""

    code: str
    term: str
    grade: str
    credits: Decimal


@dataclass(frozen=True)
class StudentRecord:
    """All that is on record of a student, the latest first."""

    profile: StudentProfile
    username: str
    email: str
    private: bool  # see portal/people/privacy.py
    holds: list[HoldRecord]
    permits: list[PermissionRecord]
    completed: list[Completed]


def find(session: Session, student_id: int) -> StudentRecord | None:
    """The record of that student."""
    student = session.get(Student, student_id)
    if student is None or student.deleted_at:
        return None
    account = student.account
    return StudentRecord(
        profile=student_profile.read(student_id),
        username=account.username,
        email=account.email,
        private=student.private,
        holds=_holds(session, student_id),
        permits=permits(session, student_id),
        completed=_completed(session, student_id),
    )


def _holds(session: Session, student_id: int) -> list[HoldRecord]:
    found = (
        select(
            Hold.id,
            Hold.kind,
            Hold.reason,
            Hold.office,
            Hold.placed_at,
            Hold.starts_at,
            Hold.ends_at,
            Hold.lifted_at,
        )
        .where(Hold.student_id == student_id)
        .order_by(Hold.lifted_at.desc().nulls_first(), Hold.id.desc())
    )
    return [HoldRecord(*row) for row in session.execute(found)]


def permits(session: Session, student_id: int) -> list[PermissionRecord]:
    """All that was ever permitted to the student."""
    found = (
        select(
            Permission.id,
            Term.name.label("term"),
            Term.id.label("term_id"),
            Section.id.label("section_id"),
            Course.code,
            Section.number,
            Permission.waives,
            Permission.reason,
            Permission.granted_at.label("granted"),
            Permission.expires_at.label("until"),
            Permission.revoked_at.label("revoked"),
        )
        .join(Section, Section.id == Permission.section_id)
        .join(Course, Course.id == Section.course_id)
        .join(Term, Term.id == Section.term_id)
        .where(Permission.student_id == student_id)
        .order_by(Permission.id.desc())
    )
    return [PermissionRecord(**row) for row in session.execute(found).mappings()]


def _completed(session: Session, student_id: int) -> list[Completed]:
    found = select(CompletedCourse).where(CompletedCourse.student_id == student_id)
    rows = session.scalars(found.order_by(CompletedCourse.course_code))
    return [Completed(row.course_code, row.term_name, row.grade, row.credits) for row in rows]


# Correcting which courses a student has completed, each change in the audit trail.


class StaleRecord(Exception):  # noqa: N818  a fact, not a mistake
    """The record has been changed since it was looked at."""


@dataclass(frozen=True)
class CompletedFacts:
    """A completed course as it is to stand on record."""

    term_name: str
    grade: str
    credits: Decimal


def correct_completed_course(  # noqa: PLR0913  whose, what was, what is to be, who and why
    student: int,
    code: str,
    seen: CompletedFacts | None,
    wanted: CompletedFacts | None,
    *,
    by: int,
    why: str,
) -> None:
    """Add the course (nothing `seen`), correct it, or take it off the record (nothing `wanted`).

    Raises Stale where what is on record is not what was seen. It is done once if done twice.
    """
    with transaction() as session:
        session.execute(select(Student.id).where(Student.id == student).with_for_update())
        row = session.get(CompletedCourse, (student, code))
        now = CompletedFacts(row.term_name, row.grade, row.credits) if row else None
        if now == wanted:
            return
        if now != seen:
            raise StaleRecord(code)
        if row and wanted is None:
            session.delete(row)
        elif wanted:
            session.merge(CompletedCourse(student_id=student, course_code=code, **asdict(wanted)))
        session.add(
            AuditEntry(
                account_id=by,
                action=ACTIONS[now is None, wanted is None],
                subject=f"student:{student} course:{code}",
                before=_facts(code, now),
                after=_facts(code, wanted),
                reason=why,
            )
        )


# Whether there was none, and whether there is none any more.
ACTIONS = {
    (True, False): "record.add",
    (False, False): "record.correct",
    (False, True): "record.remove",
}


def _facts(code: str, course: CompletedFacts | None) -> dict[str, Any] | None:
    return {"course": code, **asdict(course), "credits": str(course.credits)} if course else None


# Finding students by number, name or e-mail, a page at a time.

PAGE = 50
WORDS = 6  # more of them find nobody else


@dataclass(frozen=True)
class StudentSummary:
    """A student as a list names one."""

    id: int
    name: str
    number: str
    email: str
    year: str
    level: str


def search(session: Session, text: str, page: int) -> tuple[list[StudentSummary], bool]:
    """Those whom every word of the text fits, by name, and whether there are more pages."""
    found = (
        select(Student.id, Account.name, Student.number, Account.email, Student.year, Student.level)
        .join(Account, Account.id == Student.account_id)
        .where(Student.deleted_at.is_(None), *map(_fits, text.split()[:WORDS]))
        .order_by(Account.name, Student.number)
        .offset((page - 1) * PAGE)
        .limit(PAGE + 1)
    )
    rows = [StudentSummary(*row) for row in session.execute(found)]
    return rows[:PAGE], len(rows) > PAGE


def find_by_number(session: Session, number: str) -> int | None:
    """The id of the student who has exactly this number."""
    return session.scalar(
        select(Student.id).where(Student.number == number, Student.deleted_at.is_(None))
    )


def _fits(word: str) -> ColumnElement[bool]:
    return or_(
        Student.number.istartswith(word, autoescape=True),
        Account.name.icontains(word, autoescape=True),
        Account.email.icontains(word, autoescape=True),
        Account.username.istartswith(word, autoescape=True),
    )
