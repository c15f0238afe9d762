"""Autoscaling: the scheduler sets the number of workers of each queue, and supervisors follow."""

import json
import logging
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from math import ceil
from time import time
from typing import Any

from redis import Redis
from rq import Queue
from rq.job import Job
from rq.serializers import JSONSerializer

from portal.core import flags
from portal.core.scaling import POOLS, Pool
from portal.operations import workers
from portal.operations.workers import QueueState

KEY = "fairseat:pools"
LATE = 5.0  # seconds: a job that waits this long has found all workers busy
UP_REST = 5.0  # seconds after a change before workers may be added
DOWN_REST = 60.0  # seconds after a change before workers may be removed

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Target:
    """The number of workers of a queue on each machine, and when (s) it was last changed."""

    workers: int
    at: float = 0.0


@dataclass(frozen=True)
class Load:
    """A queue: its target and how many workers are busy, its waiting jobs, and two times (s)."""

    workers: int
    busy: int
    waiting: int
    oldest: float  # since the first job was enqueued
    unchanged: float  # since the last change


def targets(redis: Redis) -> dict[str, Target]:
    """Return the targets by queue; empty before a scheduler first ran."""
    found: Any = redis.hgetall(KEY)
    known = {name.decode(): Target(**json.loads(text)) for name, text in found.items()}
    # An earlier version may have set a target for a queue that is gone.
    return {name: target for name, target in known.items() if name in POOLS}


def set_target(redis: Redis, queue: str, target: Target) -> None:
    """Have every supervisor run that many workers for the queue."""
    redis.hset(KEY, queue, json.dumps(asdict(target)))


class Autoscaler:
    """Checks each second; while autoscaling is off, every queue has its minimum."""

    def __init__(self, redis: Redis, pools: dict[str, Pool]) -> None:
        self.redis = redis
        self.pools = pools

    def check(self) -> None:
        """Set the targets that have changed, and log each change."""
        known, on = targets(self.redis), flags.on("autoscaling")
        for queue in workers.queues(self.redis):
            if pool := self.pools.get(queue.name):
                last = known.get(queue.name, Target(pool.least))
                load = self._load(queue, last)
                count = wanted(pool, load) if on else pool.least
                if count != last.workers:
                    log.warning(
                        "Workers of %s: %d, not %d (%d waiting, the first for %.0f s).",
                        *(queue.name, count, last.workers, load.waiting, load.oldest),
                    )
                    last = Target(count, time())
                if last != known.get(queue.name):
                    set_target(self.redis, queue.name, last)

    def _load(self, queue: QueueState, last: Target) -> Load:
        busy, unchanged = busy_workers(queue, last.workers), time() - last.at
        return Load(last.workers, busy, queue.waiting, self._oldest(queue.name), unchanged)

    def _oldest(self, name: str) -> float:
        """Return the seconds that the first job of a queue has waited."""
        queue = Queue(name, connection=self.redis, serializer=JSONSerializer)
        ids = queue.get_job_ids(0, 1)
        for job in Job.fetch_many(ids, connection=self.redis, serializer=JSONSerializer):
            if job and job.enqueued_at:
                return (datetime.now(UTC) - job.enqueued_at).total_seconds()
        return 0.0


def wanted(pool: Pool, load: Load) -> int:
    """Return the workers wanted: at most one more or fewer than now, within the limits."""
    now = min(pool.most, max(pool.least, load.workers))
    pressed = load.waiting >= pool.up_at or load.oldest > LATE
    if pressed and load.unchanged >= UP_REST:
        return min(pool.most, now + 1)
    quiet = not load.waiting and load.busy < now
    if quiet and load.unchanged >= DOWN_REST:
        return max(pool.least, now - 1)
    return now


def busy_workers(queue: QueueState, target: int) -> int:
    """Return how many of the target are busy, on average over the machines with that many."""
    return ceil(queue.busy * target / max(queue.alive, target))
