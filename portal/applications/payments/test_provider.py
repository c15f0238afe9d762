"""The built-in test provider: its checkout is a page of ours, and no money moves."""

from typing import Any

from portal.applications.payments.provider import (
    Bill,
    Checkout,
    InvalidMessage,
    Message,
    Outcome,
    Progress,
    ProviderFailed,
)
from portal.backend import backend
from portal.core.i18n import _k

PREFIX = "test_"
KEPT = 7 * 24 * 60 * 60  # seconds for which an outcome is known
TIMEOUT = "timeout"


class TestProvider:
    """Remembers in Redis what a person chose on its page: to succeed, to fail, or to time out."""

    __test__ = False  # its name is no test's
    name = "test"

    def open(self, bill: Bill) -> Checkout:
        reference = f"{PREFIX}{bill.charge}"
        return Checkout(reference, f"{backend().settings.url}/payments/test/{bill.charge}")

    def progress(self, reference: str) -> Progress:
        """Return what was chosen on the page. Raise ProviderFailed if that is to time out."""
        chosen: Any = backend().redis.get(_key(reference))
        if chosen == TIMEOUT.encode():
            raise ProviderFailed(_k("The payment provider did not respond."))
        outcome: dict[bytes, Outcome] = {b"paid": "paid", b"failed": "failed"}
        return Progress(outcome.get(chosen, "open"))

    def refund(self, key: str, reference: str, payment: str) -> None:
        """Give nothing back: nothing was paid."""

    def read(self, body: bytes, signature: str) -> Message | None:  # noqa: ARG002
        """Refuse every message: the page tells the portal itself."""
        raise InvalidMessage("The test provider sends no messages.")

    def choose(self, reference: str, outcome: str) -> None:
        """Remember what the person chose."""
        backend().redis.set(_key(reference), outcome, ex=KEPT)


def _key(reference: str) -> str:
    return f"fairseat:payments:{reference}"
