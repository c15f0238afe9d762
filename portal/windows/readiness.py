"""Whether web processes have read what an opening needs: each reads by itself, and says so."""

import json
import logging
import os
import socket
from dataclasses import dataclass
from datetime import timedelta
from random import random
from threading import Event
from typing import Any

from redis.exceptions import RedisError
from redis.lock import Lock
from sqlalchemy import func, select
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog import term_catalog
from portal.catalog.models import Term
from portal.core.db import transaction
from portal.ledger import replicas
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.function_library import prefix, translate_errors
from portal.people import student_profile, visitors
from portal.people.models import Student
from portal.recorder.events import milliseconds
from portal.windows.models import Window
from portal.windows.warmup import warm_up

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


def request_preload(at: int) -> None:
    """Have every web process read what is offered and who students are (`at` in ms)."""
    with translate_errors():
        backend().redis.set(WANTED, at)


def read_ahead() -> None:
    """Read what is offered and who students are, so that a rush need not ask PostgreSQL."""
    term_catalog.preload()
    student_profile.preload()
    visitors.preload()


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
            said = report(name, said)
        except (LedgerUnavailable, RedisError, OSError):
            continue  # the next look finds it back
        except Exception:
            log.exception("What an opening needs could not be read ahead.")


def report(name: str, before: Process) -> Process:
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
    said = Process(wish, student_profile.cached(), read, now())
    with translate_errors():
        redis.hset(PROCESSES, name, json.dumps(vars(said)))
        told: Any = redis.hgetall(PROCESSES)
        gone = [each for each, what in told.items() if json.loads(what)["at"] < said.at - 4 * LOST]
        if gone:
            redis.hdel(PROCESSES, *gone)
    return said


# A term made ready for its openings: the ledger told of every section, the web processes warm.
#
# Whoever asks, and however many at once, it is done once for each catalogue and each opening.

LEAD = timedelta(minutes=15)  # before an opening
LOCK_SECONDS = 50.0


@dataclass(frozen=True)
class Target:
    """What a term is to be ready for: its catalogue, and its next opening (ms) or 0."""

    version: int = 0
    opening: int = 0

    def met_by(self, done: "Target") -> bool:
        """Whether what was done is all of it; an opening that is past asks for nothing."""
        return self.version == done.version and self.opening in {0, done.opening}


@dataclass(frozen=True)
class Readiness:
    """How far it has come; `begun`, `told` and `wanted` (of web processes) in ms, 0 = not yet."""

    wish: Target
    sections: int
    done: int
    begun: int
    told: int
    wanted: int = 0


def make_ready(term: int) -> bool:
    """Make a term ready unless it is; whether anything had to be done.

    Raises LedgerBehind where the ledger has lost what was recorded.
    """
    redis = backend().redis
    with (
        translate_errors(),
        Lock(redis, f"{_key(term)}:lock", timeout=LOCK_SECONDS, blocking_timeout=40),
    ):
        wish, now = current_target(term), backend().ledger.now()
        found = readiness(term)
        if found and found.told and wish.met_by(found.wish) and _whole(term, found):
            return False
        _note(term, begun=now, told=0, sections=0, done=0, **vars(wish))
        warm_up(term, lambda done, of: _note(term, done=done, sections=of))
        now = backend().ledger.now()
        _note(term, told=now)
        if wish.opening:  # a rush that is on must not be slowed by reading everything
            request_preload(now)
            _note(term, wanted=now)
    return True


def readiness(term: int) -> Readiness | None:
    """How ready a term is; None where nothing has been begun."""
    with translate_errors():
        found: Any = backend().redis.hgetall(_key(term))
    if not found:
        return None
    kept = {name.decode(): int(value) for name, value in found.items()}
    wish = Target(kept.pop("version"), kept.pop("opening"))
    return Readiness(wish, **kept)


def current_target(term: int) -> Target:
    """What the term is to be ready for now."""
    with transaction() as session:
        version = session.scalar(select(Term.catalog_version).where(Term.id == term))
        opens = session.scalar(select(opening()).where(Term.id == term))
    return Target(version or 0, milliseconds(opens) if opens else 0)


def opening() -> Any:
    """The next opening of a term within the lead, as a part of a query of terms."""
    return (
        select(func.min(Window.opens_at))
        .where(Window.term_id == Term.id, Window.state == "scheduled")
        .where(Window.opens_at > func.now(), Window.opens_at <= func.now() + LEAD)
        .correlate(Term)
        .scalar_subquery()
    )


def count_students(session: Session) -> int:
    """How many profiles there are to be read."""
    live = select(func.count()).select_from(Student).where(Student.deleted_at.is_(None))
    return session.scalar(live) or 0


def _whole(term: int, found: Readiness) -> bool:
    """Whether the ledger has the sections still that it was told of."""
    return len(backend().ledger.seats(term)) >= found.sections


def _note(term: int, **facts: int) -> None:
    with translate_errors(), backend().redis.pipeline(transaction=True) as pipe:
        for name, value in facts.items():
            pipe.hset(_key(term), name, value)
        pipe.execute()


def _key(term: int) -> str:
    return f"{prefix(term)}:warmup"
