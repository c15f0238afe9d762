"""Ledger outages for the pages of this process."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from portal import backend as connections
from portal.backend import Backend
from portal.registration import limits

SAID = "Your latest changes may not show here yet"


@contextmanager
def ledger_away(backend: Backend) -> Iterator[None]:
    """Run a block without Redis."""
    limits.forget_windows()
    connections.connect(replace(backend.settings, redis_url="redis://127.0.0.1:1/0"))
    try:
        yield
    finally:
        connections.use(backend)


@contextmanager
def ledger_frozen(backend: Backend) -> Iterator[None]:
    """Freeze Valkey: it accepts connections and does not answer until the block ends."""
    result: Any = backend.redis.info("server")
    limits.forget_windows()
    os.kill(result["process_id"], signal.SIGSTOP)
    try:
        yield
    finally:
        os.kill(result["process_id"], signal.SIGCONT)
