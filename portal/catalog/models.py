"""What a university offers: terms, departments, courses, sections, meetings, rules."""

from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    Column,
    ForeignKey,
    Index,
    Numeric,
    SmallInteger,
    String,
    Table,
    UniqueConstraint,
    false,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY, JSONB
from sqlalchemy.orm import Mapped, mapped_column, relationship

from portal.core.db import Base

Credits = Numeric(5, 2)


class SoftDelete:
    """Rows are never removed: history and the event log refer to them."""

    deleted_at: Mapped[datetime | None]


class Term(SoftDelete, Base):
    """A term. `state`: draft (only staff see it), published, or archived (it is history)."""

    __tablename__ = "terms"
    __table_args__ = (CheckConstraint("state IN ('draft','published','archived')", name="state"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(80), unique=True)
    starts_on: Mapped[date]
    ends_on: Mapped[date]
    credit_limit: Mapped[Decimal] = mapped_column(Credits, default=Decimal(21))
    drops_per_day: Mapped[int] = mapped_column(SmallInteger, default=3)
    # Skips after which a waiting student loses the position; null = never.
    skip_limit: Mapped[int | None] = mapped_column(SmallInteger)
    # Codes of the reasons that count towards it; none = any.
    skip_reasons: Mapped[list[str]] = mapped_column(
        ARRAY(String(40)), default=list, server_default="{}"
    )
    # The bands of waitlists (portal/windows/bands.py); none = first come, first served.
    bands: Mapped[list[dict[str, Any]]] = mapped_column(
        JSONB, default=list, server_default=text("'[]'")
    )
    # The last days to add, drop and withdraw, if there are any (portal/windows/deadlines.py).
    add_deadline: Mapped[date | None]
    drop_deadline: Mapped[date | None]
    withdraw_deadline: Mapped[date | None]
    state: Mapped[str] = mapped_column(String(12), default="draft", server_default="draft")
    # Of a rehearsal: lists leave it out, and programs do not see it.
    practice: Mapped[bool] = mapped_column(default=False, server_default=false())
    # Raised by every change of the term's catalog, so that caches know when to reload.
    catalog_version: Mapped[int] = mapped_column(BigInteger, default=1)


class Department(SoftDelete, Base):
    __tablename__ = "departments"

    id: Mapped[int] = mapped_column(primary_key=True)
    code: Mapped[str] = mapped_column(String(16), unique=True)
    name: Mapped[str] = mapped_column(String(160))
    school: Mapped[str] = mapped_column(String(160), default="")


class Subject(SoftDelete, Base):
    """A field that courses belong to and students major or minor in."""

    __tablename__ = "subjects"

    id: Mapped[int] = mapped_column(primary_key=True)
    code: Mapped[str] = mapped_column(String(16), unique=True)
    name: Mapped[str] = mapped_column(String(160))
    department_id: Mapped[int | None] = mapped_column(ForeignKey("departments.id"))


course_subjects = Table(
    "course_subjects",
    Base.metadata,
    Column("course_id", ForeignKey("courses.id"), primary_key=True),
    Column("subject_id", ForeignKey("subjects.id"), primary_key=True),
    comment="The subjects to which a course that is not public is restricted",
)


class Course(SoftDelete, Base):
    """A public course is for everyone; another for the subjects, levels and years named."""

    __tablename__ = "courses"
    __table_args__ = (CheckConstraint("credits_min <= credits_max", name="credits"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    code: Mapped[str] = mapped_column(String(24), unique=True)
    subject_id: Mapped[int] = mapped_column(ForeignKey("subjects.id"), index=True)
    department_id: Mapped[int] = mapped_column(ForeignKey("departments.id"), index=True)
    title: Mapped[str] = mapped_column(String(200))
    description: Mapped[str] = mapped_column(default="")
    offered: Mapped[str] = mapped_column(String(200), default="")
    credits_min: Mapped[Decimal] = mapped_column(Credits)
    credits_max: Mapped[Decimal] = mapped_column(Credits)
    categories: Mapped[list[str]] = mapped_column(ARRAY(String(60)), default=list)
    public: Mapped[bool] = mapped_column(default=True)
    levels: Mapped[list[str]] = mapped_column(ARRAY(String(40)), default=list)
    years: Mapped[list[str]] = mapped_column(ARRAY(String(40)), default=list)
    # New sections begin with these trees, as `Section` has them.
    prerequisites: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    corequisites: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))

    subject: Mapped[Subject] = relationship()
    department: Mapped[Department] = relationship()
    restricted_to: Mapped[list[Subject]] = relationship(secondary=course_subjects)


class Room(SoftDelete, Base):
    __tablename__ = "rooms"

    id: Mapped[int] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(80), unique=True)
    seats: Mapped[int | None]


class Pool(Base):
    """Seats that several sections of a term share, such as one class under several codes."""

    __tablename__ = "pools"
    __table_args__ = (
        UniqueConstraint("term_id", "name"),
        CheckConstraint("capacity >= 0", name="capacity"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"))
    name: Mapped[str] = mapped_column(String(80))
    capacity: Mapped[int]
    # Raised by every change, along with the versions of its sections, which carry it to the ledger.
    version: Mapped[int] = mapped_column(default=1)


section_instructors = Table(
    "section_instructors",
    Base.metadata,
    Column("section_id", ForeignKey("sections.id"), primary_key=True),
    Column("instructor_id", ForeignKey("instructors.id"), primary_key=True, index=True),
)


class Section(SoftDelete, Base):
    """One class of a course. `status`: NEW (draft), OPEN, CONFIRMED (it runs), CANCELED."""

    __tablename__ = "sections"
    __table_args__ = (
        UniqueConstraint("term_id", "crn"),
        CheckConstraint("capacity >= 0 AND waitlist_capacity >= 0", name="seats"),
        CheckConstraint("prior_enrolled >= 0", name="prior"),
        CheckConstraint("credits_min <= credits_max", name="credits"),
        CheckConstraint("status IN ('NEW','OPEN','CONFIRMED','CANCELED')", name="status"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"))
    course_id: Mapped[int] = mapped_column(ForeignKey("courses.id"), index=True)
    crn: Mapped[str] = mapped_column(String(24))
    number: Mapped[str] = mapped_column(String(16))
    title: Mapped[str] = mapped_column(String(200))
    # An English name of `formatting.KINDS`, such as Lab, or a text of the source.
    kind: Mapped[str] = mapped_column(String(60), default="")
    credits_min: Mapped[Decimal] = mapped_column(Credits)
    credits_max: Mapped[Decimal] = mapped_column(Credits)
    capacity: Mapped[int]
    waitlist_capacity: Mapped[int] = mapped_column(default=0)
    # Seats taken before the import, by students whose names the source does not give.
    prior_enrolled: Mapped[int] = mapped_column(default=0)
    # Null = it shares its seats with no other section.
    pool_id: Mapped[int | None] = mapped_column(ForeignKey("pools.id"), index=True)
    status: Mapped[str] = mapped_column(String(12), default="NEW")
    campus: Mapped[str] = mapped_column(String(80), default="")
    method: Mapped[str] = mapped_column(String(80), default="")
    note: Mapped[str] = mapped_column(default="")
    # Trees: {"course": "CSC-1100"} | {"all": [node, …]} | {"any": [node, …]}; null = none.
    prerequisites: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    corequisites: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    # Whether students need the consent of an instructor (a permission that lifts the rule).
    consent: Mapped[bool] = mapped_column(default=False, server_default=false())
    # Of a draft: stored messages by field about what an import could not read; null = all is read.
    unread: Mapped[dict[str, list[str]] | None] = mapped_column(JSONB(none_as_null=True))
    version: Mapped[int] = mapped_column(default=1)

    term: Mapped[Term] = relationship()
    course: Mapped[Course] = relationship()
    meetings: Mapped[list["Meeting"]] = relationship(order_by="Meeting.position")
    restrictions: Mapped[list["Restriction"]] = relationship()
    cross_lists: Mapped[list["CrossList"]] = relationship()


class Meeting(Base):
    """When a section meets. `days` is a bit mask, Monday 1 … Sunday 64; no times = TBA."""

    __tablename__ = "meetings"
    __table_args__ = (
        UniqueConstraint("section_id", "position"),
        CheckConstraint("days BETWEEN 0 AND 127", name="days"),
        CheckConstraint("starts_at < ends_at", name="times"),
        CheckConstraint("date_start <= date_end", name="dates"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    section_id: Mapped[int] = mapped_column(ForeignKey("sections.id"))
    position: Mapped[int] = mapped_column(SmallInteger)
    kind: Mapped[str] = mapped_column(String(12), default="")
    days: Mapped[int] = mapped_column(SmallInteger, default=0)
    starts_at: Mapped[time | None]
    ends_at: Mapped[time | None]
    date_start: Mapped[date]
    date_end: Mapped[date]
    room_id: Mapped[int | None] = mapped_column(ForeignKey("rooms.id"))
    # False for common exam blocks, which must not clash with every class of that day.
    clashes: Mapped[bool] = mapped_column(default=True)

    room: Mapped[Room | None] = relationship()


class Restriction(Base):
    """Who may take a section: values of one rule and kind mean any; kinds must all hold."""

    __tablename__ = "restrictions"
    __table_args__ = (
        UniqueConstraint("section_id", "rule", "kind", "value"),
        CheckConstraint("rule IN ('must_be','may_not_be')", name="rule"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    section_id: Mapped[int] = mapped_column(ForeignKey("sections.id"))
    rule: Mapped[str] = mapped_column(String(12))
    kind: Mapped[str] = mapped_column(String(24))
    value: Mapped[str] = mapped_column(String(120))


class Reserve(Base):
    """Seats of a section that are kept for a cohort (as a window's), `until` then if given."""

    __tablename__ = "reserves"
    __table_args__ = (CheckConstraint("seats >= 0", name="seats"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    section_id: Mapped[int] = mapped_column(ForeignKey("sections.id"), index=True)
    # Of several the first that keeps a seat gives it.
    position: Mapped[int] = mapped_column(SmallInteger, default=0, server_default="0")
    seats: Mapped[int]
    cohort: Mapped[dict[str, Any]]
    until: Mapped[datetime | None]


class CrossList(Base):
    """A section that is also offered under the code of another course."""

    __tablename__ = "cross_lists"
    __table_args__ = (Index("ix_cross_lists_course_code", "course_code"),)

    section_id: Mapped[int] = mapped_column(ForeignKey("sections.id"), primary_key=True)
    course_code: Mapped[str] = mapped_column(String(24), primary_key=True)


class Instructor(SoftDelete, Base):
    """An instructor; imports give a name alone, without an account.

    An account may have several: for two spellings of a name, or for two departments.
    """

    __tablename__ = "instructors"

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"), index=True)
    name: Mapped[str] = mapped_column(String(160), index=True)
    title: Mapped[str] = mapped_column(String(80), default="")
    email: Mapped[str] = mapped_column(String(254), default="")
    department_id: Mapped[int | None] = mapped_column(ForeignKey("departments.id"))
    # The linked account decides applications for this department while the instructor is of it.
    decides_for_id: Mapped[int | None] = mapped_column(ForeignKey("departments.id"))

    department: Mapped[Department | None] = relationship(foreign_keys=[department_id])
    sections: Mapped[list[Section]] = relationship(secondary=section_instructors)
