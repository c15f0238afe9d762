"""A connection to a receiver, over which messages are posted."""

import ssl
import time
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse
from socket import SHUT_RD, socket
from threading import Timer
from urllib.parse import urlsplit

from portal.core.correlation import HEADER
from portal.notifications.webhooks import reach
from portal.notifications.webhooks.message import Message
from portal.notifications.webhooks.models import Webhook
from portal.notifications.webhooks.reach import Networks
from portal.notifications.webhooks.secret import signature

PATIENCE = 10.0  # seconds for an answer, from the first step to it
READ = 1000  # bytes of an answer
SHOWN = 200  # characters of it


class Undelivered(Exception):  # noqa: N818  a state of the world, not a mistake
    """The receiver did not take it; the message says why."""


class Line(HTTPConnection):
    """Begun with the first message, and anew after it broke; it follows no redirection."""

    def __init__(self, webhook: Webhook, within: Networks, patience: float = PATIENCE) -> None:
        self.to = urlsplit(webhook.url)
        # Without a port the end of an IPv6 address would be taken for it.
        super().__init__(self.to.hostname or "", reach.port(self.to), timeout=patience)
        self.default_port = 443 if self.to.scheme == "https" else 80
        self.webhook = webhook
        self.within = within
        self.patience = patience
        self.until = 0.0  # of the monotonic clock: when the message is late
        self.wire: socket | None = None  # `sock` is None already while the last answer is read

    def connect(self) -> None:
        """To an address that may be asked, which the name can't change any more."""
        wire = reach.connect(self.to, self.until - time.monotonic(), self.within)
        self._hold(wire)
        if self.to.scheme == "https":
            context = ssl.create_default_context()
            wrapped = context.wrap_socket(
                wire, server_hostname=self.host, do_handshake_on_connect=False
            )
            self._hold(wrapped)
            wrapped.do_handshake()

    def tell(self, message: Message) -> None:
        """Post a message; raises Undelivered unless the receiver says that it has it."""
        # A receiver that sends one byte at a time would never run into a time-out of its own.
        self.until = time.monotonic() + self.patience
        timer = Timer(self.patience, self._cut)
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
            answer = self.getresponse()
            said = answer.read(READ)
            if not answer.isclosed():  # there is more, which is not for us
                self.close()
        except BaseException:
            self.close()
            raise
        if not 200 <= answer.status < 300:
            raise Undelivered(_told(answer, said))

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

    def _hold(self, wire: socket) -> None:
        """Have it as the one to be cut; raises TimeoutError where that has come too late."""
        self.sock = self.wire = wire
        wire.settimeout(self.patience)
        if time.monotonic() >= self.until:
            raise TimeoutError("timed out")

    def _cut(self) -> None:
        if self.wire:
            with suppress(OSError):
                # TLS's own would go on without TLS. Not both ways: what still came would then be a
                # reset, in place of what has been read.
                socket.shutdown(self.wire, SHUT_RD)


def _told(answer: HTTPResponse, said: bytes) -> str:
    text = " ".join(said.decode(errors="replace").split())[:SHOWN]
    return f"{answer.status} {answer.reason}{': ' if text else ''}{text}"
