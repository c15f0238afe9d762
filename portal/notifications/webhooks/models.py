"""Webhook receivers, and the outbox of each."""

from datetime import datetime

from sqlalchemy import ARRAY, BigInteger, ForeignKey, Index, String, UniqueConstraint, func
from sqlalchemy.orm import Mapped, mapped_column

from portal.core.db import Base
from portal.core.i18n import _l
from portal.core.metrics import WEBHOOKS
from portal.notifications.models import Outgoing, dead_index, due_index
from portal.recorder.events import STUDENT_EVENTS


class Webhook(Base):
    """A receiver's address and the events sent to it; a deleted one is off for good."""

    __tablename__ = "webhooks"
    __table_args__ = (
        Index("uq_webhooks_url", "url", unique=True, postgresql_where="deleted_at IS NULL"),
    )

    id: Mapped[int] = mapped_column(primary_key=True)
    url: Mapped[str]
    names: Mapped[list[str]] = mapped_column(ARRAY(String(40)))  # see below
    # the secret's seed; the secret itself is never stored
    seed: Mapped[str] = mapped_column(String(64))
    is_on: Mapped[bool] = mapped_column(default=True)
    version: Mapped[int] = mapped_column(default=1)
    made_at: Mapped[datetime] = mapped_column(server_default=func.now())
    deleted_at: Mapped[datetime | None]


class Delivery(Outgoing):
    """One event for one receiver; without an event it is a test."""

    __tablename__ = "webhook_deliveries"
    __table_args__ = (
        UniqueConstraint("webhook_id", "term_id", "seq", name="uq_webhook_deliveries_event"),
        Index("ix_webhook_deliveries_webhook_id", "webhook_id", "id"),
        due_index("webhook_deliveries", "webhook_id", "due_at", "id"),
        dead_index("webhook_deliveries", "webhook_id", "dead_at"),
    )

    outcomes, worker = WEBHOOKS, "deliver"

    webhook_id: Mapped[int] = mapped_column(ForeignKey("webhooks.id"))
    term_id: Mapped[int | None] = mapped_column(ForeignKey("terms.id"))
    seq: Mapped[int | None] = mapped_column(BigInteger)

    @property
    def message_id(self) -> str:
        """Return the id that lets the receiver recognize the message."""
        return f"{TEST}-{self.id}" if self.seq is None else f"{self.term_id}-{self.seq}"

    @property
    def label(self) -> str:
        return f"Webhook {self.webhook_id}: {self.message_id}"


# The events that a receiver can get, by their names in the event log.

INTERNAL = {"swap_planned", "reconsidered", "refused"}  # no receiver gets them
TEST = "test"  # sent to see whether the receiver answers
EVENT_NAMES = {
    **{name: label for name, label in STUDENT_EVENTS.items() if name not in INTERNAL},
    "section_set": _l("A section was published or changed"),
    "window_set": _l("A window was scheduled or changed"),
    "window_opened": _l("A window opened"),
    "window_closed": _l("A window ended"),
}
