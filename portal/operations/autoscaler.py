"""Autoscaling: the scheduler sets the number of workers of each queue, and supervisors follow."""

import json
import logging
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from time import time
from typing import Any

from redis import Redis

from portal.core import flags
from portal.core.queue import find_jobs, queue_of
from portal.core.scaling import POOLS, Pool
from portal.operations import workers
from portal.operations.backlog import Backlog
from portal.operations.workers import QueueState

KEY = "fairseat:pools"
LATE = 5.0  # seconds: a job that waits this long has found all workers busy
UP_REST = 5.0  # seconds after a change before workers may be added
# Queues that have jobs which the backlog does not count, such as imports and reminders.
MIXED = {"background", "notify"}
DOWN_REST = 60.0  # seconds after a change before workers may be removed

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Target:
    """The number of workers of a queue on each machine, and when (s) it was last changed."""

    workers: int
    at: float = 0.0


def targets(redis: Redis) -> dict[str, Target]:
    """Return the targets by queue; empty before a scheduler first ran."""
    found: Any = redis.hgetall(KEY)
    facts = {name.decode(): json.loads(text) for name, text in found.items()}
    # An earlier version may have stored more about a target, or set one for a queue that is gone.
    return {
        name: Target(each["workers"], each["at"]) for name, each in facts.items() if name in POOLS
    }


def set_target(redis: Redis, queue: str, target: Target) -> None:
    """Have every supervisor run that many workers for the queue."""
    redis.hset(KEY, queue, json.dumps(asdict(target)))


class Autoscaler:
    """Checks the queues; while autoscaling is off, every queue has its minimum.

    `backlogs` reads the work behind the queues. A queue that it leaves out is judged by its jobs.
    """

    def __init__(
        self,
        redis: Redis,
        pools: dict[str, Pool],
        backlogs: Callable[[], Mapping[str, Backlog]] = dict,
    ) -> None:
        self.redis = redis
        self.pools = pools
        self.backlogs = backlogs

    def check(self) -> None:
        """Set the targets that have changed, and log each change."""
        known, on = targets(self.redis), flags.on("autoscaling")
        backlogs = self.backlogs()
        for queue in workers.queues(self.redis):
            if pool := self.pools.get(queue.name):
                last = known.get(queue.name, Target(pool.least))
                work = self._work(queue, backlogs.get(queue.name))
                count = wanted(pool, last, queue, work) if on else pool.least
                if count != last.workers:
                    log.warning(
                        "Workers of %s: %d, not %d (%d waiting, the first for %.0f s).",
                        *(queue.name, count, last.workers, work.depth, work.age),
                    )
                    last = Target(count, time())
                if last != known.get(queue.name):
                    set_target(self.redis, queue.name, last)

    def _work(self, queue: QueueState, backlog: Backlog | None) -> Backlog:
        """Return what waits: the jobs, or the work behind them if that is more."""
        age = self._oldest(queue.name) if queue.waiting else 0.0
        jobs = Backlog(queue.waiting, age, queue.waiting + queue.busy)
        if backlog is None:
            return jobs
        shares = max(backlog.shares, jobs.shares) if queue.name in MIXED else backlog.shares
        return Backlog(max(jobs.depth, backlog.depth), max(jobs.age, backlog.age), shares)

    def _oldest(self, name: str) -> float:
        """Return the seconds that the first job of a queue has waited."""
        for job in find_jobs(self.redis, queue_of(self.redis, name).get_job_ids(0, 1)):
            if job.enqueued_at:
                return (datetime.now(UTC) - job.enqueued_at).total_seconds()
        return 0.0


def wanted(pool: Pool, last: Target, queue: QueueState, work: Backlog) -> int:
    """Return the workers wanted: at most one more or fewer than now, within the limits.

    Never more than can share the work: another one would find nothing to do.
    """
    now = min(pool.most, max(pool.least, last.workers))
    if queue.paused:  # what waits says nothing about the workers
        return now
    unchanged = time() - last.at
    much = work.depth >= pool.up_at or work.age > LATE
    if much and now < work.shares and unchanged >= UP_REST:
        return min(pool.most, now + 1)
    if not queue.waiting and not much and queue.busy < now and unchanged >= DOWN_REST:
        return max(pool.least, now - 1)
    return now
