"""What every process of the portal talks to, connected once at its start."""

from dataclasses import dataclass

from redis import Redis

from portal.core import breakers, db, queue, redis_clients
from portal.core.settings import Settings
from portal.ledger.client import Ledger


@dataclass
class Backend:
    """The connected parts; `backend` below is the one of this process."""

    settings: Settings
    redis: Redis
    ledger: Ledger


_backend: Backend | None = None


def connect(settings: Settings) -> Backend:
    """Connect this process to PostgreSQL and the ledger, loading its functions."""
    global _backend  # noqa: PLW0603  one per process, as the docstring says
    db.connect(settings.database_url)
    redis = redis_clients.commands(settings.redis_url)
    _backend = Backend(settings, redis, Ledger(redis, settings.replicas))
    return _backend


def backend() -> Backend:
    """Return the connected parts of this process; raise RuntimeError before `connect`."""
    if _backend is None:
        raise RuntimeError("Call portal.backend.connect(settings) first.")
    return _backend


queue.connect(lambda: backend().redis)
breakers.report_to(lambda: backend().redis)
