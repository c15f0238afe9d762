"""Accounts, students and their records, instructors, and API tokens."""

from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    ColumnElement,
    ForeignKey,
    Identity,
    Integer,
    LargeBinary,
    String,
    and_,
    false,
    func,
    or_,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.ext.hybrid import hybrid_property
from sqlalchemy.orm import Mapped, mapped_column, relationship

from portal.catalog.models import Credits, Department, Instructor, SoftDelete, Subject
from portal.core.db import Base


def within(since: datetime | None, until: datetime | None) -> bool:
    """Return whether now is between two moments, the end excluded; None means no limit."""
    now = datetime.now(UTC)
    return (since is None or since <= now) and (until is None or now < until)


class Account(SoftDelete, Base):
    """A login; its roles follow from its student and instructor rows and three columns."""

    __tablename__ = "accounts"

    id: Mapped[int] = mapped_column(primary_key=True)
    username: Mapped[str] = mapped_column(String(64), unique=True)
    name: Mapped[str] = mapped_column(String(160))
    email: Mapped[str] = mapped_column(String(254), default="")
    password_hash: Mapped[str] = mapped_column(String(200), default="")
    is_admin: Mapped[bool] = mapped_column(default=False)
    # Names of portal.people.roles.STAFF_ROLES.
    staff_roles: Mapped[list[str]] = mapped_column(
        ARRAY(String(40)), default=list, server_default=text("'{}'")
    )
    # Ids of departments: an account with some is a scheduler. Departments are never removed.
    schedules_for: Mapped[list[int]] = mapped_column(
        ARRAY(Integer), default=list, server_default=text("'{}'")
    )
    # The account of a program: its name is its service token's, and it can't log in.
    is_service: Mapped[bool] = mapped_column(default=False, server_default=false())
    # When its logins and tokens ended; null = it is active.
    deactivated_at: Mapped[datetime | None]
    # A code of portal.core.i18n.LANGUAGES; empty = as the browser prefers.
    language: Mapped[str] = mapped_column(String(8), default="", server_default="")
    # Raised to end every session of the account at once.
    session_epoch: Mapped[int] = mapped_column(default=1)
    # Sessions that were logged out, and when (seconds since 1970) each would have ended anyway.
    ended_sessions: Mapped[dict[str, float]] = mapped_column(
        JSONB, default=dict, server_default=text("'{}'")
    )

    student: Mapped["Student | None"] = relationship(
        back_populates="account", foreign_keys="Student.account_id"
    )
    instructors: Mapped[list[Instructor]] = relationship(order_by=Instructor.id)

    def end_sessions(self) -> None:
        """End every session of the account; once that is stored, every process must forget it."""
        self.session_epoch, self.ended_sessions = self.session_epoch + 1, {}


# The accounts that can log in, and those of people, not of programs.
ACTIVE = Account.deleted_at.is_(None) & Account.deactivated_at.is_(None)
PERSON = Account.deleted_at.is_(None), Account.is_service.is_(False)


class Student(SoftDelete, Base):
    __tablename__ = "students"

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), unique=True)
    # The account that advises the student, while it has the role of an adviser.
    adviser_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"), index=True)
    number: Mapped[str] = mapped_column(String(32), unique=True)
    department_id: Mapped[int | None] = mapped_column(ForeignKey("departments.id"))
    level: Mapped[str] = mapped_column(String(40), default="Undergraduate")
    year: Mapped[str] = mapped_column(String(40), default="Freshman")
    degree: Mapped[str] = mapped_column(String(40), default="")
    campus: Mapped[str] = mapped_column(String(80), default="")
    college: Mapped[str] = mapped_column(String(160), default="")
    # Null = the term's limit.
    credit_limit: Mapped[Decimal | None] = mapped_column(Credits)
    # Instructors see name and number alone: portal/people/privacy.py.
    private: Mapped[bool] = mapped_column(default=False, server_default=false())

    account: Mapped[Account] = relationship(back_populates="student", foreign_keys=account_id)
    department: Mapped[Department | None] = relationship()
    subjects: Mapped[list["StudentSubject"]] = relationship()
    completed: Mapped[list["CompletedCourse"]] = relationship()
    holds: Mapped[list["Hold"]] = relationship()


class StudentSubject(Base):
    __tablename__ = "student_subjects"
    __table_args__ = (CheckConstraint("kind IN ('major','minor')", name="kind"),)

    student_id: Mapped[int] = mapped_column(ForeignKey("students.id"), primary_key=True)
    subject_id: Mapped[int] = mapped_column(ForeignKey("subjects.id"), primary_key=True)
    kind: Mapped[str] = mapped_column(String(8), primary_key=True)

    subject: Mapped[Subject] = relationship()


class StudentList(Base):
    """A list of students for windows; never changed, so the same students make the same list."""

    __tablename__ = "student_lists"

    id: Mapped[int] = mapped_column(primary_key=True)
    digest: Mapped[str] = mapped_column(String(64), unique=True)  # SHA-256 of the numbers, in order
    made_at: Mapped[datetime] = mapped_column(server_default=func.now())


class ListedStudent(Base):
    __tablename__ = "listed_students"

    list_id: Mapped[int] = mapped_column(ForeignKey("student_lists.id"), primary_key=True)
    student_id: Mapped[int] = mapped_column(ForeignKey("students.id"), primary_key=True, index=True)


class CompletedCourse(Base):
    """A completed course, by code: it may no longer be in the catalog."""

    __tablename__ = "completed_courses"

    student_id: Mapped[int] = mapped_column(ForeignKey("students.id"), primary_key=True)
    course_code: Mapped[str] = mapped_column(String(24), primary_key=True)
    term_name: Mapped[str] = mapped_column(String(80), default="")
    grade: Mapped[str] = mapped_column(String(8), default="")
    credits: Mapped[Decimal] = mapped_column(Credits, default=Decimal(0))


class Hold(Base):
    """A block on registration until it is lifted or ends."""

    __tablename__ = "holds"

    id: Mapped[int] = mapped_column(primary_key=True)
    student_id: Mapped[int] = mapped_column(ForeignKey("students.id"), index=True)
    kind: Mapped[str] = mapped_column(String(40))
    reason: Mapped[str] = mapped_column(String(300))
    office: Mapped[str] = mapped_column(String(160), default="")
    placed_at: Mapped[datetime] = mapped_column(server_default=func.now())
    lifted_at: Mapped[datetime | None]
    starts_at: Mapped[datetime | None]  # null = at once
    ends_at: Mapped[datetime | None]  # null = once it is lifted
    # It waits for the clearance of the student's adviser, who may lift it too.
    adviser_lifts: Mapped[bool] = mapped_column(default=False, server_default=false())
    # The adviser who gave it; null if it has not been lifted, or by the registrar's office.
    cleared_by_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))

    cleared_by: Mapped[Account | None] = relationship()

    @hybrid_property
    def is_active(self) -> bool:
        """Return whether it blocks registration now; in a query, the condition for that."""
        return self.lifted_at is None and within(self.starts_at, self.ends_at)

    @is_active.inplace.expression
    @classmethod
    def _is_active(cls) -> ColumnElement[bool]:
        begun = or_(cls.starts_at.is_(None), cls.starts_at <= func.now())
        lasts = or_(cls.ends_at.is_(None), func.now() < cls.ends_at)
        return and_(cls.lifted_at.is_(None), begun, lasts)

    @property
    def over(self) -> bool:
        """Return whether it has been lifted or has ended."""
        return self.lifted_at is not None or self.ended

    @property
    def ended(self) -> bool:
        """Return whether its last day has passed."""
        return not within(None, self.ends_at)

    @property
    def clearance(self) -> bool:
        """Return whether a clearance lifted it that can be taken back."""
        return self.adviser_lifts and self.lifted_at is not None and not self.ended


class ApiToken(Base):
    """A personal API token or a service token; only the SHA-256 of its secret is stored."""

    __tablename__ = "api_tokens"

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), index=True)
    name: Mapped[str] = mapped_column(String(80))
    digest: Mapped[bytes] = mapped_column(LargeBinary(32), unique=True)
    scopes: Mapped[list[str]] = mapped_column(
        ARRAY(String(40))
    )  # of PERSONAL_SCOPES or SERVICE_SCOPES
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]
    used_at: Mapped[datetime | None]  # to a few minutes

    account: Mapped[Account] = relationship()


class ApiRequest(Base):
    """A change that a program or a form asked for under an idempotency key, and the answer.

    `tries` counts how often it was begun; `data` has what must be the same at each try.
    """

    __tablename__ = "api_requests"

    number: Mapped[int] = mapped_column(BigInteger, Identity(always=True))
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
    key: Mapped[str] = mapped_column(String(64), primary_key=True)
    digest: Mapped[str] = mapped_column(String(64))  # SHA-256 of the request
    tries: Mapped[int] = mapped_column(default=1, server_default="1")
    data: Mapped[dict[str, int]] = mapped_column(JSONB, default=dict, server_default=text("'{}'"))
    answer: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    at: Mapped[datetime] = mapped_column(server_default=func.now(), index=True)


class SigningKey(Base):
    """A key that signs tokens for programs; `private` is encrypted with SECRET_KEY."""

    __tablename__ = "signing_keys"

    kid: Mapped[str] = mapped_column(String(43), primary_key=True)  # its thumbprint (RFC 7638)
    public: Mapped[dict[str, str]] = mapped_column(JSONB)
    private: Mapped[str]
    made_at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp())
    retired_at: Mapped[datetime | None]


class Permission(Base):
    """Leave of the registrar for one student to pass rules of one section (an override).

    `waives` has codes of reasons (registration.reasons.PERMISSIONS).
    """

    __tablename__ = "permissions"

    id: Mapped[int] = mapped_column(primary_key=True)
    student_id: Mapped[int] = mapped_column(ForeignKey("students.id"), index=True)
    section_id: Mapped[int] = mapped_column(ForeignKey("sections.id"), index=True)
    waives: Mapped[list[str]] = mapped_column(ARRAY(String(40)))
    reason: Mapped[str]
    # Null = granted at the command line.
    granted_by: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    granted_at: Mapped[datetime] = mapped_column(server_default=func.now())
    expires_at: Mapped[datetime | None]
    revoked_at: Mapped[datetime | None]

    @hybrid_property
    def is_active(self) -> bool:
        """Return whether it can be used now; in a query, the condition for that."""
        return self.revoked_at is None and within(None, self.expires_at)

    @is_active.inplace.expression
    @classmethod
    def _is_active(cls) -> ColumnElement[bool]:
        lasts = or_(cls.expires_at.is_(None), func.now() < cls.expires_at)
        return and_(cls.revoked_at.is_(None), lasts)


class PeopleChange(Base):
    """A change of an account or a student, written by triggers for caches.

    `xid` is the transaction, which tells one that commits late from those seen before.
    """

    __tablename__ = "people_changes"
    __table_args__ = (CheckConstraint("kind IN ('account','student','inbox')", name="kind"),)

    xid: Mapped[int] = mapped_column(
        BigInteger,
        primary_key=True,
        autoincrement=False,
        server_default=text("(pg_current_xact_id()::text)::bigint"),
    )
    kind: Mapped[str] = mapped_column(String(8), primary_key=True)
    id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    at: Mapped[datetime] = mapped_column(server_default=func.clock_timestamp(), index=True)


# Class years in the order in which students go through them; others follow by name.

CLASS_YEARS = ("Freshman", "Sophomore", "Junior", "Senior", "Graduate")


def year_order(year: str) -> tuple[int, str]:
    """Sorts class years."""
    return (CLASS_YEARS.index(year) if year in CLASS_YEARS else len(CLASS_YEARS)), year
