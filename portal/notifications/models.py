"""Notifications, their settings, and mail."""

from datetime import datetime
from typing import Any, ClassVar

from prometheus_client import Counter
from sqlalchemy import BigInteger, ForeignKey, Index, SmallInteger, String, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column, relationship, validates

from portal.catalog.models import Term
from portal.core.db import Base
from portal.core.metrics import MAILS


class Notification(Base):
    """A notification for one account, created once for its event (`term_id`, `seq`)."""

    __tablename__ = "notifications"
    __table_args__ = (
        UniqueConstraint("account_id", "term_id", "seq", "kind", "lead", name="uq_notices_cause"),
        Index("ix_notifications_account_id", "account_id", "id"),
        Index("ix_notifications_unread", "account_id", postgresql_where="read_at IS NULL"),
    )

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"))
    kind: Mapped[str] = mapped_column(String(20))  # see kinds.py
    section_id: Mapped[int | None] = mapped_column(ForeignKey("sections.id"))
    window_id: Mapped[int | None] = mapped_column(ForeignKey("windows.id"))
    data: Mapped[dict[str, Any]]  # what its text needs
    made_at: Mapped[datetime]
    read_at: Mapped[datetime | None]
    seq: Mapped[int] = mapped_column(BigInteger)
    lead: Mapped[int]  # minutes that a reminder comes ahead, otherwise 0

    term: Mapped[Term] = relationship()


class NotificationSetting(Base):
    """Whether an account wants mail of a kind; without a row it does."""

    __tablename__ = "notification_settings"

    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), primary_key=True)
    kind: Mapped[str] = mapped_column(String(20), primary_key=True)
    by_mail: Mapped[bool]


def due_index(table: str, *columns: str) -> Index:
    """Return the index of rows that wait to be sent."""
    waits = "sent_at IS NULL AND dead_at IS NULL"
    return Index(f"ix_{table}_due", *columns, postgresql_where=waits)


def dead_index(table: str, *columns: str) -> Index:
    return Index(f"ix_{table}_dead", *columns, postgresql_where="dead_at IS NOT NULL")


class Outgoing(Base):
    """Something to send: due from `due_at` on, retried, then sent or a dead letter."""

    __abstract__ = True
    outcomes: ClassVar[Counter]  # counts each attempt
    worker: ClassVar[str]  # the job of portal/core/queue.py that handles what is due

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    due_at: Mapped[datetime] = mapped_column(default=func.now())
    tries: Mapped[int] = mapped_column(SmallInteger, default=0)  # attempts that were answered
    error: Mapped[str] = mapped_column(default="")  # of the last attempt
    sent_at: Mapped[datetime | None]
    dead_at: Mapped[datetime | None]

    @property
    def label(self) -> str:
        """Return its name in logs."""
        raise NotImplementedError

    @validates("error")
    def _without_nul(self, _name: str, error: str) -> str:
        """Leave out what a server may say and PostgreSQL cannot store."""
        return error.replace("\0", "")


class OutboxEntry(Outgoing):
    """An outgoing mail, which expires after `until`.

    It belongs to a notification, or else to an account, with the data that its text needs.
    """

    __tablename__ = "outbox"
    __table_args__ = (
        UniqueConstraint("notification_id", "kind", name="uq_outbox_notification_id"),
        due_index("outbox", "rank", "due_at"),
        dead_index("outbox", "dead_at"),
    )
    outcomes, worker = MAILS, "notify"

    kind: Mapped[str] = mapped_column(String(12))  # mail, or a kind of outbox.py
    notification_id: Mapped[int | None] = mapped_column(ForeignKey("notifications.id"))
    account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    data: Mapped[dict[str, Any] | None]
    rank: Mapped[int] = mapped_column(SmallInteger)  # lower goes first
    until: Mapped[datetime]
    # The correlation id of its cause; see portal/core/correlation.py.
    correlation: Mapped[str] = mapped_column(String(64), default="", server_default="")

    @property
    def label(self) -> str:
        return f"Mail {self.id}"


class MailText(Base):
    """A version of the text of a kind of mail; without a body it is the standard text again.

    It is for the entries of the outbox with a number above `after`.
    """

    __tablename__ = "mail_texts"
    __table_args__ = (Index("ix_mail_texts_kind", "kind", "language", "id"),)

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(20))  # see mail_texts.py
    language: Mapped[str] = mapped_column(String(12))
    subject: Mapped[str | None]
    body: Mapped[str | None]
    after: Mapped[int] = mapped_column(BigInteger)
    made_at: Mapped[datetime] = mapped_column(server_default=func.now())
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))


class Reminder(Base):
    """How far reminders of a window, as of event `seq`, have been sent."""

    __tablename__ = "reminders"

    window_id: Mapped[int] = mapped_column(ForeignKey("windows.id"), primary_key=True)
    seq: Mapped[int] = mapped_column(BigInteger, primary_key=True, autoincrement=False)
    lead: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    through: Mapped[int]  # the last account reminded, in order
    done_at: Mapped[datetime | None]
