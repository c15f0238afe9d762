"""Plans in PostgreSQL: one row for a student and a term."""

from datetime import datetime
from typing import Any

from sqlalchemy import DateTime, ForeignKey, Integer, func
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from portal.core.db import Base


class PlanRow(Base):
    """A student's plan of a term; `lines` as portal/plans/pack.py writes them."""

    __tablename__ = "plans"

    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), primary_key=True)
    student_id: Mapped[int] = mapped_column(ForeignKey("students.id"), primary_key=True)
    lines: Mapped[list[Any]] = mapped_column(JSONB)
    version: Mapped[int] = mapped_column(Integer)
    updated_at: Mapped[datetime] = mapped_column(
        DateTime(timezone=True), server_default=func.now(), onupdate=func.now()
    )
