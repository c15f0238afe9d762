"""Requests of instructors: more seats for a section, or an override for one student."""

from datetime import datetime

from sqlalchemy import CheckConstraint, ForeignKey, Index, String, func, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlalchemy.orm import Mapped, mapped_column, relationship

from portal.catalog.models import Section
from portal.core.db import Base
from portal.core.i18n import _l
from portal.people.models import Account, Student


class InstructorRequest(Base):
    """One request about a section: for seats (`capacity` then, `wanted`), or for an override.

    An approval may give less: `given_seats`, the capacity from then on, or `given_waives`.
    """

    __tablename__ = "instructor_requests"
    __table_args__ = (
        CheckConstraint("kind IN ('seats','override')", name="kind"),
        CheckConstraint("state IN ('open','approved','declined','withdrawn')", name="state"),
        CheckConstraint(
            "CASE kind WHEN 'seats' THEN wanted > capacity ELSE student_id IS NOT NULL END",
            name="content",
        ),
        # The same request can't be made twice, however often a button is pressed.
        Index(
            "ix_instructor_requests_open",
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
    capacity: Mapped[int | None]
    wanted: Mapped[int | None]
    student_id: Mapped[int | None] = mapped_column(ForeignKey("students.id"))
    # Codes of portal.registration.reasons.PERMISSIONS.
    waives: Mapped[list[str]] = mapped_column(ARRAY(String(40)), default=list)
    given_seats: Mapped[int | None]
    given_waives: Mapped[list[str] | None] = mapped_column(ARRAY(String(40)))
    reason: Mapped[str]
    made_at: Mapped[datetime] = mapped_column(server_default=func.now())
    state: Mapped[str] = mapped_column(String(9), default="open", server_default="open")
    decided_by: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    decided_at: Mapped[datetime | None]
    note: Mapped[str] = mapped_column(default="", server_default="")

    section: Mapped[Section] = relationship()
    account: Mapped[Account] = relationship(foreign_keys=account_id)
    student: Mapped[Student | None] = relationship()
    decider: Mapped[Account | None] = relationship(foreign_keys=decided_by)

    @property
    def in_part(self) -> bool:
        """Return whether less was given than was asked for."""
        given = (self.given_seats or self.wanted, self.given_waives or self.waives)
        return self.state == "approved" and given != (self.wanted, self.waives)


STATES = {
    "open": _l("Open"),
    "approved": _l("Approved"),
    "declined": _l("Declined"),
    "withdrawn": _l("Withdrawn"),
}
TONES = {"open": "wait", "approved": "go", "declined": "stop", "withdrawn": ""}
REFUSED = {
    "canceled": _l("The section is canceled, so it can’t be changed."),
    "enough": _l("The section already has at least this many seats."),
    "repeated": _l("There is already an open request for this."),
    "permitted": _l("The student already has this permission."),
    "gone": _l("The student’s record is closed."),
    "more": _l("The request asks for fewer seats than that. Edit the section to add more."),
    "other_rules": _l("Choose from the rules that were asked for."),
    "decided": _l("This request is already decided."),
    "not_yours": _l("You can only withdraw your own requests."),
}
