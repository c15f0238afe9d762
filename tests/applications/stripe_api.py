"""A stand-in for Stripe's API: checkouts, refunds, idempotency keys, signed messages."""

import hashlib
import hmac
import json
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any
from urllib.parse import parse_qs

SECRET = "whsec_tests"


@dataclass
class Account:
    """What the stand-in knows, and how it behaves."""

    url: str = ""
    sessions: dict[str, dict[str, Any]] = field(default_factory=dict)
    refunds: dict[str, dict[str, Any]] = field(default_factory=dict)
    answers: dict[str, Any] = field(default_factory=dict)  # by idempotency key
    calls: list[str] = field(default_factory=list)
    fails: int = 0  # the status of every answer, if it is not 0
    hangs: float = 0.0  # seconds before the next answer, after the call has had its effect

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


def _handler(account: Account) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            account.calls.append(f"GET {self.path}")
            self._answer(account.sessions[self.path.rsplit("/", 1)[1]])

        def do_POST(self) -> None:
            account.calls.append(f"POST {self.path}")
            sent = parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
            key = self.headers["Idempotency-Key"]
            if account.fails:
                self._answer({"error": {"message": "no", "type": "api_error"}}, account.fails)
                return
            if key not in account.answers:
                account.answers[key] = self._made({name: one[0] for name, one in sent.items()})
            if account.hangs:
                pause, account.hangs = account.hangs, 0.0
                time.sleep(pause)
            self._answer(account.answers[key])

        def _made(self, sent: dict[str, str]) -> dict[str, Any]:
            if self.path == "/v1/refunds":
                made = {"id": f"re_{len(account.refunds)}", "object": "refund", **sent}
                account.refunds[sent["payment_intent"]] = made
                return made
            number = f"cs_{len(account.sessions) + 1}"
            account.sessions[number] = {
                "id": number,
                "object": "checkout.session",
                "url": f"https://checkout.stripe.example/{number}",
                "client_reference_id": sent["client_reference_id"],
                "amount_total": int(sent["line_items[0][price_data][unit_amount]"]),
                "payment_status": "unpaid",
                "status": "open",
                "payment_intent": None,
            }
            return account.sessions[number]

        def _answer(self, found: dict[str, Any], status: int = 200) -> None:
            body = json.dumps(found).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: Any) -> None:
            """Say nothing."""

    return Handler


@contextmanager
def stripe_api() -> Iterator[Account]:
    """It runs."""
    account = Account()
    with ThreadingHTTPServer(("127.0.0.1", 0), _handler(account)) as server:
        server.daemon_threads = True
        account.url = f"http://127.0.0.1:{server.server_port}"
        Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield account
        finally:
            server.shutdown()
