"""Whether PostgreSQL gives no answers, so that not every request has to find out for itself."""

import logging
import time
from dataclasses import dataclass, field
from threading import Lock
from time import monotonic

from redis.exceptions import RedisError
from sqlalchemy.exc import InterfaceError, OperationalError

REST = 5.0  # seconds for which PostgreSQL is left alone after it has failed to answer


@dataclass
class Outage:
    """While it lasts, one asks every few seconds and the others make do with what they know.

    It may be away, or `crowded`: then it is there, but all connections to it are in use.
    """

    lasts: bool = False
    crowded: bool = False
    rest_ends: float = 0.0
    lock: Lock = field(default_factory=Lock)

    def spares(self) -> bool:
        """Whether who knows an older value should take it; if not, the caller is the one to ask."""
        with self.lock:
            if not self.lasts:
                return False
            if monotonic() < self.rest_ends:
                return True
            self.rest_ends = monotonic() + REST
            return False

    @property
    def away(self) -> bool:
        """Whether PostgreSQL itself does not answer."""
        return self.lasts and not self.crowded

    def begin(self, *, crowded: bool = False) -> None:
        """PostgreSQL has just failed to answer, or there was no free connection to it."""
        with self.lock:
            self.lasts, self.crowded, self.rest_ends = True, crowded, monotonic() + REST

    def end(self) -> None:
        """PostgreSQL has just answered."""
        self.lasts = False


postgresql = Outage()


# What workers do while PostgreSQL or the ledger is away: wait, longer each time, and log it once.


class Unavailable(Exception):  # noqa: N818  a state of the world, not a mistake
    """A part that the portal needs, such as the ledger, does not answer."""


AWAY = (OperationalError, InterfaceError, Unavailable, RedisError, OSError)
REPEAT_AFTER = 60.0  # seconds until the same thing is said again
LONGEST_PAUSE = 2.0  # seconds: a recovery is noticed within them

log = logging.getLogger(__name__)


class Backoff:
    """Failures in a row of one process, and the pause (seconds) that follows them."""

    def __init__(self, usual: float = 0.0) -> None:
        self.usual = usual
        self.pause = usual
        self.on = False

    def met(self, error: BaseException) -> None:
        """Note a failure."""
        if not self.on:
            log.warning("PostgreSQL or the ledger is away, trying again: %s", first_line(error))
        self.on = True
        self.pause = min(LONGEST_PAUSE, max(0.25, self.pause * 2))

    def over(self) -> None:
        """Note a success."""
        if self.on:
            log.warning("PostgreSQL and the ledger are back.")
        self.on, self.pause = False, self.usual


def first_line(error: BaseException) -> str:
    """The first line of what an error says."""
    return (str(error).splitlines() or [type(error).__name__])[0]


class RepeatFilter(logging.Filter):
    """Lets a log say the same thing no more than once a minute."""

    def __init__(self) -> None:
        super().__init__()
        self.said: dict[object, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether this is news."""
        now = time.monotonic()
        news = now - self.said.get(record.msg, -REPEAT_AFTER) >= REPEAT_AFTER
        if news:
            self.said[record.msg] = now
        return news
