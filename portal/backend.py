"""What every process of the portal talks to, connected once at its start."""

from dataclasses import dataclass

from redis import Redis
from sqlalchemy import Engine

from portal.core import breakers, db, ledger_servers, queue, redis_clients
from portal.core.settings import Settings
from portal.ledger.client import Ledger


@dataclass
class Backend:
    """The connected parts; `backend` below is the one of this process."""

    settings: Settings
    engine: Engine
    redis: Redis  # of jobs, limits and reports; also the ledger's unless that is a cluster
    ledger: Ledger


_backend: Backend | None = None


def connect(settings: Settings) -> Backend:
    """Connect this process to PostgreSQL and the ledger, loading its functions."""
    engine = db.connect(settings.database_url)
    redis = redis_clients.commands(settings.queue_url)
    servers = ledger_servers.servers(settings.redis_url, redis)
    connected = Backend(settings, engine, redis, Ledger(servers, settings.replicas))
    use(connected)
    return connected


def use(connected: Backend) -> None:
    """Make these parts the ones of this process."""
    global _backend  # noqa: PLW0603  one per process, as the docstring of Backend says
    db.use(connected.engine)
    _backend = connected


def backend() -> Backend:
    """Return the connected parts of this process; raise RuntimeError before `connect`."""
    if _backend is None:
        raise RuntimeError("Call portal.backend.connect(settings) first.")
    return _backend


queue.connect(lambda: backend().redis)
breakers.report_to(lambda: backend().redis)
