"""The interface of payment providers: a hosted checkout, its state, its messages and refunds."""

from dataclasses import dataclass
from typing import Literal, Protocol

PATIENCE = 8.0  # seconds for each call

Outcome = Literal["open", "paid", "failed", "expired", "refunded"]


class ProviderFailed(Exception):  # noqa: N818  a state of the world, not a mistake
    """The provider gave no answer; the same call may succeed later."""


class ProviderRefused(Exception):  # noqa: N818  a state of the world, not a mistake
    """The provider refused the call, and would refuse it again."""


class InvalidMessage(ValueError):  # noqa: N818  an expected state, not an error
    """A message that the provider did not sign, or that no one can read."""


@dataclass(frozen=True)
class Bill:
    """What to charge: `amount` in minor units; `back` is the address to return to."""

    charge: int
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
    """Each call may be repeated under the same charge, and then has the same effect once.

    Calls raise ProviderFailed or ProviderRefused.
    """

    name: str

    def open(self, bill: Bill) -> Checkout:
        """Return the checkout of a charge."""

    def progress(self, reference: str) -> Progress:
        """Return how a checkout stands now."""

    def refund(self, charge: int, reference: str, payment: str) -> None:
        """Give the whole amount back."""

    def read(self, body: bytes, signature: str) -> Message | None:
        """Return a signed message, None if it is of no interest. Raise InvalidMessage."""
