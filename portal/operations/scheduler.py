"""The scheduler: one process that runs timed work every second."""

import logging
import signal
from collections.abc import Callable
from contextlib import closing, suppress
from threading import Event, Thread
from time import monotonic

from redis import Redis
from redis.exceptions import LockError, RedisError
from redis.lock import Lock

from portal.backend import backend
from portal.core import scaling
from portal.core.latency import LateAnswers
from portal.core.outage import AWAY, Backoff
from portal.core.queue import KEPT, queue_of
from portal.core.redis_clients import commands
from portal.exchange.exporting import export_jobs
from portal.exchange.importing import runs
from portal.operations import backlog
from portal.operations.autoscaler import Autoscaler
from portal.operations.dead_letters import Watch
from portal.operations.workers import LEASE
from portal.recorder.sweep import Sweeper
from portal.waiting_room.room import advance_all

LEASE_SECONDS = 3.0  # after this, another scheduler replaces one that died
TICK = 1.0
# Seconds between duties that need not be done each second.
SCALE_EVERY = 2.0
RESUME_EVERY = 5.0
CLEANUP_EVERY = 60 * 60.0
CLEANUP_JOB = "jobs.background.delete_expired"

log = logging.getLogger(__name__)


class Lease:
    """The right to act: one process at a time has it, and gives it back when it exits."""

    def __init__(self, redis: Redis) -> None:
        self.lock = Lock(redis, LEASE, timeout=LEASE_SECONDS, blocking=False, thread_local=False)

    def held(self) -> bool:
        """Return whether it is ours for the next seconds."""
        try:
            return bool(self.lock.reacquire())
        except LockError:  # never ours, or lost
            return bool(self.lock.acquire())

    def close(self) -> None:
        """Let another scheduler act at once."""
        with suppress(LockError, RedisError):
            self.lock.release()


class Every:
    """Does a duty when the scheduler starts, then again after so many seconds."""

    def __init__(self, seconds: float, duty: Callable[[], object]) -> None:
        self.seconds = seconds
        self.duty = duty
        self.due = 0.0

    def check(self) -> None:
        """Do it if it is time."""
        if monotonic() >= self.due:
            self.duty()
            self.due = monotonic() + self.seconds


def enqueue_cleanup(redis: Redis) -> None:
    """Enqueue the deletion of old data."""
    queue = queue_of(redis, "background")
    queue.enqueue(CLEANUP_JOB, job_id="cleanup", result_ttl=0, failure_ttl=KEPT)


def run() -> None:
    """Run until told to stop; of several schedulers, only the one with the lease acts."""
    stop = Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda *_: stop.set())
    settings, redis = backend().settings, backend().redis
    sweeper, backoff = Sweeper(), Backoff(usual=TICK)
    scaler = Autoscaler(redis, scaling.pools(settings.workers), lambda: backlog.read(sweeper.terms))
    duties = (
        Watch(redis),
        Every(RESUME_EVERY, runs.resume),
        Every(RESUME_EVERY, export_jobs.resume),
        Every(SCALE_EVERY, scaler.check),
        Every(CLEANUP_EVERY, lambda: enqueue_cleanup(redis)),
    )
    if settings.room:
        Thread(target=_advance_waiting_rooms, args=(sweeper, stop), daemon=True).start()
    with closing(Lease(redis)) as lease:
        while not stop.wait(backoff.pause):
            try:
                tick(sweeper, lease, *(each.check for each in duties))
            except AWAY as error:
                backoff.failed(error)
            else:
                backoff.succeeded()


def tick(sweeper: Sweeper, lease: Lease, *duties: Callable[[], object]) -> None:
    """Do one second's work; while PostgreSQL is down, windows still turn and fences go up."""
    try:
        sweeper.read_terms()  # it may hang; so check the lease afterwards
    except AWAY:
        if lease.held():
            sweeper.turn_windows()
        raise
    if lease.held():
        sweeper.turn_windows()
        sweeper.enqueue_due()
        for duty in duties:
            duty()


def _advance_waiting_rooms(sweeper: Sweeper, stop: Event) -> None:
    """Update the waiting rooms, even if PostgreSQL is down. Needs no lease."""
    pause, late = 0.0, LateAnswers(commands(backend().settings.queue_url, timeout=0.3, size=1))
    while not stop.wait(pause):
        try:
            pause = advance_all((term.id for term in sweeper.terms), slow=late.too_many())
        except AWAY:  # which the sweep also reports
            pause = TICK
        except Exception:
            log.exception("The waiting rooms could not be updated.")
            pause = TICK
