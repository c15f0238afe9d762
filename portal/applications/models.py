"""Applications and their history."""

from datetime import datetime
from typing import Any

from sqlalchemy import (
    ARRAY,
    BigInteger,
    CheckConstraint,
    ForeignKey,
    Index,
    Integer,
    LargeBinary,
    SmallInteger,
    String,
    func,
    text,
)
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.orm import Mapped, mapped_column, relationship

from portal.catalog.models import Section, Term
from portal.core.db import Base
from portal.core.i18n import _l
from portal.core.metrics import CHARGES, DOCUMENTS
from portal.notifications.models import Outgoing, dead_index, due_index
from portal.people.models import Account, Student

DRAFT, REVIEW, MORE, ACTING = "draft", "review", "more", "acting"
APPROVED, DECLINED, WITHDRAWN = "approved", "declined", "withdrawn"
UNDECIDED = (DRAFT, REVIEW, MORE, ACTING)
ENDED = (APPROVED, DECLINED, WITHDRAWN)
EDITABLE = (DRAFT, MORE)  # the student may change the answers
STATES = {
    DRAFT: _l("Not sent yet"),
    REVIEW: _l("In review"),
    MORE: _l("More information needed"),
    ACTING: _l("Approved, takes effect soon"),
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


def _state_in(*states: str) -> str:
    """Return the SQL condition that the state is one of these."""
    return f"state IN ({','.join(repr(each) for each in states)})"


class Application(Base):
    """An application of a person; `answers` are under the fields' names.

    It is about a section, or about the whole term where `section_id` is null: then `course_ids` are
    the courses that it named when it was sent. `student_id` is null until a visiting student has a
    record. `fee` is in minor units. `stage` counts the decisions
    made so far. `version` rises with every change, so that a decision can name what the decider
    saw. `changed_at` is when that was; a reminder is no change. `approval` is the stored decision
    while it is carried out.
    """

    __tablename__ = "applications"
    __table_args__ = (
        CheckConstraint(_state_in(*STATES), name="state"),
        Index(
            "ix_applications_undecided",
            "account_id",
            "kind",
            "term_id",
            "section_id",
            unique=True,
            postgresql_nulls_not_distinct=True,
            postgresql_where=_state_in(*UNDECIDED),
        ),
        Index("ix_applications_acting", "id", postgresql_where=f"state = '{ACTING}'"),
        Index("ix_applications_state", "state", "submitted_at"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    kind: Mapped[str] = mapped_column(String(20))  # of portal.applications.kinds
    account_id: Mapped[int] = mapped_column(ForeignKey("accounts.id"), index=True)
    term_id: Mapped[int] = mapped_column(ForeignKey("terms.id"), index=True)
    student_id: Mapped[int | None] = mapped_column(ForeignKey("students.id"), index=True)
    section_id: Mapped[int | None] = mapped_column(ForeignKey("sections.id"), index=True)
    course_ids: Mapped[list[int]] = mapped_column(
        ARRAY(Integer), default=list, server_default=text("'{}'")
    )
    fee: Mapped[int] = mapped_column(default=0, server_default="0")
    state: Mapped[str] = mapped_column(String(9), default=DRAFT, server_default=DRAFT)
    stage: Mapped[int] = mapped_column(SmallInteger, default=0, server_default="0")
    version: Mapped[int] = mapped_column(default=1, server_default="1")
    answers: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default=text("'{}'"))
    approval: Mapped[dict[str, Any] | None] = mapped_column(JSONB(none_as_null=True))
    event: Mapped[int | None] = mapped_column(BigInteger)  # of the ledger, once it was carried out
    made_at: Mapped[datetime] = mapped_column(server_default=func.now())
    changed_at: Mapped[datetime] = mapped_column(server_default=func.now())
    submitted_at: Mapped[datetime | None]
    decided_at: Mapped[datetime | None]
    reminded_at: Mapped[datetime | None]  # of the last day
    erased_at: Mapped[datetime | None]  # answers and documents are deleted

    account: Mapped[Account] = relationship()
    term: Mapped[Term] = relationship()
    student: Mapped[Student | None] = relationship()
    section: Mapped[Section | None] = relationship()
    entries: Mapped[list["ApplicationEntry"]] = relationship(order_by="ApplicationEntry.id")
    documents: Mapped[list["ApplicationDocument"]] = relationship(
        order_by="ApplicationDocument.id", back_populates="application"
    )
    charges: Mapped[list["Charge"]] = relationship(
        order_by="Charge.id", back_populates="application"
    )

    @property
    def paid(self) -> bool:
        """Return whether the fee is paid, or there is none."""
        return not self.fee or any(each.state == PAID for each in self.charges)

    @property
    def checked(self) -> bool:
        """Return whether every document is checked and none is refused, or there is none."""
        return all(each.state == "ok" for each in self.documents)

    def note_change(self) -> None:
        """Raise its version, and restart the time for which it is kept."""
        self.version += 1
        self.changed_at = func.now()


class ApplicationDocument(Outgoing):
    """A document of an application, due to be checked; `sent_at` is when that was done.

    `refused` is the code of why the checks refused it. The file is kept under its digest.
    """

    __tablename__ = "application_documents"
    __table_args__ = (
        due_index("application_documents", "due_at"),
        dead_index("application_documents", "dead_at"),
    )
    outcomes, worker = DOCUMENTS, "check"

    application_id: Mapped[int] = mapped_column(ForeignKey("applications.id"), index=True)
    name: Mapped[str] = mapped_column(String(100))  # as the student calls it
    part: Mapped[str] = mapped_column(String(20))  # which of the kind's documents
    size: Mapped[int]  # bytes
    digest: Mapped[str] = mapped_column(String(64))  # SHA-256
    type: Mapped[str] = mapped_column(String(4))  # pdf, jpg or png
    refused: Mapped[str] = mapped_column(String(12), default="", server_default="")
    pages: Mapped[int] = mapped_column(SmallInteger, default=1, server_default="1")
    made_at: Mapped[datetime] = mapped_column(server_default=func.now())

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
    __table_args__ = (Index("ix_application_entries_account", "account_id", "at"),)

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    application_id: Mapped[int] = mapped_column(ForeignKey("applications.id"), index=True)
    at: Mapped[datetime] = mapped_column(server_default=func.now())
    account_id: Mapped[int | None] = mapped_column(ForeignKey("accounts.id"))
    action: Mapped[str] = mapped_column(String(12))
    note: Mapped[str] = mapped_column(default="", server_default="")
    data: Mapped[dict[str, Any]] = mapped_column(default=dict, server_default=text("'{}'"))

    account: Mapped[Account | None] = relationship()


# A charge: to be opened at the provider, open for payment, and how it ended.
NEW, OPEN, PAID, FAILED, EXPIRED = "new", "open", "paid", "failed", "expired"
REFUNDING, REFUNDED = "refunding", "refunded"
CHARGE_STATES = {
    NEW: _l("Waiting for the payment provider"),
    OPEN: _l("Not paid yet"),
    PAID: _l("Paid"),
    FAILED: _l("The payment failed"),
    EXPIRED: _l("The payment was not finished in time"),
    REFUNDING: _l("The refund is under way"),
    REFUNDED: _l("Refunded"),
}
CHARGE_TONES = {NEW: "wait", OPEN: "wait", PAID: "go", FAILED: "stop", EXPIRED: "few"}


class Charge(Outgoing):
    """A payment of a fee, due for the next call to the provider; `sent_at` is when none is left.

    `amount` is in minor units. `reference` is the provider's checkout, `payment` what it refunds.
    `attempt` rises with each call that the provider has answered with an error.
    """

    __tablename__ = "application_charges"
    __table_args__ = (
        CheckConstraint(_state_in(*CHARGE_STATES), name="state"),
        Index(
            "ix_application_charges_live",
            "application_id",
            unique=True,
            postgresql_where=_state_in(NEW, OPEN, PAID),
        ),
        due_index("application_charges", "due_at"),
        dead_index("application_charges", "dead_at"),
        Index("ix_application_charges_reference", "reference"),
    )
    outcomes, worker = CHARGES, "charge"

    application_id: Mapped[int] = mapped_column(ForeignKey("applications.id"), index=True)
    amount: Mapped[int]
    currency: Mapped[str] = mapped_column(String(3))  # ISO 4217
    provider: Mapped[str] = mapped_column(String(8))
    state: Mapped[str] = mapped_column(String(9), default=NEW, server_default=NEW)
    attempt: Mapped[int] = mapped_column(default=0, server_default="0")
    reference: Mapped[str] = mapped_column(String(255), default="", server_default="")
    url: Mapped[str] = mapped_column(default="", server_default="")
    payment: Mapped[str] = mapped_column(String(255), default="", server_default="")
    made_at: Mapped[datetime] = mapped_column(server_default=func.now())
    paid_at: Mapped[datetime | None]
    refunded_at: Mapped[datetime | None]

    application: Mapped[Application] = relationship(back_populates="charges")

    @property
    def label(self) -> str:
        return f"Charge {self.id}"

    @property
    def key(self) -> str:
        """Return the idempotency key of the next call to the provider."""
        return f"{self.id}-{self.attempt}"


class PaymentEvent(Base):
    """A message of a payment provider that was handled, so that a replay changes nothing."""

    __tablename__ = "payment_events"

    provider: Mapped[str] = mapped_column(String(8), primary_key=True)
    id: Mapped[str] = mapped_column(String(255), primary_key=True)
    at: Mapped[datetime] = mapped_column(server_default=func.now())


class Upload(Base):
    """A document that arrives in pieces; `received` counts the bytes that are stored."""

    __tablename__ = "application_uploads"

    id: Mapped[int] = mapped_column(BigInteger, primary_key=True)
    application_id: Mapped[int] = mapped_column(ForeignKey("applications.id"), index=True)
    part: Mapped[str] = mapped_column(String(20))
    name: Mapped[str] = mapped_column(String(100))
    size: Mapped[int]
    digest: Mapped[str] = mapped_column(String(64))  # SHA-256, as its sender says
    received: Mapped[int] = mapped_column(default=0, server_default="0")
    made_at: Mapped[datetime] = mapped_column(server_default=func.now())


class UploadPiece(Base):
    """A piece of a document that arrives, from the byte `start` on."""

    __tablename__ = "application_upload_pieces"

    upload_id: Mapped[int] = mapped_column(
        ForeignKey("application_uploads.id", ondelete="CASCADE"), primary_key=True
    )
    start: Mapped[int] = mapped_column(primary_key=True, autoincrement=False)
    content: Mapped[bytes] = mapped_column(LargeBinary)


class RetentionRule(Base):
    """For how many days after the last change of an application of a kind it is kept."""

    __tablename__ = "application_retention"

    kind: Mapped[str] = mapped_column(String(20), primary_key=True)
    days: Mapped[int]


ACTIONS = {
    "submit": _l("Sent"),
    "more": _l("More information requested"),
    "forward": _l("Approved by the department"),
    "approve": _l("Approved"),
    "done": _l("Approved and carried out"),
    "refused": _l("Approved, but it could not take effect"),
    "decline": _l("Declined"),
    "withdraw": _l("Withdrawn"),
    "checked": _l("Documents checked"),
    "paid": _l("Fee paid"),
    "unpaid": _l("The payment failed"),
    "expired": _l("The payment was not finished in time"),
    "refunding": _l("Refund started"),
    "refund": _l("Fee refunded"),
    "erase": _l("Answers and documents deleted"),
}
