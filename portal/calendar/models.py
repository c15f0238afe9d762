"""Days off and calendar feeds."""

from datetime import date, datetime

from sqlalchemy import ForeignKey, Index, LargeBinary, String, func, text
from sqlalchemy.orm import Mapped, mapped_column

from portal.core.db import Base


class DayOff(Base):
    """A day of a term on which no class meets."""

    __tablename__ = "days_off"

    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), primary_key=True)
    day: Mapped[date] = mapped_column(primary_key=True)
    name: Mapped[str] = mapped_column(String(120))


class CalendarFeed(Base):
    """A student's calendar for other programs; `id` and `nonce` determine its secret address."""

    __tablename__ = "calendar_feeds"
    __table_args__ = (
        Index(
            "uq_calendar_feeds_live",
            "student_id",
            unique=True,
            postgresql_where=text("revoked_at IS NULL"),
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    student_id: Mapped[int] = mapped_column(ForeignKey("students.id"))
    nonce: Mapped[bytes] = mapped_column(LargeBinary(16))
    created_at: Mapped[datetime] = mapped_column(server_default=func.now())
    revoked_at: Mapped[datetime | None]
    # SHA-256 of the content when it was last fetched, and since when it is so.
    digest: Mapped[str] = mapped_column(String(64), default="")
    changed_at: Mapped[datetime] = mapped_column(server_default=func.now())
