"""Make a term ready to open: the ledger has every section, the web processes warm caches.

Each catalog version and each opening is prepared once, however often that is requested.
"""

import json
import logging
import os
import socket
from contextlib import suppress
from dataclasses import dataclass, fields
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
from portal.core.moments import milliseconds
from portal.ledger import replicas
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.function_library import prefix, translate_errors
from portal.people import student_profile, visitors
from portal.people.models import Student
from portal.windows.models import Window
from portal.windows.warmup import warm_up

LEAD = timedelta(minutes=15)  # before an opening
LOCK_SECONDS = 50.0
PRELOAD = "warm:preload"  # moment (ms) of the last request to fill the caches
PROCESSES = "warm:processes"  # hash: process -> its last report
REPORT_SECONDS = 3.0  # between two reports of a web process
LOST = 15_000  # ms without a report after which a process counts as ended

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Target:
    """What to prepare a term for: its catalog version, and its next opening (ms) or 0."""

    version: int = 0
    opening: int = 0

    def met_by(self, done: "Target") -> bool:
        """Return whether everything is prepared; a past opening needs nothing."""
        return self.version == done.version and self.opening in {0, done.opening}


@dataclass(frozen=True)
class Readiness:
    """How far the preparation is: `done` of `sections` are in the ledger.

    When it began, when all sections were sent, and when the caches were to be filled are in ms;
    0 = not yet.
    """

    target: Target
    sections: int
    done: int
    begun: int
    sent: int
    preload: int = 0


@dataclass(frozen=True)
class Process:
    """A web process: the request (ms) it has met, its cached profiles, and when it read them."""

    request: int
    profiles: int
    read: int
    at: int


FIELDS = {each.name for each in fields(Process)}


def make_ready(term: int) -> bool:
    """Prepare the term unless it is ready; return whether there was work to do.

    Raises LedgerBehind if the ledger has lost recorded events.
    """
    redis = backend().ledger.redis(term)
    with (
        translate_errors(),
        Lock(redis, f"{_key(term)}:lock", timeout=LOCK_SECONDS, blocking_timeout=40),
    ):
        target, now = current_target(term), backend().ledger.now()
        found = readiness(term)
        if found and found.sent and target.met_by(found.target) and _has_sections(term, found):
            return False
        _store(term, begun=now, sent=0, sections=0, done=0, **vars(target))
        warm_up(term, lambda done, of: _store(term, done=done, sections=of))
        now = backend().ledger.now()
        _store(term, sent=now)
        if target.opening:  # while a window is open, bulk reads would slow it down
            request_preload(now)
            _store(term, preload=now)
    return True


def readiness(term: int) -> Readiness | None:
    """Return how ready a term is; None if nothing has begun."""
    with translate_errors():
        found: Any = backend().ledger.redis(term).hgetall(_key(term))
    if not found:
        return None
    facts = {name.decode(): int(value) for name, value in found.items()}
    target = Target(facts["version"], facts["opening"])
    # Another version may have stored other fields: without `sent`, the preparation begins again.
    own = {name: facts.get(name, 0) for name in ("sections", "done", "begun", "sent", "preload")}
    return Readiness(target, **own)


def current_target(term: int) -> Target:
    """Return what the term should be ready for now."""
    with transaction() as session:
        version = session.scalar(select(Term.catalog_version).where(Term.id == term))
        opens = session.scalar(select(opening()).where(Term.id == term))
    return Target(version or 0, milliseconds(opens) if opens else 0)


def opening() -> Any:
    """Return a subquery of terms: the next opening within the lead time."""
    return (
        select(func.min(Window.opens_at))
        .where(Window.term_id == Term.id, Window.state == "scheduled")
        .where(Window.opens_at > func.now(), Window.opens_at <= func.now() + LEAD)
        .correlate(Term)
        .scalar_subquery()
    )


def count_students(session: Session) -> int:
    """Return the number of profiles to read."""
    live = select(func.count()).select_from(Student).where(Student.deleted_at.is_(None))
    return session.scalar(live) or 0


def request_preload(at: int) -> None:
    """Ask every web process to fill its caches (`at` in ms)."""
    with translate_errors():
        backend().redis.set(PRELOAD, at)


def read_ahead() -> None:
    """Fill this process's caches, so that a rush need not wait for PostgreSQL."""
    term_catalog.preload()
    student_profile.preload()
    visitors.preload()


def processes() -> list[Process]:
    """Return the web processes that run."""
    with translate_errors():
        found: Any = backend().redis.hvals(PROCESSES)
    now = backend().ledger.now()
    reports = [json.loads(each) for each in found]
    # A process of another version, which is being replaced, reports other fields.
    own = [Process(**each) for each in reports if each.keys() == FIELDS]
    return [each for each in own if each.at > now - LOST]


def watch(ended: Event) -> None:
    """In a web process: fill the caches on request, and report every few seconds."""
    name, last = f"{socket.gethostname()}:{os.getpid()}", Process(0, 0, 0, 0)
    # At random intervals, so that not all processes read at once.
    while not ended.wait(REPORT_SECONDS * (0.5 + random())):  # noqa: S311
        try:
            last = report(name, last)
        except (LedgerUnavailable, RedisError, OSError):
            continue  # the next report tries again
        except Exception:
            log.exception("could not fill the caches for an opening")


def report(name: str, last: Process) -> Process:
    """Fill the caches if requested since the last report, report, and remove ended processes."""
    redis, now = backend().redis, backend().ledger.now
    with translate_errors():
        requested = int(redis.get(PRELOAD) or 0)
        if backend().settings.replicas:
            _notice_replicas()
    read = last.read
    if requested > last.request or not read:
        read_ahead()
        read = now()
    current = Process(requested, student_profile.cached(), read, now())
    with translate_errors():
        redis.hset(PROCESSES, name, json.dumps(vars(current)))
        reports: Any = redis.hgetall(PROCESSES)
        oldest = current.at - 4 * LOST
        gone = [each for each, facts in reports.items() if json.loads(facts)["at"] < oldest]
        if gone:
            redis.hdel(PROCESSES, *gone)
    return current


def _notice_replicas() -> None:
    """Look which replicas each primary has that answers."""
    for primary in backend().ledger.servers.primaries():
        with suppress(RedisError):
            replicas.notice_changes(primary.redis)


def _has_sections(term: int, found: Readiness) -> bool:
    """Return whether the ledger still has the sections that were sent."""
    return len(backend().ledger.seats(term)) >= found.sections


def _store(term: int, **facts: int) -> None:
    mapping: Any = facts
    with translate_errors():
        backend().ledger.redis(term).hset(_key(term), mapping=mapping)


def _key(term: int) -> str:
    return f"{prefix(term)}:warmup"
