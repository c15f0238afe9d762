"""Requests of instructors, and what became of them."""

from datetime import datetime

from sqlalchemy import (
    CheckConstraint,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    String,
    Text,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column, relationship

from portal.catalog.models import Section
from portal.core.db import Base
from portal.people.models import Account, Student

Moment = DateTime(timezone=True)


class Request(Base):
    """One request about a section: for seats (`capacity` then, `wanted`), or for an override."""

    __tablename__ = "requests"
    __table_args__ = (
        CheckConstraint("kind IN ('seats','override')", name="kind"),
        CheckConstraint("state IN ('open','approved','declined','withdrawn')", name="state"),
        CheckConstraint(
            "CASE kind WHEN 'seats' THEN wanted > capacity ELSE student_id IS NOT NULL END",
            name="content",
        ),
        # The same can't be asked twice, however often a button is pressed.
        Index(
            "ix_requests_open",
            "kind",
            "section_id",
            text("coalesce(student_id, 0)"),
            unique=True,
            postgresql_where="state = 'open'",
        ),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(8))
    section_id: Mapped[int] = mapped_column(ForeignKey("sections.id"), index=True)
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), index=True)  # who asks
    capacity: Mapped[int | None] = mapped_column(Integer)
    wanted: Mapped[int | None] = mapped_column(Integer)
    student_id: Mapped[int | None] = mapped_column(ForeignKey("students.id"))
    # Codes of portal.registration.reasons.PERMISSIONS.
    waives: Mapped[list[str]] = mapped_column(ARRAY(String(40)), default=list)
    reason: Mapped[str] = mapped_column(Text)
    made_at: Mapped[datetime] = mapped_column(Moment, server_default=func.now())
    state: Mapped[str] = mapped_column(String(9), default="open", server_default="open")
    decided_by: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    decided_at: Mapped[datetime | None] = mapped_column(Moment)
    note: Mapped[str] = mapped_column(Text, default="", server_default="")

    section: Mapped[Section] = relationship()
    account: Mapped[Account] = relationship(foreign_keys=account_id)
    student: Mapped[Student | None] = relationship()
    decider: Mapped[Account | None] = relationship(foreign_keys=decided_by)
