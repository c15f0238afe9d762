"""What is to be told, and a relay that works until it is."""

from collections.abc import Callable, Sequence

from sqlalchemy import select

from portal.core.db import transaction
from portal.notifications.webhooks.models import Delivery
from portal.notifications.webhooks.sender import WebhookSender
from tests.recorder.processes import wait_for


def deliveries() -> Sequence[Delivery]:
    """All of them, in their order."""
    with transaction() as session:
        return session.scalars(select(Delivery).order_by(Delivery.id)).all()


def all_sent() -> bool:
    """Return whether nothing is left to be told."""
    return all(each.sent_at for each in deliveries())


def until(relay: WebhookSender, what: Callable[[], object]) -> None:
    """Let the relay work, as the clock would call it, until it is true."""

    def work() -> object:
        relay.send_due()
        return what()

    wait_for(work)
