"""Outages of PostgreSQL, known to the process so that not every request must find out."""

import logging
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic

from redis.exceptions import RedisError
from sqlalchemy.exc import InterfaceError, OperationalError

REST = 5.0  # seconds without calls after PostgreSQL has failed to answer


@dataclass
class Outage:
    """An outage: one caller asks every few seconds, the others use what they know.

    PostgreSQL may be down, or `crowded`: it works, but all connections are in use.
    """

    lasts: bool = False
    crowded: bool = False
    rest_ends: float = 0.0
    lock: Lock = field(default_factory=Lock)

    def spares(self) -> bool:
        """Return whether a caller with an older value should use it; if not, it should ask."""
        with self.lock:
            if not self.lasts:
                return False
            if monotonic() < self.rest_ends:
                return True
            self.rest_ends = monotonic() + REST
            return False

    @property
    def away(self) -> bool:
        """Return whether PostgreSQL itself does not answer."""
        return self.lasts and not self.crowded

    def begin(self, *, crowded: bool = False) -> None:
        """Note that PostgreSQL did not answer, or had no free connection."""
        with self.lock:
            self.lasts, self.crowded, self.rest_ends = True, crowded, monotonic() + REST

    def end(self) -> None:
        """Note that PostgreSQL has answered."""
        self.lasts = False


postgresql = Outage()


# Workers wait while PostgreSQL or the ledger is down, longer each time, and log it once.


class Unavailable(Exception):
    """A service that the portal needs, such as the ledger, does not answer."""


AWAY = (OperationalError, InterfaceError, Unavailable, RedisError, OSError)
LONGEST_PAUSE = 2.0  # seconds: the longest delay in noticing a recovery

log = logging.getLogger(__name__)


class Backoff:
    """Consecutive failures of one process, and the pause (seconds) after them."""

    def __init__(self, usual: float = 0.0) -> None:
        self.usual = usual
        self.pause = usual
        self.failing = False

    def failed(self, error: BaseException) -> None:
        if not self.failing:
            log.warning("PostgreSQL or the ledger is away, trying again: %s", first_line(error))
        self.failing = True
        self.pause = min(LONGEST_PAUSE, max(0.25, self.pause * 2))

    def succeeded(self) -> None:
        if self.failing:
            log.warning("PostgreSQL and the ledger are back.")
        self.failing, self.pause = False, self.usual


def first_line(error: BaseException) -> str:
    """Return the first line of an error's message."""
    return (str(error).splitlines() or [type(error).__name__])[0]
