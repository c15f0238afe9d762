"""Open pages without a browser: a socket each, and all that it has heard."""

import json
import re
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from http.client import HTTPConnection, HTTPResponse
from typing import Any

from flask import Flask
from simple_websocket import Client, ConnectionClosed

HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
}
OPEN = re.compile(r'id="seats-(\d+)"[^>]*>\s*<p class="seats-text"><b>(\d+)</b>')


@dataclass
class Tab:
    """One socket; `frames` are the messages so far."""

    client: Client
    frames: list[str] = field(default_factory=list)

    def ask(self, term: int, sections: list[int], **more: Any) -> None:
        """Say what this page shows."""
        self.client.send(json.dumps({"term": term, "sections": sections, **more}))

    def hear(self, until: Callable[["Tab"], Any], seconds: float = 30) -> Any:
        """Listen until `until` gives something; fails after so many seconds."""
        deadline = time.monotonic() + seconds
        while not (found := until(self)):
            left = deadline - time.monotonic()
            assert left > 0, f"not heard; got {self.frames}"
            frame = self.client.receive(timeout=left)
            if frame is not None:
                self.frames.append(frame)
        return found

    def listen(self, seconds: float) -> "Tab":
        """Listen for so many seconds."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            frame = self.client.receive(timeout=left)
            if frame is not None:
                self.frames.append(frame)
        return self

    @property
    def seats(self) -> dict[int, int]:
        """The open seats last shown, by section."""
        return {int(s): int(n) for s, n in OPEN.findall("\n".join(self.frames))}

    @property
    def signals(self) -> list[dict[str, Any]]:
        """What the page's scripts were told."""
        return [json.loads(frame) for frame in self.frames if frame.startswith("{")]

    def shows(self, section: int, seats: int, seconds: float = 30) -> None:
        """Listen until the section has so many open seats."""
        self.hear(lambda tab: tab.seats.get(section) == seats, seconds)

    def closed(self, seconds: float = 30) -> int:
        """Listen until the server hangs up; gives its code."""
        try:
            self.hear(lambda _: False, seconds)
        except ConnectionClosed as closing:
            return int(closing.reason)
        raise AssertionError

    def close(self) -> None:
        """Close the page."""
        if self.client.connected:
            self.client.close()
        self.client.thread.join(5)


def knock(port: int, headers: dict[str, str]) -> HTTPResponse:
    """The server's answer to a handshake with these headers."""
    line = HTTPConnection("127.0.0.1", port, timeout=30)
    line.request("GET", "/ws", headers=HANDSHAKE | headers)
    answer = line.getresponse()
    line.close()
    return answer


def cookie(app: Flask, account: int) -> str:
    """The session cookie of someone who has logged in."""
    serializer = app.session_interface.get_signing_serializer(app)  # type: ignore[attr-defined]
    kept = serializer.dumps({"_user_id": f"{account}.1", "_fresh": True, "since": time.time()})
    return f"{app.config['SESSION_COOKIE_NAME']}={kept}"
