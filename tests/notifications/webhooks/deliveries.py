"""Stored deliveries of webhooks."""

from collections.abc import Sequence

from sqlalchemy import select

from portal.core.db import transaction
from portal.notifications.webhooks.models import Delivery


def deliveries() -> Sequence[Delivery]:
    """Return all, in their order."""
    with transaction() as session:
        return session.scalars(select(Delivery).order_by(Delivery.id)).all()


def all_sent() -> bool:
    """Return whether every delivery was sent."""
    return all(each.sent_at for each in deliveries())
