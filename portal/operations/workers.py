"""The queues, and the workers that run their jobs."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from socket import gethostname
from typing import Any

from redis import Redis
from rq import Queue, Worker, worker_registration
from rq.worker import BaseWorker, WorkerStatus

from portal.core.queue import QUEUES

SILENCE = timedelta(seconds=20)  # a worker sends a heartbeat every 5 seconds
LEASE = "fairseat:clock"  # that the scheduler renews every second


@dataclass(frozen=True)
class Hand:
    """A worker: what it does, and when (seconds ago) its last heartbeat was."""

    name: str  # host:pid
    state: str  # idle, busy, or silent
    heard: int
    done: int  # jobs

    @property
    def alive(self) -> bool:
        """Return whether it is idle or busy, not silent."""
        return self.state != "silent"


@dataclass(frozen=True)
class Manned:
    """A queue: its jobs by what they wait for, and its workers."""

    name: str
    waiting: int
    later: int  # that are retried in a moment
    dead: int
    hands: Sequence[Hand]

    @property
    def busy(self) -> int:
        """Return how many of its workers are busy."""
        return sum(hand.state == "busy" for hand in self.hands)

    @property
    def served(self) -> bool:
        """Return whether it has a worker that is not silent."""
        return any(hand.alive for hand in self.hands)


class Met(Worker):
    """A worker as other processes see it.

    It keeps the connection's timeout, which RQ's own class would raise.
    """

    def _set_connection(self, connection: Redis) -> Redis:
        return connection


def workers(redis: Redis, queue: Queue | None = None) -> list[BaseWorker]:
    """Return all workers, or those of a queue."""
    return Met.all(connection=redis, queue=queue)


def queues(redis: Redis) -> list[Manned]:
    """Return the state of every queue."""
    with redis.pipeline(transaction=False) as pipe:
        for name in QUEUES:
            queue = Queue(name, connection=redis)
            pipe.llen(queue.key)
            pipe.zcard(queue.scheduled_job_registry.key)
            pipe.zcard(queue.failed_job_registry.key)
        counts = iter(pipe.execute())
    hands = _hands(redis)
    return [
        Manned(name, next(counts), next(counts), next(counts), hands.get(name, []))
        for name in QUEUES
    ]


def ticking(redis: Redis) -> bool:
    """Return whether a scheduler has the lease."""
    return bool(redis.exists(LEASE))


def alive(worker: BaseWorker) -> bool:
    """Return whether a worker has sent a heartbeat lately."""
    beat: datetime | None = worker.last_heartbeat
    return beat is not None and datetime.now(UTC) - beat < SILENCE


def forget(redis: Redis, pid: int) -> None:
    """Remove the worker of an ended process of this machine from the list."""
    for worker in workers(redis):
        if (worker.pid, worker.hostname) == (pid, gethostname()):
            worker_registration.unregister(worker)
            redis.delete(worker.key)


def _hands(redis: Redis) -> dict[str, list[Hand]]:
    found: dict[str, list[Hand]] = {}
    for worker in sorted(workers(redis), key=_place):
        for queue in worker.queue_names():
            found.setdefault(queue, []).append(_hand(worker))
    return found


def _hand(worker: BaseWorker) -> Hand:
    beat = worker.last_heartbeat or datetime.now(UTC)
    heard = max(0, round((datetime.now(UTC) - beat).total_seconds()))
    busy = worker.get_state() == WorkerStatus.BUSY
    state = ("busy" if busy else "idle") if alive(worker) else "silent"
    return Hand(":".join(map(str, _place(worker))), state, heard, worker.successful_job_count)


def _place(worker: BaseWorker) -> tuple[str, int]:
    facts: Any = worker
    return facts.hostname or "", facts.pid or 0
