"""Tells receivers what is due, at least once each; one in trouble is left alone for a while."""

import logging
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache

from portal.backend import backend
from portal.breakers import REST, Breaker, Resting
from portal.core import flags
from portal.core.correlation import following
from portal.core.db import transaction
from portal.core.metrics import WEBHOOKS
from portal.notifications.webhooks import outbox
from portal.notifications.webhooks.line import PATIENCE, Line, Undelivered
from portal.notifications.webhooks.message import Message, messages
from portal.notifications.webhooks.models import Delivery, Webhook

PAUSES = (5.0, 60.0, 5 * 60.0, 30 * 60.0, 2 * 60 * 60.0)  # seconds before each further try
LONGEST = 8.0  # seconds; the clock calls again where more is left
LOST = "Its event is not in the log."
PART = "webhook-"  # with the number of the receiver, the name of its breaker

log = logging.getLogger(__name__)


@dataclass
class Relay:
    """The outbox on one side, the receivers on the other."""

    pauses: Sequence[float] = PAUSES
    rest: float = REST
    patience: float = PATIENCE
    breakers: dict[int, Breaker] = field(default_factory=dict)
    last: int = 0  # the receiver that had its turn before

    def send_due(self, seconds: float = LONGEST) -> int:
        """Send what is due, a few to each receiver in turn, until there is no more to be done.

        Gives the number of deliveries dealt with; 0 while webhooks are switched off. Whoever is
        killed leaves no more than one batch that may be sent twice, under the same ids.
        """
        until, done = time.monotonic() + seconds, 0
        while time.monotonic() < until and flags.on("webhooks"):
            dealt = self._round(until)
            if not dealt:
                break
            done += dealt
        return done

    def _round(self, until: float) -> int:
        with transaction() as session:
            found = outbox.receivers(session)
        # Who comes after the last one is first: a slow one must not have the time of all.
        dealt = 0
        for webhook in sorted(found, key=lambda each: (each.id <= self.last, each.id)):
            if time.monotonic() > until:
                break
            self.last = webhook.id
            dealt += self._deal_with(webhook, until)
        return dealt

    def _deal_with(self, webhook: Webhook, until: float) -> int:
        """Send the next few, until one fails."""
        dealt, within = 0, backend().settings.webhook_networks
        with transaction() as session, closing(Line(webhook, within, self.patience)) as line:
            mine = outbox.take(session, webhook.id)
            with suppress(Resting):
                for delivery, message in zip(mine, messages(session, mine), strict=True):
                    taken = self._send(delivery, message, line)
                    dealt += 1
                    if not taken or time.monotonic() > until:
                        break
        return dealt

    def _send(self, delivery: Delivery, message: Message | None, line: Line) -> bool:
        """Whether the receiver may be told the next."""
        if message is None:
            delivery.error = LOST
            _give_up(delivery, f"{delivery.term_id}-{delivery.seq}")
            return True
        with following(message.correlation):
            try:
                self._breaker(line.webhook).call(line.tell, message)
            except Undelivered as error:
                self._later(delivery, message, str(error))
                return False
            delivery.tries += 1
            delivery.sent_at, delivery.error = datetime.now(UTC), ""
            WEBHOOKS.labels("sent").inc()
            log.info("Webhook %s has %s", delivery.webhook_id, message.id)
            return True

    def _later(self, delivery: Delivery, message: Message, error: str) -> None:
        """Have it tried again after a pause, longer each time; given up after the last."""
        delivery.error, pauses = error, self.pauses[delivery.tries :]
        delivery.tries += 1
        if pauses:
            delivery.due_at = datetime.now(UTC) + timedelta(seconds=pauses[0])
            WEBHOOKS.labels("put off").inc()
            log.warning("Webhook %s did not take %s", delivery.webhook_id, message.id)
        else:
            _give_up(delivery, message.id)

    def _breaker(self, webhook: Webhook) -> Breaker:
        name, part = f"Webhook {webhook.id}", f"{PART}{webhook.id}"
        return self.breakers.setdefault(
            webhook.id, Breaker(name, (Undelivered,), part, rest=self.rest, in_a_row=True)
        )


def _give_up(delivery: Delivery, what: str) -> None:
    delivery.dead_at = datetime.now(UTC)
    WEBHOOKS.labels("given up").inc()
    log.error("Webhook %s: %s is given up", delivery.webhook_id, what)


@cache
def of_this_process() -> Relay:
    """The one whose breakers remember."""
    return Relay()
