"""The queues, and the workers that do what is in them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from socket import gethostname
from typing import Any

from redis import Redis
from rq import Queue, Worker, worker_registration
from rq.worker import BaseWorker, WorkerStatus

from portal.core.queue import QUEUES

SILENCE = timedelta(seconds=20)  # a worker's heart beats every 5 seconds
LEASE = "fairseat:clock"  # that the clock renews every second


@dataclass(frozen=True)
class Hand:
    """A worker: what it does, and when (seconds ago) it was last heard of."""

    name: str  # host:pid
    state: str  # idle, busy, or silent
    heard: int
    done: int  # jobs

    @property
    def alive(self) -> bool:
        """Whether it can be counted on."""
        return self.state != "silent"


@dataclass(frozen=True)
class Manned:
    """A queue: its jobs by what they wait for, and its workers."""

    name: str
    waiting: int
    later: int  # that are tried again in a moment
    dead: int
    hands: Sequence[Hand]

    @property
    def busy(self) -> int:
        """How many of them have a job in hand."""
        return sum(hand.state == "busy" for hand in self.hands)

    @property
    def served(self) -> bool:
        """Whether a worker that can be counted on listens."""
        return any(hand.alive for hand in self.hands)


class Met(Worker):
    """A worker as others see it, who keep their connection's patience: RQ would stretch it."""

    def _set_connection(self, connection: Redis) -> Redis:
        return connection


def workers(redis: Redis, queue: Queue | None = None) -> list[BaseWorker]:
    """All of them, or those of a queue."""
    return Met.all(connection=redis, queue=queue)


def queues(redis: Redis) -> list[Manned]:
    """Every queue as it stands."""
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
    """Whether a clock has the lease."""
    return bool(redis.exists(LEASE))


def alive(worker: BaseWorker) -> bool:
    """Whether a worker has been heard of lately."""
    beat: datetime | None = worker.last_heartbeat
    return beat is not None and datetime.now(UTC) - beat < SILENCE


def forget(redis: Redis, pid: int) -> None:
    """Take the worker of a process of this machine that has ended off the list."""
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
