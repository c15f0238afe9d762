"""The clock: one process that, every second, does what is due at a time."""

import logging
import signal
from contextlib import closing, suppress
from threading import Event

from redis import Redis
from redis.exceptions import LockError, RedisError
from redis.lock import Lock

from jobs.trouble import AWAY, LINE, Trouble
from portal.backend import connect
from portal.config import Settings
from portal.record.sweep import Sweeper

LEASE = "fairseat:clock"
LEASE_SECONDS = 3.0  # a clock that died is replaced by another after them
TICK = 1.0


def run_clock() -> None:
    """Tick until told to stop; of several clocks only the one with the lease acts."""
    logging.basicConfig(format=LINE)
    stop = Event()
    for each in (signal.SIGTERM, signal.SIGINT):
        signal.signal(each, lambda *_: stop.set())
    redis = connect(Settings.read()).redis
    sweeper, trouble = Sweeper(), Trouble(usual=TICK)
    with closing(Lease(redis)) as lease:
        while not stop.wait(trouble.pause):
            try:
                tick(sweeper, lease)
            except AWAY as error:
                trouble.met(error)
            else:
                trouble.over()


def tick(sweeper: Sweeper, lease: "Lease") -> None:
    """One second's work: windows turn even while PostgreSQL is away."""
    try:
        sweeper.look()  # it may hang; so the lease is asked for afterwards
    except AWAY:
        if lease.held():
            sweeper.turn()
        raise
    if lease.held():
        sweeper.turn()
        sweeper.call()


class Lease:
    """The right to act, kept by one process at a time and given back at its end."""

    def __init__(self, redis: Redis) -> None:
        self.lock = Lock(redis, LEASE, timeout=LEASE_SECONDS, blocking=False, thread_local=False)

    def held(self) -> bool:
        """Whether it is ours for the next seconds."""
        try:
            return bool(self.lock.reacquire())
        except LockError:  # never ours, or lost
            return bool(self.lock.acquire())

    def close(self) -> None:
        """Let another clock act at once."""
        with suppress(LockError, RedisError):
            self.lock.release()
