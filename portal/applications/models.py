"""Applications and their history."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    BigInteger,
    CheckConstraint,
    DateTime,
    ForeignKey,
    Index,
    Integer,
    SmallInteger,
    String,
    Text,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column, relationship

from portal.catalog.models import Section
from portal.core.db import Base
from portal.core.i18n import _l
from portal.core.metrics import DOCUMENTS
from portal.notifications.models import Outgoing
from portal.people.models import Account, Student

Moment = DateTime(timezone=True)

DRAFT, REVIEW, MORE, ACTING = "draft", "review", "more", "acting"
APPROVED, DECLINED, WITHDRAWN = "approved", "declined", "withdrawn"
UNDECIDED = (DRAFT, REVIEW, MORE, ACTING)
EDITABLE = (DRAFT, MORE)  # the student may change the answers
STATES = {
    DRAFT: _l("Not sent yet"),
    REVIEW: _l("In review"),
    MORE: _l("More is needed"),
    ACTING: _l("Approved, being carried out"),
    APPROVED: _l("Approved"),
    DECLINED: _l("Declined"),
    WITHDRAWN: _l("Withdrawn"),
}
TONES = {
    DRAFT: "",
    REVIEW: "wait",
    MORE: "few",
    ACTING: "go",
    APPROVED: "go",
    DECLINED: "stop",
    WITHDRAWN: "",
}


class Application(Base):
    """An application of a student about one section; `answers` are under the fields' names.

    `stage` counts the decisions made so far. `version` rises with every change, so that a decision
    can name what the decider saw. `approval` is the stored decision while it is carried out.
    """

    __tablename__ = "applications"
    __table_args__ = (
        CheckConstraint(
            f"state IN ('{DRAFT}','{REVIEW}','{MORE}','{ACTING}','{APPROVED}','{DECLINED}',"
            f"'{WITHDRAWN}')",
            name="state",
        ),
        Index(
            "ix_applications_undecided",
            "student_id",
            "kind",
            "section_id",
            unique=True,
            postgresql_where=f"state IN ('{DRAFT}','{REVIEW}','{MORE}','{ACTING}')",
        ),
        Index("ix_applications_acting", "id", postgresql_where=f"state = '{ACTING}'"),
        Index("ix_applications_state", "state", "submitted_at"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(20))  # of portal.applications.kinds
    student_id: Mapped[int] = mapped_column(ForeignKey("students.id"), index=True)
    section_id: Mapped[int] = mapped_column(ForeignKey("sections.id"), index=True)
    state: Mapped[str] = mapped_column(String(9), default=DRAFT, server_default=DRAFT)
    stage: Mapped[int] = mapped_column(SmallInteger, default=0, server_default="0")
    version: Mapped[int] = mapped_column(Integer, default=1, server_default="1")
    answers: Mapped[dict[str, Any]] = mapped_column(
        JSONB, default=dict, server_default=text("'{}'")
    )
    approval: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    event: Mapped[int | None] = mapped_column(BigInteger)  # of the ledger, once it was carried out
    made_at: Mapped[datetime] = mapped_column(Moment, server_default=func.now())
    submitted_at: Mapped[datetime | None] = mapped_column(Moment)
    decided_at: Mapped[datetime | None] = mapped_column(Moment)

    student: Mapped[Student] = relationship()
    section: Mapped[Section] = relationship()
    entries: Mapped[list["ApplicationEntry"]] = relationship(order_by="ApplicationEntry.id")
    documents: Mapped[list["ApplicationDocument"]] = relationship(
        order_by="ApplicationDocument.id", back_populates="application"
    )


class ApplicationDocument(Outgoing):
    """A document of an application, due to be checked; `sent_at` is when that was done.

    `refused` is the code of why the checks refused it. The file is kept under its digest.
    """

    __tablename__ = "application_documents"
    __table_args__ = (
        Index(
            "ix_application_documents_due",
            "due_at",
            postgresql_where="sent_at IS NULL AND dead_at IS NULL",
        ),
        Index("ix_application_documents_dead", "dead_at", postgresql_where="dead_at IS NOT NULL"),
    )
    outcomes = DOCUMENTS

    application_id: Mapped[int] = mapped_column(ForeignKey("applications.id"), index=True)
    name: Mapped[str] = mapped_column(String(100))  # as the student calls it
    part: Mapped[str] = mapped_column(String(20))  # which of the kind's documents
    size: Mapped[int] = mapped_column(Integer)  # bytes
    digest: Mapped[str] = mapped_column(String(64))  # SHA-256
    type: Mapped[str] = mapped_column(String(4))  # pdf, jpg or png
    refused: Mapped[str] = mapped_column(String(12), default="", server_default="")
    made_at: Mapped[datetime] = mapped_column(Moment, server_default=func.now())

    application: Mapped[Application] = relationship(back_populates="documents")

    @property
    def label(self) -> str:
        return f"Document {self.id}"

    @property
    def state(self) -> str:
        """Return one of DOCUMENT_STATES."""
        if self.dead_at:
            return "dead"
        if not self.sent_at:
            return "waiting"
        return "refused" if self.refused else "ok"


DOCUMENT_STATES = {
    "waiting": _l("Being checked"),
    "ok": _l("Checked"),
    "refused": _l("Refused"),
    "dead": _l("Could not be checked"),
}
DOCUMENT_TONES = {"waiting": "wait", "ok": "go", "refused": "stop", "dead": "few"}


class ApplicationEntry(Base):
    """A step in the history of an application; `action` is one of ACTIONS."""

    __tablename__ = "application_entries"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    application_id: Mapped[int] = mapped_column(ForeignKey("applications.id"), index=True)
    at: Mapped[datetime] = mapped_column(Moment, server_default=func.now())
    account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    action: Mapped[str] = mapped_column(String(12))
    note: Mapped[str] = mapped_column(Text, default="", server_default="")
    data: Mapped[dict[str, Any]] = mapped_column(JSONB, default=dict, server_default=text("'{}'"))

    account: Mapped[Account | None] = relationship()


ACTIONS = {
    "submit": _l("Sent"),
    "more": _l("More was asked for"),
    "forward": _l("Approved by the department"),
    "approve": _l("Approved"),
    "done": _l("Approved and carried out"),
    "refused": _l("Could not be carried out"),
    "decline": _l("Declined"),
    "withdraw": _l("Withdrawn"),
}
