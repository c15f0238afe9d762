"""A real HTTP server that keeps what it is told, and answers what it is to answer."""

import hashlib
import hmac
import json
import ssl
from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any

from tests.ports import free_port


@dataclass(frozen=True)
class Told:
    """One message as it came."""

    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def id(self) -> str:
        return self.headers["webhook-id"]

    @property
    def facts(self) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.body)
        return found


@dataclass
class Receiver:
    """What came, and what the next are answered; `port` stays the same while it is away."""

    port: int
    scheme: str = "http"
    told: list[Told] = field(default_factory=list)
    answers: list[int] = field(default_factory=list)  # to the next messages, then all is well
    refusal: bytes = b""  # what an answer that refuses a message says
    asked: int = 0
    go_on: Event = field(default_factory=Event)  # an answer waits for it
    server: ThreadingHTTPServer | None = None

    @property
    def url(self) -> str:
        return f"{self.scheme}://127.0.0.1:{self.port}/hook?of=fairseat"

    @property
    def ids(self) -> list[str]:
        return [each.id for each in self.told]

    def open(self, certificate: Path | None = None) -> None:
        """Begin to listen."""
        self.go_on.set()
        handler = type("Handler", (_Handler,), {"receiver": self})
        self.server = ThreadingHTTPServer(("127.0.0.1", self.port), handler)
        self.server.daemon_threads = True
        if certificate:
            context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
            context.load_cert_chain(certificate / "fullchain.pem", certificate / "privkey.pem")
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True)
        Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02}).start()

    def close(self) -> None:
        """Go away."""
        self.go_on.set()
        if self.server:
            self.server.shutdown()
            self.server.server_close()
        self.server = None


class _Handler(BaseHTTPRequestHandler):
    """Of one connection."""

    protocol_version = "HTTP/1.1"
    receiver: Receiver

    def do_POST(self) -> None:
        """Keep what is told, unless another answer is to be given."""
        receiver = self.receiver
        receiver.asked += 1
        body = self.rfile.read(int(self.headers["Content-Length"]))
        receiver.go_on.wait()
        answer = receiver.answers.pop(0) if receiver.answers else 204
        if answer < 300:
            headers = {name.lower(): value for name, value in self.headers.items()}
            receiver.told.append(Told(self.path, headers, body))
        self.send_response(answer)
        if 300 <= answer < 400:
            self.send_header("Location", receiver.url)
        said = receiver.refusal if answer >= 400 else b""
        self.send_header("Content-Length", str(len(said)))
        self.end_headers()
        self.wfile.write(said)

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def signed(secret: str, told: Told) -> bool:
    """Return whether the message is signed by the secret, worked out as its receivers do."""
    at, body = told.headers["webhook-timestamp"], told.body
    key = b64decode(secret.removeprefix("whsec_"))
    digest = hmac.new(key, f"{told.id}.{at}.".encode() + body, hashlib.sha256).digest()
    return told.headers["webhook-signature"] == f"v1,{b64encode(digest).decode()}"


@contextmanager
def a_receiver() -> Iterator[Receiver]:
    """One that listens until the block ends."""
    receiver = Receiver(free_port())
    receiver.open()
    try:
        yield receiver
    finally:
        receiver.close()
