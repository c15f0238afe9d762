"""The webhook sender: sends due deliveries at least once; a failing receiver gets a pause."""

import ssl
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from dataclasses import dataclass, field
from functools import cache
from http.client import HTTPConnection, HTTPException, HTTPResponse
from socket import SHUT_RD, socket
from threading import Timer
from urllib.parse import urlsplit

from portal.backend import backend
from portal.core import flags
from portal.core.breakers import REST, Breaker, BreakerOpen
from portal.core.correlation import HEADER, following
from portal.core.db import transaction
from portal.core.i18n import _k
from portal.core.queue import NO_TERM, enqueue
from portal.notifications.outbox import mark_dead, mark_sent, retry_later
from portal.notifications.webhooks import addresses, outbox
from portal.notifications.webhooks.addresses import Networks
from portal.notifications.webhooks.models import Delivery, Webhook
from portal.notifications.webhooks.outbox import Message, messages
from portal.notifications.webhooks.receivers import signature

RECEIVER_TIMEOUT = 10.0  # seconds from the first step to the response
READ_BYTES = 1000  # bytes read of a response
SHOWN_CHARACTERS = 200  # characters of it that are shown


class Undelivered(Exception):
    """The receiver did not accept it; the message says why."""


class ReceiverConnection(HTTPConnection):
    """A connection that opens with the first message, and again after a failure.

    It follows no redirects.
    """

    def __init__(
        self, webhook: Webhook, within: Networks, time_limit: float = RECEIVER_TIMEOUT
    ) -> None:
        self.to = urlsplit(webhook.url)
        # Without a port, the end of an IPv6 address would be taken for one.
        super().__init__(self.to.hostname or "", addresses.port(self.to), timeout=time_limit)
        self.default_port = 443 if self.to.scheme == "https" else 80
        self.webhook = webhook
        self.within = within
        self.time_limit = time_limit
        self.until = 0.0  # deadline of the message, by the monotonic clock
        self.wire: socket | None = None  # `sock` is already None while the last response is read

    def connect(self) -> None:
        """Connect to a checked address; the name cannot redirect it afterwards."""
        wire = addresses.connect(self.to, self.until - time.monotonic(), self.within)
        self._use_socket(wire)
        if self.to.scheme == "https":
            context = ssl.create_default_context()
            wrapped = context.wrap_socket(
                wire, server_hostname=self.host, do_handshake_on_connect=False
            )
            self._use_socket(wrapped)
            wrapped.do_handshake()

    def deliver(self, message: Message) -> None:
        """Post a message; raise Undelivered unless the receiver confirms it."""
        # A receiver that sends one byte at a time would never reach a timeout of its own.
        self.until = time.monotonic() + self.time_limit
        timer = Timer(self.time_limit, self._stop_reading)
        timer.start()
        try:
            self._post(message)
        except (OSError, HTTPException, ValueError) as error:
            raise Undelivered(str(error) or type(error).__name__) from error
        finally:
            timer.cancel()

    def _post(self, message: Message) -> None:
        path = self.to.path or "/"
        target = f"{path}?{self.to.query}" if self.to.query else path
        try:
            self.request("POST", target, message.body, self._headers(message))
            with self.getresponse() as answer:  # the last one of a connection holds its socket
                body = answer.read(READ_BYTES)
                complete = answer.isclosed()
            if not complete:  # there is more, which we ignore
                self.close()
        except BaseException:
            self.close()
            raise
        if not 200 <= answer.status < 300:
            raise Undelivered(_response_text(answer, body))

    def _headers(self, message: Message) -> dict[str, str]:
        at = int(time.time())
        headers = {
            "Content-Type": "application/json",
            "User-Agent": "Fairseat",
            "webhook-id": message.id,
            "webhook-timestamp": str(at),
            "webhook-signature": signature(self.webhook.seed, message.id, at, message.body),
        }
        return headers | ({HEADER: message.correlation} if message.correlation else {})

    def _use_socket(self, wire: socket) -> None:
        """Store the socket to cut at the deadline; raise TimeoutError if it has passed."""
        self.sock = self.wire = wire
        wire.settimeout(self.time_limit)
        if time.monotonic() >= self.until:
            raise TimeoutError("timed out")

    def _stop_reading(self) -> None:
        if self.wire:
            with suppress(OSError):
                # TLS's own shutdown would continue without TLS. Do not shut down both directions:
                # data that still arrives would then cause a reset, and what was read would be lost.
                socket.shutdown(self.wire, SHUT_RD)


def _response_text(answer: HTTPResponse, body: bytes) -> str:
    text = " ".join(body.decode(errors="replace").split())[:SHOWN_CHARACTERS]
    return f"{answer.status} {answer.reason}{': ' if text else ''}{text}"


PAUSES = (5.0, 60.0, 5 * 60.0, 30 * 60.0, 2 * 60 * 60.0)  # seconds before each retry
LONGEST = 8.0  # seconds; the scheduler starts another job if more is left
EVENT_MISSING = _k("Its event is not in the event log.")
BREAKER_PREFIX = "webhook-"  # plus the receiver's id: the name of its breaker


@dataclass
class WebhookSender:
    """Sends deliveries from the outbox to the receivers."""

    pauses: Sequence[float] = PAUSES
    rest: float = REST
    time_limit: float = RECEIVER_TIMEOUT
    breakers: dict[int, Breaker] = field(default_factory=dict)
    last: int = 0  # the receiver that had the last turn

    def send_due(self, seconds: float = LONGEST) -> int:
        """Send due deliveries, a few to each receiver in turn, until none is left.

        Returns the number of deliveries handled; 0 while webhooks are switched off. A killed
        process leaves at most one batch that is sent twice, under the same ids.
        """
        until, done = time.monotonic() + seconds, 0
        while time.monotonic() < until and flags.on("webhooks"):
            handled = self._round(until)
            if not handled:
                break
            done += handled
        return done

    def _round(self, until: float) -> int:
        with transaction() as session:
            found = outbox.receivers(session)
        # Start after the last receiver: a slow one must not use up everybody's time.
        handled = 0
        for webhook in sorted(found, key=lambda each: (each.id <= self.last, each.id)):
            if time.monotonic() > until:
                break
            self.last = webhook.id
            handled += self._send_to(webhook, until)
        return handled

    def _send_to(self, webhook: Webhook, until: float) -> int:
        """Send the next few, until one fails."""
        handled, within = 0, backend().settings.webhook_networks
        with (
            transaction() as session,
            closing(ReceiverConnection(webhook, within, self.time_limit)) as connection,
        ):
            deliveries = outbox.take(session, webhook.id)
            with suppress(BreakerOpen):
                for delivery, message in zip(
                    deliveries, messages(session, deliveries), strict=True
                ):
                    accepted = self._send(delivery, message, connection)
                    handled += 1
                    if not accepted or time.monotonic() > until:
                        break
        return handled

    def _send(
        self, delivery: Delivery, message: Message | None, connection: ReceiverConnection
    ) -> bool:
        """Send a delivery; return whether the receiver can get the next."""
        if message is None:
            mark_dead(delivery, EVENT_MISSING)
            return True
        with following(message.correlation):
            try:
                self._breaker(connection.webhook).call(connection.deliver, message)
            except Undelivered as error:
                retry_later(delivery, str(error), self.pauses)
                return False
            delivery.tries += 1
            mark_sent(delivery)
            return True

    def _breaker(self, webhook: Webhook) -> Breaker:
        name, part = f"Webhook {webhook.id}", f"{BREAKER_PREFIX}{webhook.id}"
        return self.breakers.setdefault(
            webhook.id, Breaker(name, (Undelivered,), part, rest=self.rest, in_a_row=True)
        )


@cache
def webhook_sender() -> WebhookSender:
    """Return the process's sender, whose breakers keep their state."""
    return WebhookSender()


def deliver_due() -> None:
    """Send due webhook events of all terms; if more may be left, start another job."""
    if webhook_sender().send_due():
        enqueue(NO_TERM, ["deliver"])
