"""The reports of ended windows, as of their closing, and who gets which report by mail."""

from datetime import datetime, time
from typing import Any

from sqlalchemy import BigInteger, ForeignKey, String, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column

from portal.core.db import Base


class WindowReport(Base):
    """A window's report, made once; nothing later changes it."""

    __tablename__ = "window_reports"

    window_id: Mapped[int] = mapped_column(
        ForeignKey("windows.id"), primary_key=True, autoincrement=False
    )
    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), index=True)
    seq: Mapped[int] = mapped_column(BigInteger)  # of the event that closed it
    made_at: Mapped[datetime] = mapped_column(server_default=func.now())
    students: Mapped[int]
    result: Mapped[dict[str, Any]]
    fairness: Mapped[dict[str, Any]]


class ReportSubscription(Base):
    """A report of a term that an account gets by mail at set times."""

    __tablename__ = "report_subscriptions"
    __table_args__ = (
        UniqueConstraint("account_id", "report", "term_id", name="uq_report_subscriptions"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"))
    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"))
    report: Mapped[str] = mapped_column(String(20))  # of term_reports.REPORTS
    days: Mapped[str] = mapped_column(String(10))  # of subscriptions.DAYS
    at: Mapped[time]  # in the institution's time zone
    # When the next mail is due; null = it has stopped.
    next_at: Mapped[datetime | None] = mapped_column(index=True)
    last_at: Mapped[datetime | None]
    # Why no mail was sent the last time, of subscriptions.RESULTS; blank if one was queued.
    result: Mapped[str] = mapped_column(String(12), default="")
    # The last mail, as long as the outbox has it.
    mail_id: Mapped[int | None] = mapped_column(BigInteger)
