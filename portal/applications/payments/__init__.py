"""Payment providers behind one interface."""

from portal.applications.payments.provider import Provider
from portal.applications.payments.test_provider import TestProvider
from portal.backend import backend


def provider() -> Provider | None:
    """Return the provider of the settings; None if no fees are charged."""
    settings = backend().settings
    if settings.stripe:
        # Its library takes 30 MB.
        from portal.applications.payments.stripe_checkout import StripeCheckout  # noqa: PLC0415

        return StripeCheckout(settings.stripe)
    return TestProvider() if settings.payments == "test" else None
