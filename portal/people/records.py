"""A student's record as the registrar sees it."""

from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.catalog import requisites
from portal.catalog.models import Course, Section, Term
from portal.people import profile
from portal.people.models import CompletedCourse, Hold, Override, Student
from portal.people.profile import Profile, within


@dataclass(frozen=True)
class HoldOn:
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
class Permit:
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
class Record:
    """All that is on record of a student, the latest first."""

    profile: Profile
    username: str
    email: str
    private: bool  # see portal/people/privacy.py
    holds: list[HoldOn]
    permits: list[Permit]
    completed: list[Completed]


def find(session: Session, student_id: int) -> Record | None:
    """The record of that student."""
    student = session.get(Student, student_id)
    if student is None or student.deleted_at:
        return None
    account = student.account
    return Record(
        profile=profile.read(student_id),
        username=account.username,
        email=account.email,
        private=student.private,
        holds=_holds(session, student_id),
        permits=permits(session, student_id),
        completed=_completed(session, student_id),
    )


def _holds(session: Session, student_id: int) -> list[HoldOn]:
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
    return [HoldOn(*row) for row in session.execute(found)]


def permits(session: Session, student_id: int) -> list[Permit]:
    """All that was ever permitted to the student."""
    found = (
        select(
            Override.id,
            Term.name.label("term"),
            Term.id.label("term_id"),
            Section.id.label("section_id"),
            Course.code,
            Section.number,
            Override.waives,
            Override.reason,
            Override.granted_at.label("granted"),
            Override.expires_at.label("until"),
            Override.revoked_at.label("revoked"),
        )
        .join(Section, Section.id == Override.section_id)
        .join(Course, Course.id == Section.course_id)
        .join(Term, Term.id == Section.term_id)
        .where(Override.student_id == student_id)
        .order_by(Override.id.desc())
    )
    return [Permit(**row) for row in session.execute(found).mappings()]


def _completed(session: Session, student_id: int) -> list[Completed]:
    found = select(CompletedCourse).where(CompletedCourse.student_id == student_id)
    rows = session.scalars(found.order_by(CompletedCourse.course_code))
    return [Completed(row.course_code, row.term_name, row.grade, row.credits) for row in rows]
