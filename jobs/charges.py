"""Jobs of the queue `charges`."""

from portal.applications import fees


def charge(_term: int) -> None:
    """Make the calls to the payment provider that are due."""
    fees.charge_due()
