"""Health checks: what must work for the portal to serve, each over its own connection."""

import logging
import threading
import time
from collections.abc import Callable, Iterable
from concurrent.futures import Future, wait

from redis import RedisError
from sqlalchemy import NullPool, create_engine, text
from sqlalchemy.exc import SQLAlchemyError

from portal.core import ledger_servers, logs, redis_clients, schema
from portal.core.db import with_driver
from portal.core.queue import queue_of
from portal.core.settings import Settings
from portal.ledger import replicas
from portal.ledger.function_library import prefix
from portal.operations.workers import alive, workers

PROMISED = ("record", "promote")  # queues that must have workers
TIMEOUT = 1.5  # seconds for all checks together
FRESH = 0.5  # seconds for which a good result is reused

log = logging.getLogger(__name__)


class Checks:
    """Checks all parts in parallel; one that hangs counts as missing and is not checked twice."""

    def __init__(self, settings: Settings) -> None:
        self.needed = settings.replicas
        self.replicas: int | None = None  # that follow; None if unknown
        self.engine = create_engine(
            with_driver(settings.database_url),
            poolclass=NullPool,
            connect_args={"connect_timeout": 2, "options": "-c statement_timeout=1000"},
        )
        self.redis = redis_clients.commands(settings.queue_url, timeout=1.0, size=4)
        self.servers = ledger_servers.servers(settings.redis_url, self.redis, timeout=1.0, size=4)
        self.checks = {
            part: Check(part, run)
            for part, run in (
                ("database", self._database),
                ("ledger", self._ledger),
                ("record", self._record),
                ("workers", self._workers),
            )
        }

    def missing(self) -> list[str]:
        """Return the names of the parts that cannot serve."""
        answers = {part: check.result() for part, check in self.checks.items()}
        wait(answers.values(), timeout=TIMEOUT)
        names: list[str] = []
        for part, answer in answers.items():
            names += answer.result() if answer.done() else [part]
        if "workers" in names:  # nothing is known about them
            names.remove("workers")
            names += [f"{queue} worker" for queue in PROMISED]
        if {"database", "ledger"} & set(names):  # both are needed to compare them
            names = [name for name in names if name != "record"]
        return names

    def _database(self) -> Iterable[str]:
        with self.engine.connect() as connection:
            read_only = connection.scalar(text("SHOW transaction_read_only"))
            at = connection.scalar(text("SELECT version_num FROM alembic_version"))
        if read_only == "on" or not schema.serves(at):
            yield "database"

    def _ledger(self) -> Iterable[str]:
        try:
            primaries = self.servers.primaries()
            self.replicas = min(replicas.in_sync(each.redis) for each in primaries)
        except RedisError:
            self.replicas = None
            raise
        for each in primaries:  # writes fail on a replica or a full disk
            each.redis.set(f"fairseat:ready{each.tag}", 1, px=60_000)
        if not all(each.redis.function_list(library="fairseat") for each in primaries):
            yield "ledger"
        if self.replicas < self.needed:
            yield "replicas"

    def _record(self) -> Iterable[str]:
        with self.engine.connect() as connection:
            recorded = connection.execute(text("SELECT term_id, seq FROM checkpoints")).all()
        for term, seq in recorded:
            redis = self.servers.of(prefix(term))
            if int(redis.get(f"{prefix(term)}:seq") or 0) < seq:
                yield "record"  # the ledger has lost recorded events
                return

    def _workers(self) -> Iterable[str]:
        for name in PROMISED:
            if not any(map(alive, workers(self.redis, queue_of(self.redis, name)))):
                yield f"{name} worker"


class Check:
    """One check, run in its own thread. All callers during the check share its result.

    "Missing" is never reused: web processes would contradict each other about a part that is back.
    """

    def __init__(self, part: str, check: Callable[[], Iterable[str]]) -> None:
        self.part = part
        self.check = check
        self.lock = threading.Lock()
        self.current: Future[list[str]] | None = None
        self.since = 0.0

    def result(self) -> Future[list[str]]:
        """Return the check in progress, the last one if it may be reused, or a new one."""
        with self.lock:
            old = self.current
            if old and (not old.done() or self._is_fresh(old)):
                return old
            self.current = Future()
            self.since = time.monotonic()
            # A daemon thread: a hanging check must not keep the process from exiting.
            threading.Thread(target=self._run, args=(self.current,), daemon=True).start()
            return self.current

    def _is_fresh(self, answer: Future[list[str]]) -> bool:
        return time.monotonic() - self.since < FRESH and not (answer.exception() or answer.result())

    def _run(self, answer: Future[list[str]]) -> None:
        try:
            answer.set_result(list(self.check()))
        except (OSError, RedisError, SQLAlchemyError) as error:
            logs.warn(log, f"The check of {self.part} failed", error)
            answer.set_result([self.part])
        except BaseException as error:
            answer.set_exception(error)
            raise
