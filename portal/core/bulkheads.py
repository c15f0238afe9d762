"""Bulkheads: limit each kind of work so that others keep working; excess callers get an error.

Other limits: logins at once (portal/people/passwords.py), calls to other services
(portal/core/breakers.py), connections (portal/core/db.py, portal/core/redis_clients.py), clients
(portal/runtime/gunicorn_settings.py).
"""

from threading import Lock

from redis import Redis
from rq import Queue

from portal.core import flags

MOST_BACKGROUND_JOBS = 40  # waiting jobs: more than an hour's work


class Full(Exception):
    """The limit is reached; nothing was started."""


class Bulkhead:
    """A limited number of places in this process; callers never wait for one."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._taken = 0
        self._lock = Lock()

    def enter(self) -> None:
        """Take a place; raise Full if there is none."""
        with self._lock:
            if self._taken >= self.most and flags.on("bulkheads"):
                raise Full
            self._taken += 1

    def leave(self) -> None:
        """Give the place back."""
        with self._lock:
            self._taken -= 1


def check_background_queue(redis: Redis) -> None:
    """Raise Full if too many background jobs wait."""
    if len(Queue("background", connection=redis)) >= MOST_BACKGROUND_JOBS and flags.on("bulkheads"):
        raise Full
