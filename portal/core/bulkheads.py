"""Bulkheads: no one kind of work takes so much that the others drown; who is too many is told so.

Other limits: logins at once (portal/people/passwords.py), calls to other services
(portal/core/breakers.py), connections (portal/core/db.py, portal/core/redis_clients.py), clients
(portal/runtime/gunicorn_settings.py).
"""

from threading import Lock

from redis import Redis
from rq import Queue

from portal.core import flags

ERRANDS = 40  # that wait for a worker: an hour's work, and more


class Full(Exception):  # noqa: N818  a state of the world, not a mistake
    """As many as there may be are there already; nothing was begun."""


class Bulkhead:
    """So many places in this process, which nobody waits for."""

    def __init__(self, most: int) -> None:
        self.most = most
        self._taken = 0
        self._lock = Lock()

    def enter(self) -> None:
        """Take a place, to be left again; raises Full."""
        with self._lock:
            if self._taken >= self.most and flags.on("bulkheads"):
                raise Full
            self._taken += 1

    def leave(self) -> None:
        """Give it back."""
        with self._lock:
            self._taken -= 1


def check_background_queue(redis: Redis) -> None:
    """Raises Full where more errands wait than anyone would wait for."""
    if len(Queue("errands", connection=redis)) >= ERRANDS and flags.on("bulkheads"):
        raise Full
