"""The interface of payment providers: a hosted checkout, its state, its messages and refunds."""

from dataclasses import dataclass
from typing import Literal, Protocol

PATIENCE = 8.0  # seconds for each call

Outcome = Literal["open", "paid", "failed", "expired", "refunded"]


class ProviderFailed(Exception):
    """The call failed, and may succeed later.

    `answered` is whether the provider answered. It would then give the same answer under the same
    key. Otherwise the call may have had its effect, so only the same key is safe.
    """

    def __init__(self, message: str, *, answered: bool = False) -> None:
        super().__init__(message)
        self.answered = answered


class ProviderRefused(Exception):
    """The provider refused the call, and would refuse it again. `code` is its own."""

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


class InvalidMessage(ValueError):
    """A message that the provider did not sign, or that no one can read."""


@dataclass(frozen=True)
class Bill:
    """What to charge: `amount` in minor units; `back` is the address to return to.

    `key` is the idempotency key.
    """

    charge: int
    key: str
    amount: int
    currency: str
    name: str
    email: str
    back: str


@dataclass(frozen=True)
class Checkout:
    """A page of the provider, on which a person pays."""

    reference: str
    url: str


@dataclass(frozen=True)
class Progress:
    """How a checkout stands; `payment` is what a refund names."""

    outcome: Outcome
    payment: str = ""


@dataclass(frozen=True)
class Message:
    """A message of the provider about a checkout. Its id is the same in a replay."""

    id: str
    reference: str
    charge: int  # ours, 0 if the message does not name it
    progress: Progress


class Provider(Protocol):
    """Each call may be repeated under the same key, and then has the same effect once.

    Calls raise ProviderFailed or ProviderRefused.
    """

    name: str

    def open(self, bill: Bill) -> Checkout:
        """Return the checkout of a charge."""

    def progress(self, reference: str) -> Progress:
        """Return how a checkout stands now."""

    def refund(self, key: str, reference: str, payment: str) -> None:
        """Give the whole amount back, unless that is done already."""

    def read(self, body: bytes, signature: str) -> Message | None:
        """Return a signed message, None if it is of no interest. Raise InvalidMessage."""
