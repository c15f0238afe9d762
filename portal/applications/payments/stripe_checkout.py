"""Stripe: its hosted checkout and its signed webhooks."""

from collections.abc import Callable
from typing import Any, TypeVar

import stripe

from portal.applications.payments.provider import (
    PATIENCE,
    Bill,
    Checkout,
    InvalidMessage,
    Message,
    Outcome,
    Progress,
    ProviderFailed,
    ProviderRefused,
)
from portal.core.i18n import _k
from portal.core.settings import Stripe

Answer = TypeVar("Answer")
SERVER_ERROR = 500
NOT_REFUNDED = {"failed", "canceled"}  # states of a refund
CONFLICT = 409  # a call under the same key has not ended
OUTCOMES: dict[str, Outcome] = {
    "checkout.session.completed": "open",  # paid only if its payment_status says so
    "checkout.session.async_payment_succeeded": "paid",
    "checkout.session.async_payment_failed": "failed",
    "checkout.session.expired": "expired",
}


class StripeCheckout:
    """Calls Stripe once: retries are ours, so that each is bounded and seen."""

    name = "stripe"

    def __init__(self, account: Stripe) -> None:
        self._secret = account.webhook_secret
        self._client = stripe.StripeClient(
            account.key,
            base_addresses={"api": account.url},
            http_client=stripe.RequestsClient(timeout=PATIENCE),
            max_network_retries=0,
        )

    def open(self, bill: Bill) -> Checkout:
        item: Any = {
            "quantity": 1,
            "price_data": {
                "currency": bill.currency.lower(),
                "unit_amount": bill.amount,
                "product_data": {"name": bill.name},
            },
        }
        found = _ask(
            lambda: self._client.v1.checkout.sessions.create(
                {
                    "mode": "payment",
                    "line_items": [item],
                    "client_reference_id": str(bill.charge),
                    "customer_email": bill.email,
                    "success_url": bill.back,
                    "cancel_url": bill.back,
                },
                {"idempotency_key": f"fairseat-charge-{bill.key}"},
            )
        )
        return Checkout(found.id, found.url or "")

    def progress(self, reference: str) -> Progress:
        """Return how a checkout stands now."""
        return _progress(_ask(lambda: self._client.v1.checkout.sessions.retrieve(reference)))

    def refund(self, key: str, reference: str, payment: str) -> None:
        """Give the whole amount back. Stripe refuses a second refund of it under any key."""
        payment = payment or self.progress(reference).payment
        try:
            made = _ask(
                lambda: self._client.v1.refunds.create(
                    {"payment_intent": payment}, {"idempotency_key": f"fairseat-refund-{key}"}
                )
            )
        except ProviderRefused as refused:
            if refused.code != "charge_already_refunded":
                raise
        else:
            if made.status in NOT_REFUNDED:
                raise ProviderRefused(_k("The payment provider could not make the refund."))

    def read(self, body: bytes, signature: str) -> Message | None:
        """Return a signed message about a checkout; None for other messages."""
        try:
            event = stripe.Webhook.construct_event(body, signature, self._secret)
        except (ValueError, stripe.SignatureVerificationError) as error:
            raise InvalidMessage(str(error)) from error
        found: Any = event.data.object
        if event.type not in OUTCOMES:
            return None
        number = str(getattr(found, "client_reference_id", None) or "")
        charge = int(number) if number.isdecimal() else 0
        progress = _progress(found)
        if progress.outcome == "open" and event.type != "checkout.session.completed":
            progress = Progress(OUTCOMES[event.type], progress.payment)
        return Message(event.id, found.id, charge, progress)


def _progress(session: Any) -> Progress:
    payment = str(session.payment_intent or "")
    if session.payment_status == "paid":
        return Progress("paid", payment)
    return Progress("expired" if session.status == "expired" else "open", payment)


def _ask(call: Callable[[], Answer]) -> Answer:
    """Make a call. Stripe saves its answer under the idempotency key, also an error."""
    try:
        return call()
    except stripe.IdempotencyError as error:  # the key was used for other content
        raise ProviderFailed(_message(error), answered=True) from error
    except stripe.RateLimitError as error:
        raise ProviderFailed(_message(error)) from error
    except stripe.StripeError as error:
        status = error.http_status
        if not status or status == CONFLICT:
            raise ProviderFailed(_message(error)) from error
        if status >= SERVER_ERROR:
            raise ProviderFailed(_message(error), answered=True) from error
        raise ProviderRefused(_message(error), error.code or "") from error


def _message(error: stripe.StripeError) -> str:
    return str(error.user_message or type(error).__name__)
