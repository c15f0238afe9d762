"""A connection to a receiver, over which messages are posted."""

import ssl
import time
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse
from socket import SHUT_RDWR
from threading import Timer
from urllib.parse import urlsplit

from portal.ops.correlation import HEADER
from portal.webhooks import reach
from portal.webhooks.message import Message
from portal.webhooks.models import Webhook
from portal.webhooks.reach import Networks
from portal.webhooks.secret import signature

PATIENCE = 10.0  # seconds for an answer, from the first step to it
READ = 1000  # bytes of an answer
SHOWN = 200  # characters of it


class Undelivered(Exception):  # noqa: N818  a state of the world, not a mistake
    """The receiver did not take it; the message says why."""


class Line(HTTPConnection):
    """Begun with the first message, and anew after it broke; it follows no redirection."""

    def __init__(self, webhook: Webhook, within: Networks, patience: float = PATIENCE) -> None:
        self.to = urlsplit(webhook.url)
        super().__init__(self.to.hostname or "", self.to.port, timeout=patience)
        self.default_port = 443 if self.to.scheme == "https" else 80
        self.webhook = webhook
        self.within = within
        self.patience = patience

    def connect(self) -> None:
        """To an address that may be asked, which the name can't change any more."""
        self.sock = reach.connect(self.to, self.patience, self.within)
        if self.to.scheme == "https":
            context = ssl.create_default_context()
            self.sock = context.wrap_socket(self.sock, server_hostname=self.host)

    def tell(self, message: Message) -> None:
        """Post a message; raises Undelivered unless the receiver says that it has it."""
        # A receiver that sends one byte at a time would never run into a time-out of its own.
        timer = Timer(self.patience, self._cut)
        timer.start()
        try:
            self._post(message)
        except (OSError, HTTPException) as error:
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

    def _cut(self) -> None:
        if self.sock:
            with suppress(OSError):
                self.sock.shutdown(SHUT_RDWR)


def _told(answer: HTTPResponse, said: bytes) -> str:
    text = " ".join(said.decode(errors="replace").split())[:SHOWN]
    return f"{answer.status} {answer.reason}{': ' if text else ''}{text}"
