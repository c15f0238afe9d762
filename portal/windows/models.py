"""Selection windows as last recorded; the ledger decides by its own copy."""

from datetime import datetime
from typing import Any

from sqlalchemy import BigInteger, DateTime, ForeignKey, Integer, Sequence, String
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column

from portal.core.db import Base

window_ids = Sequence("window_ids", metadata=Base.metadata)


class Window(Base):
    """A window, written by the recorder alone; `state`: scheduled, canceled or closed (early)."""

    __tablename__ = "windows"

    id: Mapped[int] = mapped_column(Integer, primary_key=True, autoincrement=False)
    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), index=True)
    name: Mapped[str] = mapped_column(String(120))
    opens_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    closes_at: Mapped[datetime] = mapped_column(DateTime(timezone=True))
    state: Mapped[str] = mapped_column(String(12))
    # Empty = everyone; otherwise a student must match every entry.
    cohort: Mapped[dict[str, Any]] = mapped_column(JSONB)
    seq: Mapped[int] = mapped_column(BigInteger)
