"""Whether web processes have read what an opening needs: each reads by itself, and says so."""

import json
import logging
import os
import socket
from dataclasses import dataclass
from random import random
from threading import Event
from typing import Any

from redis.exceptions import RedisError

from portal.backend import backend
from portal.catalog import term_catalog
from portal.ledger import replicas
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.function_library import translate_errors
from portal.people import accounts, profile

WANTED = "warm:wanted"  # moment (ms) since which whoever has not read anew is to do so
PROCESSES = "warm:processes"  # hash: process -> what it says of itself
EVERY = 3.0  # seconds between two looks
LOST = 15_000  # ms after which a process that says nothing is one no more

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Process:
    """A web process: up to which wish (ms) it has read, how many profiles, when it said so."""

    wish: int
    profiles: int
    read: int
    at: int


def want(at: int) -> None:
    """Have every web process read what is offered and who students are (`at` in ms)."""
    with translate_errors():
        backend().redis.set(WANTED, at)


def read_ahead() -> None:
    """Read what is offered and who students are, so that a rush need not ask PostgreSQL."""
    term_catalog.preload()
    profile.preload()
    accounts.preload()


def processes() -> list[Process]:
    """The web processes that are there."""
    with translate_errors():
        found: Any = backend().redis.hvals(PROCESSES)
    known = [Process(**json.loads(each)) for each in found]
    now = backend().ledger.now()
    return [each for each in known if each.at > now - LOST]


def watch(ended: Event) -> None:
    """In a web process: read when it is wanted, and say so every few seconds."""
    name, said = f"{socket.gethostname()}:{os.getpid()}", Process(0, 0, 0, 0)
    while not ended.wait(EVERY * (0.5 + random())):  # noqa: S311  so that not all read at once
        try:
            said = look(name, said)
        except (LedgerUnavailable, RedisError, OSError):
            continue  # the next look finds it back
        except Exception:
            log.exception("What an opening needs could not be read ahead.")


def look(name: str, before: Process) -> Process:
    """Read if it has been wanted since, say so, and forget the processes that are gone."""
    redis, now = backend().redis, backend().ledger.now
    with translate_errors():
        wish = int(redis.get(WANTED) or 0)
        if backend().settings.replicas:
            replicas.look(redis)
    read = before.read
    if wish > before.wish or not read:
        read_ahead()
        read = now()
    said = Process(wish, profile.known(), read, now())
    with translate_errors():
        redis.hset(PROCESSES, name, json.dumps(vars(said)))
        told: Any = redis.hgetall(PROCESSES)
        gone = [each for each, what in told.items() if json.loads(what)["at"] < said.at - 4 * LOST]
        if gone:
            redis.hdel(PROCESSES, *gone)
    return said
