"""What to do while PostgreSQL or the ledger is away: wait, longer each time, and say it once."""

import logging
import time

from redis.exceptions import RedisError
from sqlalchemy.exc import InterfaceError, OperationalError

from portal.ledger.errors import LedgerUnavailable

AWAY = (OperationalError, InterfaceError, LedgerUnavailable, RedisError, OSError)
AGAIN = 60.0  # seconds until the same thing is said again
LONGEST_PAUSE = 2.0  # seconds: a recovery is noticed within them

log = logging.getLogger(__name__)


class Trouble:
    """Failures in a row of one process, and the pause (seconds) that follows them."""

    def __init__(self, usual: float = 0.0) -> None:
        self.usual = usual
        self.pause = usual
        self.on = False

    def met(self, error: BaseException) -> None:
        """Note a failure."""
        if not self.on:
            log.warning("PostgreSQL or the ledger is away, trying again: %s", brief(error))
        self.on = True
        self.pause = min(LONGEST_PAUSE, max(0.25, self.pause * 2))

    def over(self) -> None:
        """Note a success."""
        if self.on:
            log.warning("PostgreSQL and the ledger are back.")
        self.on, self.pause = False, self.usual


def brief(error: BaseException) -> str:
    """The first line of what an error says."""
    return (str(error).splitlines() or [type(error).__name__])[0]


class Once(logging.Filter):
    """Lets a log say the same thing no more than once a minute."""

    def __init__(self) -> None:
        super().__init__()
        self.said: dict[object, float] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether this is news."""
        now = time.monotonic()
        news = now - self.said.get(record.msg, -AGAIN) >= AGAIN
        if news:
            self.said[record.msg] = now
        return news
