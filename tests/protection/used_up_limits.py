"""Limits that have been used up."""

from time import time

from portal.backend import backend
from portal.ledger.function_library import prefix
from portal.protection.rate_limits import Charge
from portal.web.http.request_limits import DECISIONS


def exhaust(charge: Charge, seconds: float) -> None:
    """Let so much have been spent that it takes so long until there is more."""
    _exhaust(charge.key, charge, seconds)


def exhaust_decisions(term: int, student: int, seconds: float, left: int = 0) -> None:
    """Let a student have asked for so many decisions that only `left` more are answered before."""
    charge = Charge(DECISIONS, str(student), 1 + left)
    _exhaust(f"{prefix(term)}:rate:{student}", charge, seconds)


def _exhaust(key: str, charge: Charge, seconds: float) -> None:
    left = charge.size + seconds * 1000 - charge.time
    backend().redis.set(key, time() * 1000 + left, px=int(left))
