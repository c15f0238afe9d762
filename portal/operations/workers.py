"""The queues, and the workers that run their jobs."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from socket import gethostname

from redis import Redis
from rq import Queue, Worker, worker_registration
from rq.worker import BaseWorker, WorkerStatus

from portal.core import flags, job_counts
from portal.core.job_counts import JobCounts
from portal.core.queue import QUEUES, pause_flag, queue_of

SILENCE = timedelta(seconds=20)  # a worker sends a heartbeat every 5 seconds
STATES = {
    WorkerStatus.BUSY.value: "busy",
    WorkerStatus.SUSPENDED.value: "paused",
}  # others are idle
LEASE = "fairseat:scheduler"  # that the scheduler renews every second


@dataclass(frozen=True)
class WorkerState:
    """A worker: what it does, and when (seconds ago) its last heartbeat was."""

    name: str  # host:pid
    state: str  # idle, busy, paused or silent
    heartbeat: int = 0

    @property
    def alive(self) -> bool:
        """Return whether it sends heartbeats."""
        return self.state != "silent"


@dataclass(frozen=True)
class QueueState:
    """A queue: its jobs by what they wait for, and its workers."""

    name: str
    waiting: int
    later: int  # that are retried in a moment
    dead: int
    workers: Sequence[WorkerState]
    counts: JobCounts = field(default_factory=JobCounts)
    paused: bool = False

    @property
    def alive(self) -> int:
        """Return how many of its workers are not silent."""
        return sum(each.alive for each in self.workers)

    @property
    def busy(self) -> int:
        return sum(each.state == "busy" for each in self.workers)


class SeenWorker(Worker):
    """A worker as other processes see it.

    It keeps the connection's timeout, which RQ's own class would raise.
    """

    def _set_connection(self, connection: Redis) -> Redis:
        return connection


def workers(redis: Redis, queue: Queue | None = None) -> list[BaseWorker]:
    """Return all workers, or those of a queue."""
    return SeenWorker.all(connection=redis, queue=queue)


def queues(redis: Redis) -> list[QueueState]:
    with redis.pipeline(transaction=False) as pipe:
        for name in QUEUES:
            queue = queue_of(redis, name)
            pipe.llen(queue.key)
            pipe.zcard(queue.scheduled_job_registry.key)
            pipe.zcard(queue.failed_job_registry.key)
        counts = iter(pipe.execute())
    found: defaultdict[str, list[WorkerState]] = defaultdict(list)
    for worker in sorted(workers(redis), key=lambda each: (each.hostname or "", each.pid or 0)):
        for name in worker.queue_names():
            found[name].append(_state(worker))
    ended = job_counts.read(redis, QUEUES)
    return [
        QueueState(
            name,
            waiting=next(counts),
            later=next(counts),
            dead=next(counts),
            workers=found[name],
            counts=ended[name],
            paused=not flags.on(pause_flag(name)),
        )
        for name in QUEUES
    ]


def scheduler_runs(redis: Redis) -> bool:
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


def _state(worker: BaseWorker) -> WorkerState:
    now = datetime.now(UTC)
    beat = worker.last_heartbeat or now
    state = STATES.get(worker.get_state(), "idle") if alive(worker) else "silent"
    seconds = max(0, round((now - beat).total_seconds()))
    return WorkerState(f"{worker.hostname or ''}:{worker.pid or 0}", state, seconds)
