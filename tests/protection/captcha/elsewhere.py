"""A captcha server elsewhere: a real HTTP server that speaks as an ALTCHA server does, or fails."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Thread
from typing import Any, Literal

from altcha import create_challenge, verify_solution

SECRET = "known to that server alone"
KEY = "key_1"


@dataclass
class Elsewhere:
    """What the server has been asked, and how it answers."""

    port: int = 0
    mood: Literal["well", "broken", "silent", "odd"] = "well"
    verdict: bool = True
    challenge: dict[str, Any] = field(default_factory=dict)  # what is different in its puzzles
    asked: list[str] = field(default_factory=list)
    over: Event = field(default_factory=Event)

    @property
    def address(self) -> str:
        """As a setting names it."""
        return f"http://127.0.0.1:{self.port}/v1?apiKey={KEY}"

    def answer(self, path: str, body: dict[str, Any]) -> tuple[int, bytes]:
        """The status and what it says, once it does."""
        self.asked.append(path)
        if self.mood == "silent":
            self.over.wait(20)
        if self.mood == "broken":
            return 500, b"Traceback"
        if self.mood == "odd":
            return 200, b"<html>Welcome to our new home page</html>"
        if path == f"/v1/challenge?apiKey={KEY}":
            return 200, json.dumps(self._challenge()).encode()
        if path == f"/v1/verify?apiKey={KEY}":
            return self._verify(body["payload"])
        return 404, b"{}"

    def _challenge(self) -> dict[str, Any]:
        made = create_challenge(
            "PBKDF2/SHA-512",
            100,
            counter=3,
            data={"from": "elsewhere, ü"},
            hmac_secret=SECRET,
            hmac_key_secret=f"{SECRET} too",
        ).to_dict()
        made["parameters"] |= self.challenge.get("parameters", {})
        return made | {part: told for part, told in self.challenge.items() if part != "parameters"}

    def _verify(self, payload: str) -> tuple[int, bytes]:
        found = verify_solution(payload, SECRET, hmac_key_secret=f"{SECRET} too")
        if not found.verified:
            return 400, json.dumps({"error": "invalid payload"}).encode()
        return 200, json.dumps({"verified": self.verdict}).encode()


@contextmanager
def an_elsewhere(port: int = 0) -> Iterator[Elsewhere]:
    """One that listens until the block ends."""
    elsewhere = Elsewhere()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            length = int(self.headers.get("Content-Length", 0))
            status, said = elsewhere.answer(self.path, json.loads(self.rfile.read(length) or "{}"))
            self.send_response(status)
            self.send_header("Content-Length", str(len(said)))
            self.end_headers()
            self.wfile.write(said)

        do_POST = do_GET  # noqa: N815  the library's names

        def log_message(self, *_: Any) -> None:
            """Nobody reads it."""

        def handle(self) -> None:
            try:
                super().handle()
            except ConnectionError:
                """Who asked has given up."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    elsewhere.port = server.server_port
    thread = Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield elsewhere
    finally:
        elsewhere.over.set()
        server.shutdown()
        thread.join()
        server.server_close()
