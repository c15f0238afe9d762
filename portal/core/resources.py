"""Connections and memory of this process: their metrics, and how seldom garbage is collected."""

import gc
import logging
import os
from pathlib import Path
from threading import Thread
from time import sleep
from typing import Any

from sqlalchemy import Engine

from portal.core.ledger_servers import Servers
from portal.core.metrics import CONNECTIONS, CONNECTIONS_LIMIT, MEMORY

EVERY = 5.0  # seconds
PAGE_SIZE = os.sysconf("SC_PAGE_SIZE")
# New objects before the next collection. A batch of the journal, or thousands of requests at once,
# make tens of thousands of objects that all stay in use. Collections took up to a sixth of the
# time.
SELDOM = 50_000

log = logging.getLogger(__name__)


def watch(kind: str, engine: Engine, servers: Servers) -> None:
    """Start sampling; call it in the process that uses the connections, after its fork."""
    Thread(
        target=_sample_forever, args=(kind, engine, servers), daemon=True, name="resources"
    ).start()


def sample(kind: str, engine: Engine, servers: Servers) -> None:
    """Set the metrics to the current use."""
    postgresql: Any = engine.pool
    # In a cluster, each term has a pool of its own, whose queue holds the free slots.
    fullest = min(servers.pools(), key=lambda each: each.pool.qsize())
    limit = fullest.max_connections
    for store, size, used in (
        ("postgresql", postgresql.size(), postgresql.checkedout()),
        ("ledger", limit, limit - fullest.pool.qsize()),
    ):
        CONNECTIONS_LIMIT.labels(kind, store).set(size)
        CONNECTIONS.labels(kind, store).set(used)
    resident = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1])
    MEMORY.labels(kind).set(resident * PAGE_SIZE)


def _sample_forever(kind: str, engine: Engine, servers: Servers) -> None:
    while True:
        try:
            sample(kind, engine, servers)
        except Exception:  # the next sample may succeed
            log.exception("could not sample connections and memory")
        sleep(EVERY)


def collect_seldom() -> None:
    """Exclude permanent objects from garbage collection, and collect less often."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(SELDOM)
