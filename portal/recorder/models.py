"""The ledger's data in PostgreSQL: the event log and its read models."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    String,
    Text,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from portal.core.db import Base


class LoggedEvent(Base):
    """One decision of the ledger, in its order (`seq`, gapless within a term)."""

    __tablename__ = "events"
    __table_args__ = (
        Index("ix_events_student_id", "student_id", "term_id", "seq"),
        Index("ix_events_aggregate", "aggregate", "seq"),
        Index(
            "ix_events_shares",
            "term_id",
            postgresql_where="name = 'section_set' AND payload ? 'pool'",
        ),
    )

    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(String(40))
    version: Mapped[int] = mapped_column(SmallInteger, default=1)
    aggregate: Mapped[str] = mapped_column(String(60))
    student_id: Mapped[int | None]
    payload: Mapped[dict[str, Any]]
    # correlation id, actor, cause
    context: Mapped[dict[str, Any]]
    occurred_at: Mapped[datetime]
    recorded_at: Mapped[datetime] = mapped_column(server_default=func.now())


# The columns of an Event, in order.
EVENT_COLUMNS = (
    LoggedEvent.seq,
    LoggedEvent.occurred_at,
    LoggedEvent.name,
    LoggedEvent.version,
    LoggedEvent.aggregate,
    LoggedEvent.payload,
    LoggedEvent.context,
)


class StoredAnswer(Base):
    """The answer given under an idempotency key, byte for byte, until it expires."""

    __tablename__ = "stored_answers"

    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), primary_key=True)
    student_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    idempotency_key: Mapped[str] = mapped_column("request", Text, primary_key=True)
    kept: Mapped[str]  # as in the ledger
    at: Mapped[datetime] = mapped_column(index=True)


class ContinuousAudit(Base):
    """Progress of the continuous audit of a term, and the differences it found."""

    __tablename__ = "continuous_audits"

    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), primary_key=True)
    at: Mapped[datetime]  # when the last part ran
    # the last section compared in this round
    cursor: Mapped[int] = mapped_column(default=0)
    whole_at: Mapped[datetime | None]  # when the last full round ended
    found: Mapped[int] = mapped_column(default=0)
    differences: Mapped[list[Any]] = mapped_column(JSONB, default=list)  # the first differences
    sections: Mapped[list[Any]] = mapped_column(JSONB, default=list)  # sections with differences


class LagMinute(Base):
    """How late the events of a minute were recorded, and how often recording failed."""

    __tablename__ = "lag_minutes"
    __table_args__ = (Index("ix_lag_minutes_minute", "minute"),)

    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), primary_key=True)
    minute: Mapped[datetime] = mapped_column(primary_key=True)  # when they were recorded
    events: Mapped[int] = mapped_column(default=0)
    failures: Mapped[int] = mapped_column(default=0)  # of full batches
    slowest: Mapped[int] = mapped_column(BigInteger, default=0)  # ms
    buckets: Mapped[list[int]] = mapped_column(ARRAY(Integer))  # events, by BOUNDS of latency.py


class LagHour(Base):
    """How late the events of one name reached a stage of recording, in an hour."""

    __tablename__ = "lag_hours"
    __table_args__ = (Index("ix_lag_hours_hour", "hour"),)

    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), primary_key=True)
    hour: Mapped[datetime] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(40), primary_key=True)  # of the events
    stage: Mapped[str] = mapped_column(String(10), primary_key=True)  # of STAGES in status.py
    events: Mapped[int] = mapped_column(default=0)
    slowest: Mapped[int] = mapped_column(BigInteger, default=0)  # ms
    buckets: Mapped[list[int]] = mapped_column(ARRAY(Integer))  # events, by BOUNDS of latency.py


class Enrollment(Base):
    """A seat that a student holds or held. `state`: enrolled or dropped."""

    __tablename__ = "enrollments"
    __table_args__ = (
        Index("ix_enrollments_student_id", "student_id", "term_id"),
        Index("ix_enrollments_section_id", "section_id", "state"),
    )

    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), primary_key=True)
    section_id: Mapped[int] = mapped_column(ForeignKey("sections.id"), primary_key=True)
    student_id: Mapped[int] = mapped_column(ForeignKey("students.id"), primary_key=True)
    state: Mapped[str] = mapped_column(String(12))
    credits: Mapped[int]  # hundredths
    # Corequisites as a tree of course ids; null if there are none.
    corequisites: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    reserve: Mapped[int | None]  # the reserve it was given under
    registration: Mapped[int] = mapped_column(BigInteger)  # seq of the event that gave the seat
    since: Mapped[datetime]
    seq: Mapped[int] = mapped_column(BigInteger)  # the event that this row reflects


class WaitlistEntry(Base):
    """A waitlist position, past or present. `state`: waiting, passed, promoted or left."""

    __tablename__ = "waitlist_positions"
    __table_args__ = (
        Index("ix_waitlist_positions_student_id", "student_id", "term_id"),
        Index("ix_waitlist_positions_section_id", "section_id", "ticket"),
    )

    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), primary_key=True)
    section_id: Mapped[int] = mapped_column(ForeignKey("sections.id"), primary_key=True)
    student_id: Mapped[int] = mapped_column(ForeignKey("students.id"), primary_key=True)
    state: Mapped[str] = mapped_column(String(12))
    # The order is by band, then by the seq of the joining event.
    band: Mapped[int] = mapped_column(SmallInteger, default=1, server_default="1")
    ticket: Mapped[int] = mapped_column(BigInteger)
    credits: Mapped[int]  # hundredths
    instead: Mapped[int | None]  # section to drop for it, in a swap
    since: Mapped[datetime]
    reasons: Mapped[list[Any]] = mapped_column(JSONB, default=list)
    seq: Mapped[int] = mapped_column(BigInteger)


WAITLIST_ORDER = (WaitlistEntry.band, WaitlistEntry.ticket)


class QueueRoom(Base):
    """The waiting room of a window: its seed, and how far its queue has moved.

    `public` is the public value that the draw uses, null while the seed alone orders it.
    """

    __tablename__ = "queue_rooms"

    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), primary_key=True)
    window_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    seed: Mapped[str] = mapped_column(String(64))
    public: Mapped[str | None] = mapped_column(String(300))
    called: Mapped[int]  # entries that the queue has passed
    complete: Mapped[bool]  # whether every entry is recorded
    seq: Mapped[int] = mapped_column(BigInteger)


class QueueEntryRecord(Base):
    """An entry in a waiting room.

    `state`: waiting, admitted, left (while waiting), ended (a visit) or removed (by a reset).
    """

    __tablename__ = "queue_entries"
    __table_args__ = (Index("ix_queue_entries_student_id", "student_id", "term_id"),)

    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), primary_key=True)
    window_id: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    entry: Mapped[str] = mapped_column(String(32), primary_key=True)  # its number in the draw
    student_id: Mapped[int]
    # among those who came after the opening; null: came early, so the seed decides
    number: Mapped[int | None]
    state: Mapped[str] = mapped_column(String(12))
    since: Mapped[datetime]  # when the student joined
    admitted_at: Mapped[datetime | None]
    seq: Mapped[int] = mapped_column(BigInteger)


class SectionSeats(Base):
    """The counts of a section as of event `seq`."""

    __tablename__ = "section_seats"

    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), primary_key=True)
    section_id: Mapped[int] = mapped_column(ForeignKey("sections.id"), primary_key=True)
    status: Mapped[str] = mapped_column(String(12))
    capacity: Mapped[int]
    waitlist_capacity: Mapped[int]
    prior: Mapped[int]
    enrolled: Mapped[int] = mapped_column(default=0)
    waiting: Mapped[int] = mapped_column(default=0)
    passed: Mapped[int] = mapped_column(default=0)  # waiting students who were skipped
    pool_id: Mapped[int | None]  # the seat pool; null = none
    pool_capacity: Mapped[int | None]
    # Lists of id, seats and until (ms); held seats by id; seats still reserved.
    reserves: Mapped[list[Any]] = mapped_column(JSONB, default=list)
    reserved: Mapped[dict[str, int]] = mapped_column(JSONB, default=dict)
    kept: Mapped[int] = mapped_column(default=0)
    seq: Mapped[int] = mapped_column(BigInteger)


class AuditRun(Base):
    """One requested audit of ledger, event log and read models."""

    __tablename__ = "audit_runs"
    __table_args__ = (
        Index("uq_audit_runs_running", "term_id", unique=True, postgresql_where="ended_at IS NULL"),
        Index("ix_audit_runs_term_id", "term_id", "id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"))
    account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    began_at: Mapped[datetime] = mapped_column(server_default=func.now())
    moved_at: Mapped[datetime] = mapped_column(server_default=func.now())
    ended_at: Mapped[datetime | None]
    step: Mapped[str] = mapped_column(String(20), default="waiting")
    done: Mapped[int] = mapped_column(default=0)  # events compared, of `events`
    events: Mapped[int] = mapped_column(default=0)
    found: Mapped[int] = mapped_column(default=0)  # differences
    # The first differences, in the form of portal/recorder/consistency/audit.py.
    differences: Mapped[list[dict[str, Any]]] = mapped_column(
        JSONB, default=list, server_default=text("'[]'")
    )
    error: Mapped[str] = mapped_column(default="")  # why it ended without a result
