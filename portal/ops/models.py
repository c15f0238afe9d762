"""What operators switch and ask for."""

from datetime import datetime
from typing import Any

from sqlalchemy import DateTime, ForeignKey, Index, Integer, String, Text, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from portal.core.db import Base

Moment = DateTime(timezone=True)


class AuditRun(Base):
    """One comparison of ledger, event log and read models that somebody asked for."""

    __tablename__ = "audit_runs"
    __table_args__ = (
        Index("uq_audit_runs_running", "term_id", unique=True, postgresql_where="ended_at IS NULL"),
        Index("ix_audit_runs_term_id", "term_id", "id"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"))
    account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    began_at: Mapped[datetime] = mapped_column(Moment, server_default=func.now())
    moved_at: Mapped[datetime] = mapped_column(Moment, server_default=func.now())
    ended_at: Mapped[datetime | None] = mapped_column(Moment)
    step: Mapped[str] = mapped_column(String(20), default="waiting")
    done: Mapped[int] = mapped_column(Integer, default=0)  # events compared, of `events`
    events: Mapped[int] = mapped_column(Integer, default=0)
    found: Mapped[int] = mapped_column(Integer, default=0)  # differences
    # The first of them, as portal/recorder/consistency/audit.py tells them.
    differences: Mapped[list[dict[str, Any]]] = mapped_column(
        JSONB, default=list, server_default=text("'[]'")
    )
    error: Mapped[str] = mapped_column(Text, default="")  # why it ended without an answer
