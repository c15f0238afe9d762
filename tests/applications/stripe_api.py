"""A stand-in for Stripe's API: checkouts, refunds, idempotency keys, signed messages.

As Stripe does, it saves the first answer under each key, errors of the server too, and gives it
again. It saves no answer to a call that it did not begin: too many calls, or a key in use.
"""

import hashlib
import hmac
import json
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event, Lock, Thread
from typing import Any
from urllib.parse import parse_qs

SECRET = "whsec_tests"
KEY = "Idempotency-Key"
PAGES = "/pay/"
CHECKOUT_PAGE = """<!doctype html><html lang="en"><link rel="icon" href="data:,"><title>Pay</title>
<h1>Your payment</h1><form method="post"><button>Confirm</button></form></html>"""
NOT_BEGUN = {409, 429}
LATE = 1.0  # seconds
Made = tuple[int, dict[str, Any]]  # an answer: its status and content


@dataclass
class Account:
    """What the stand-in knows, and how it behaves."""

    url: str = ""
    pages: str = "https://checkout.stripe.com"  # where its checkouts are
    sessions: dict[str, dict[str, Any]] = field(default_factory=dict)
    refunds: dict[str, dict[str, Any]] = field(default_factory=dict)
    # by idempotency key: what was sent, and the answer
    answers: dict[str, tuple[dict[str, str], Made]] = field(default_factory=dict)
    calls: list[str] = field(default_factory=list)
    keys: list[str] = field(default_factory=list)  # of the calls that have one
    fails: int = 0  # the status of every new answer, if it is not 0
    too_late: bool = False  # whether the call has its effect and still fails
    refund_status: str = "succeeded"  # of every new refund
    hangs: float = 0.0  # seconds before the next answer, after the call has had its effect
    away: bool = False  # whether connections end before an answer, as if the network were cut
    loses: bool = False  # whether every second answer to a new call is lost, and its repeat slow
    repeated: Event = field(default_factory=Event)  # a call comes again whose answer was lost
    lock: Lock = field(default_factory=Lock)  # so that calls under one key have one effect

    def pays(self, reference: str) -> None:
        """Someone pays on the page of a checkout."""
        paid = {"payment_status": "paid", "status": "complete", "payment_intent": f"pi_{reference}"}
        self.sessions[reference] |= paid

    def message(self, kind: str, reference: str, number: int = 1) -> tuple[bytes, str]:
        """A signed message about a checkout: its body and signature."""
        event = {
            "id": f"evt_{number}",
            "object": "event",
            "type": f"checkout.session.{kind}",
            "data": {"object": self.sessions[reference]},
        }
        body = json.dumps(event).encode()
        at = int(time.time())
        signed = hmac.digest(SECRET.encode(), f"{at}.".encode() + body, hashlib.sha256).hex()
        return body, f"t={at},v1={signed}"

    def answer(self, path: str, key: str, sent: dict[str, str]) -> Made:
        """The answer to a call: the first one under its key."""
        self.keys.append(key)
        if self.fails in NOT_BEGUN:
            return _error(self.fails, "api_error")
        with self.lock:
            if key not in self.answers:
                self.answers[key] = sent, self._first(path, sent)
            before, answer = self.answers[key]
        return answer if before == sent else _error(400, "idempotency_error")

    def arrives(self, key: str) -> bool:
        """Whether the answer to a call arrives; wait as long as it takes."""
        if self.hangs:
            pause, self.hangs = self.hangs, 0.0
            time.sleep(pause)
        if not self.loses or list(self.answers).index(key) % 2:
            return True
        if self.keys.count(key) == 1:
            return False
        self.repeated.set()
        time.sleep(LATE)
        return True

    def _first(self, path: str, sent: dict[str, str]) -> Made:
        if not self.fails:
            return self._made(path, sent)
        if self.too_late:
            self._made(path, sent)
        return _error(self.fails, "api_error")

    def _made(self, path: str, sent: dict[str, str]) -> Made:
        if path == "/v1/refunds":
            if (payment := sent["payment_intent"]) in self.refunds:
                return _error(400, "invalid_request_error", "charge_already_refunded")
            made = {"id": f"re_{len(self.refunds)}", "object": "refund", **sent}
            made["status"] = self.refund_status
            if self.refund_status != "failed":
                self.refunds[payment] = made
            return 200, made
        number = f"cs_{len(self.sessions) + 1}"
        self.sessions[number] = {
            "id": number,
            "object": "checkout.session",
            "url": f"{self.pages}/{number}",
            "client_reference_id": sent["client_reference_id"],
            "amount_total": int(sent["line_items[0][price_data][unit_amount]"]),
            "payment_status": "unpaid",
            "status": "open",
            "payment_intent": None,
            "success_url": sent["success_url"],
        }
        return 200, self.sessions[number]


def _error(status: int, kind: str, code: str = "") -> Made:
    return status, {"error": {"message": "no", "type": kind, "code": code}}


def _handler(account: Account) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            account.calls.append(f"GET {self.path}")
            session = account.sessions[self.path.rsplit("/", 1)[1]]
            if self.path.startswith(PAGES):
                self._show(CHECKOUT_PAGE)
            else:
                self._answer(200, session)

        def do_POST(self) -> None:
            account.calls.append(f"POST {self.path}")
            sent = self.rfile.read(int(self.headers["Content-Length"])).decode()
            if self.path.startswith(PAGES):
                self._pay(self.path.rsplit("/", 1)[1])
                return
            found = parse_qs(sent)
            sent, key = {name: one[0] for name, one in found.items()}, self.headers[KEY]
            made = account.answer(self.path, key, sent)
            if account.arrives(key):
                self._answer(*made)

        def _pay(self, reference: str) -> None:
            """Take the money, and lead the person back to the shop."""
            account.pays(reference)
            self.send_response(303)
            self.send_header("Location", account.sessions[reference]["success_url"])
            self.send_header("Content-Length", "0")
            self.end_headers()

        def _answer(self, status: int, found: dict[str, Any]) -> None:
            self._show(json.dumps(found), status, "application/json")

        def _show(self, text: str, status: int = 200, kind: str = "text/html") -> None:
            body = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Handler


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Say nothing of a client that was killed before its answer; report all else."""
        if not isinstance(sys.exception(), ConnectionError):
            super().handle_error(request, client_address)

    def __init__(self, account: Account) -> None:
        super().__init__(("127.0.0.1", 0), _handler(account))
        self.account = account

    def verify_request(self, request: Any, client_address: Any) -> bool:  # noqa: ARG002
        """Cut the connection while the stand-in is away."""
        return not self.account.away


@contextmanager
def stripe_api() -> Iterator[Account]:
    """It runs."""
    account = Account()
    with _Server(account) as server:
        account.url = f"http://127.0.0.1:{server.server_port}"
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield account
        finally:
            server.shutdown()
