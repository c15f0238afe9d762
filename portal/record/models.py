"""What PostgreSQL remembers of the ledger: the event log and the read models of it."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, DateTime, ForeignKey, Index, Integer, SmallInteger, String, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from portal.db import Base

Moment = DateTime(timezone=True)


class Event(Base):
    """One decision of the ledger, in its order (`seq`, gapless within a term)."""

    __tablename__ = "events"
    __table_args__ = (
        Index("ix_events_student_id", "student_id", "term_id", "seq"),
        Index("ix_events_aggregate", "aggregate", "seq"),
    )

    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(String(40))
    version: Mapped[int] = mapped_column(SmallInteger, default=1)
    aggregate: Mapped[str] = mapped_column(String(60))
    student_id: Mapped[int | None] = mapped_column(Integer)
    payload: Mapped[dict[str, Any]] = mapped_column(JSONB)
    # correlation id, actor, cause
    context: Mapped[dict[str, Any]] = mapped_column(JSONB)
    occurred_at: Mapped[datetime] = mapped_column(Moment)
    recorded_at: Mapped[datetime] = mapped_column(Moment, server_default=func.now())


class Checkpoint(Base):
    """How far a term's journal has been recorded; its row lock is the drainer's lease."""

    __tablename__ = "checkpoints"

    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, default=0)
    moved_at: Mapped[datetime] = mapped_column(Moment, server_default=func.now())


class Enrollment(Base):
    """Who holds or held a seat. `state`: enrolled or dropped."""

    __tablename__ = "enrollments"
    __table_args__ = (
        Index("ix_enrollments_student_id", "student_id", "term_id"),
        Index("ix_enrollments_section_id", "section_id", "state"),
    )

    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), primary_key=True)
    section_id: Mapped[int] = mapped_column(ForeignKey("sections.id"), primary_key=True)
    student_id: Mapped[int] = mapped_column(ForeignKey("students.id"), primary_key=True)
    state: Mapped[str] = mapped_column(String(12))
    credits: Mapped[int] = mapped_column(Integer)  # hundredths
    # What must be held along with it, as a tree of courses by id; null where nothing must.
    corequisites: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    registration: Mapped[int] = mapped_column(BigInteger)  # seq of the event that gave the seat
    since: Mapped[datetime] = mapped_column(Moment)
    seq: Mapped[int] = mapped_column(BigInteger)  # event that this row is at


class WaitlistPlace(Base):
    """Who waits or waited. `state`: waiting, passed, promoted or left."""

    __tablename__ = "waitlist_places"
    __table_args__ = (
        Index("ix_waitlist_places_student_id", "student_id", "term_id"),
        Index("ix_waitlist_places_section_id", "section_id", "ticket"),
    )

    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), primary_key=True)
    section_id: Mapped[int] = mapped_column(ForeignKey("sections.id"), primary_key=True)
    student_id: Mapped[int] = mapped_column(ForeignKey("students.id"), primary_key=True)
    state: Mapped[str] = mapped_column(String(12))
    ticket: Mapped[int] = mapped_column(BigInteger)  # seq of the joining event: the order
    credits: Mapped[int] = mapped_column(Integer)  # hundredths
    instead: Mapped[int | None] = mapped_column(Integer)  # section given up for it, in a swap
    since: Mapped[datetime] = mapped_column(Moment)
    reasons: Mapped[list[Any]] = mapped_column(JSONB, default=list)
    seq: Mapped[int] = mapped_column(BigInteger)


class SectionSeats(Base):
    """The counts of a section as of event `seq`."""

    __tablename__ = "section_seats"

    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), primary_key=True)
    section_id: Mapped[int] = mapped_column(ForeignKey("sections.id"), primary_key=True)
    status: Mapped[str] = mapped_column(String(12))
    capacity: Mapped[int] = mapped_column(Integer)
    waitlist_capacity: Mapped[int] = mapped_column(Integer)
    prior: Mapped[int] = mapped_column(Integer)
    enrolled: Mapped[int] = mapped_column(Integer, default=0)
    waiting: Mapped[int] = mapped_column(Integer, default=0)
    passed: Mapped[int] = mapped_column(Integer, default=0)  # of those waiting
    seq: Mapped[int] = mapped_column(BigInteger)
