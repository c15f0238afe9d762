"""The scheduler: one process that runs timed work every second."""

import logging
import signal
from contextlib import closing, suppress
from threading import Event, Thread

from redis import Redis
from redis.exceptions import LockError, RedisError
from redis.lock import Lock

from jobs.chores import Chores
from portal import subscribers
from portal.backend import connect
from portal.core import logs, metrics, scaling, traces
from portal.core.outage import AWAY, Backoff
from portal.core.settings import Settings
from portal.exchange.exporting import export_jobs
from portal.exchange.importing import runs
from portal.operations.autoscaler import Autoscaler
from portal.operations.dead_letters import Watch
from portal.operations.workers import LEASE
from portal.recorder.sweep import Sweeper
from portal.waiting_room.room import advance_all

LEASE_SECONDS = 3.0  # after this, another scheduler replaces one that died
TICK = 1.0

log = logging.getLogger(__name__)


def run_clock() -> None:
    """Run until told to stop; of several schedulers, only the one with the lease acts."""
    logs.begin("clock")
    metrics.begin("clock")
    traces.begin("clock")
    stop = Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda *_: stop.set())
    settings = Settings.read()
    pools = scaling.pools(settings.workers)
    redis = connect(settings).redis
    subscribers.connect()
    sweeper, trouble = Sweeper(), Backoff(usual=TICK)
    watches = Watch(redis), Chores(redis), Autoscaler(redis, pools)
    if settings.room:
        Thread(target=attend_rooms, args=(sweeper, stop), daemon=True).start()
    with closing(Lease(redis)) as lease:
        while not stop.wait(trouble.pause):
            try:
                tick(sweeper, lease, *watches)
            except AWAY as error:
                trouble.met(error)
            else:
                trouble.over()


def attend_rooms(sweeper: Sweeper, stop: Event) -> None:
    """Update the waiting rooms, even if PostgreSQL is down. Needs no lease."""
    pause = 0.0
    while not stop.wait(pause):
        try:
            pause = advance_all(term.id for term in sweeper.terms)
        except AWAY:  # which the sweep also reports
            pause = TICK
        except Exception:
            log.exception("The waiting rooms could not be attended to.")
            pause = TICK


def tick(sweeper: Sweeper, lease: "Lease", *watches: Watch | Chores | Autoscaler) -> None:
    """Do one second's work; while PostgreSQL is down, windows still turn and fences go up."""
    try:
        sweeper.look()  # it may hang; so check the lease afterwards
    except AWAY:
        if lease.held():
            sweeper.turn()
        raise
    if lease.held():
        sweeper.turn()
        sweeper.call()
        runs.resume()
        export_jobs.resume()
        for each in watches:
            each.look()


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
