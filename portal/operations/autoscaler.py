"""The autoscaler: the scheduler requests more or fewer workers, by the length of the queues."""

import logging
from math import ceil
from time import time

from redis import Redis

from portal.core import flags, scaling
from portal.core.scaling import Pool, WorkerRequest
from portal.operations import workers
from portal.operations.workers import QueueState

log = logging.getLogger(__name__)


class Autoscaler:
    """Checks each second; while autoscaling is off, every queue has its minimum."""

    def __init__(self, redis: Redis, pools: dict[str, Pool]) -> None:
        self.redis = redis
        self.pools = pools

    def look(self) -> None:
        """Request the workers that are wanted, and log each change."""
        before, on = scaling.requested(self.redis), flags.on("autoscaling")
        queues = {queue.name: queue for queue in workers.queues(self.redis)}
        requests: dict[str, WorkerRequest] = {}
        for name, pool in self.pools.items():
            last = before.get(name, WorkerRequest(pool.least))
            now = scaling.seen(self.redis, name, last, busy(queues[name], last.workers))
            count = scaling.wanted(pool, now) if on else pool.least
            if count != last.workers:
                waits = f"{now.waiting} waiting, the first for {now.oldest:.0f} s"
                why = (waits if now.waiting else "quiet") if on else "switched off"
                requests[name] = WorkerRequest(count, time(), why)
                log.warning("Workers of %s: %d, not %d (%s).", name, count, last.workers, why)
            elif name not in before:
                requests[name] = last
        if requests:
            scaling.ask(self.redis, requests)


def busy(queue: QueueState, workers: int) -> int:
    """Return how many of so many workers are busy, averaged over the machines with that many."""
    return ceil(queue.busy * workers / max(queue.alive, workers))
