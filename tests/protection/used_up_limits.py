"""Limits that have been used up."""

from time import time

from portal.backend import backend
from portal.protection.rate_limits import Charge


def exhaust(charge: Charge, seconds: float) -> None:
    """Let so much have been spent that it takes so long until there is more."""
    left = charge.size + seconds * 1000 - charge.time
    backend().redis.set(charge.key, time() * 1000 + left, px=int(left))
