"""What people are told, by which ways they want it, and what is still to leave the system."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    Boolean,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    String,
    Text,
    UniqueConstraint,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from portal.core.db import Base

Moment = DateTime(timezone=True)


class Notification(Base):
    """One piece of news for one account, made once for the event (`term_id`, `seq`) behind it."""

    __tablename__ = "notices"
    __table_args__ = (
        UniqueConstraint("account_id", "term_id", "seq", "kind", "lead", name="uq_notices_cause"),
        Index("ix_notices_account_id", "account_id", "id"),
        Index("ix_notices_unread", "account_id", postgresql_where="read_at IS NULL"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"))
    kind: Mapped[str] = mapped_column(String(20))  # see kinds.py
    section_id: Mapped[int | None] = mapped_column(ForeignKey("sections.id"))
    window_id: Mapped[int | None] = mapped_column(ForeignKey("windows.id"))
    data: Mapped[dict[str, Any]] = mapped_column(JSONB)  # what its words need
    made_at: Mapped[datetime] = mapped_column(Moment)
    read_at: Mapped[datetime | None] = mapped_column(Moment)
    seq: Mapped[int] = mapped_column(BigInteger)
    lead: Mapped[int] = mapped_column(Integer)  # minutes that a reminder comes ahead, else 0


class NotificationSetting(Base):
    """Whether an account wants mail about a kind of news; without a row it does."""

    __tablename__ = "notice_settings"

    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
    kind: Mapped[str] = mapped_column(String(20), primary_key=True)
    by_mail: Mapped[bool] = mapped_column(Boolean)


class OutboxEntry(Base):
    """What is to leave the system, or has: due from `due_at` on, and of no use after `until`.

    Either it is of a notice, or for an account, with what its words need.
    """

    __tablename__ = "outbox"
    __table_args__ = (
        UniqueConstraint("notice_id", "kind", name="uq_outbox_notice_id"),
        Index(
            "ix_outbox_due",
            "rank",
            "due_at",
            postgresql_where="sent_at IS NULL AND dead_at IS NULL",
        ),
        Index("ix_outbox_dead", "dead_at", postgresql_where="dead_at IS NOT NULL"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    kind: Mapped[str] = mapped_column(String(12))  # mail, code, alert
    notice_id: Mapped[int | None] = mapped_column(ForeignKey("notices.id"))
    account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    data: Mapped[dict[str, Any] | None] = mapped_column(JSONB)
    rank: Mapped[int] = mapped_column(SmallInteger)  # lower goes first
    due_at: Mapped[datetime] = mapped_column(Moment)
    until: Mapped[datetime] = mapped_column(Moment)
    tries: Mapped[int] = mapped_column(SmallInteger)  # that the other side has answered
    sent_at: Mapped[datetime | None] = mapped_column(Moment)
    dead_at: Mapped[datetime | None] = mapped_column(Moment)
    error: Mapped[str] = mapped_column(Text)
    # The code of what it follows from; see portal/core/correlation.py.
    correlation: Mapped[str] = mapped_column(String(64), default="", server_default="")


class Reminder(Base):
    """How far the students of a window as of event `seq` have been reminded of it."""

    __tablename__ = "reminders"

    window_id: Mapped[int] = mapped_column(ForeignKey("windows.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    lead: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    through: Mapped[int] = mapped_column(Integer)  # the last account told, in their order
    done_at: Mapped[datetime | None] = mapped_column(Moment)
