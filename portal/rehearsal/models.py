"""Rehearsals that somebody asked for, with how far they are and what came of them."""

from datetime import datetime
from typing import Any

from sqlalchemy import Boolean, DateTime, ForeignKey, Integer, String, Text, false, func, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from portal.core.db import Base

Moment = DateTime(timezone=True)


class Rehearsal(Base):
    """One rehearsal. `step`: waiting, making, playing, auditing, done."""

    __tablename__ = "rehearsals"

    id: Mapped[int] = mapped_column(primary_key=True)
    # Null = begun at the command line.
    account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    # Its practice term, once there is one.
    term_id: Mapped[int | None] = mapped_column(ForeignKey("terms.id"))
    students: Mapped[int] = mapped_column(Integer)
    seconds: Mapped[int] = mapped_column(Integer)
    # True until it has ended, then null: one at a time.
    busy: Mapped[bool | None] = mapped_column(Boolean, unique=True)
    step: Mapped[str] = mapped_column(String(12), default="waiting")
    stopping: Mapped[bool] = mapped_column(Boolean, default=False, server_default=false())
    began_at: Mapped[datetime] = mapped_column(Moment, server_default=func.now())
    moved_at: Mapped[datetime] = mapped_column(Moment, server_default=func.now())
    ended_at: Mapped[datetime | None] = mapped_column(Moment)
    # How it stands just now: see portal/rehearsal/crowd.py.
    now: Mapped[dict[str, Any]] = mapped_column(JSONB, default=dict, server_default=text("'{}'"))
    # What came of it: see portal/rehearsal/report.py.
    report: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    error: Mapped[str] = mapped_column(Text, default="", server_default="")
