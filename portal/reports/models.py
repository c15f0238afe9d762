"""The reports of ended windows: result and fairness, as of their closing."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, DateTime, ForeignKey, Integer, func
from sqlalchemy.dialects.postgresql import JSONB
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
    made_at: Mapped[datetime] = mapped_column(DateTime(timezone=True), server_default=func.now())
    students: Mapped[int] = mapped_column(Integer)
    result: Mapped[dict[str, Any]] = mapped_column(JSONB)
    fairness: Mapped[dict[str, Any]] = mapped_column(JSONB)
