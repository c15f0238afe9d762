"""The autoscaler: the scheduler requests more or fewer workers, by the length of the queues."""

import logging
from math import ceil
from time import time

from redis import Redis

from portal.core import flags, scaling
from portal.core.scaling import Asked, Pool, Seen
from portal.operations import workers as crew
from portal.operations.workers import Manned

log = logging.getLogger(__name__)


class Autoscaler:
    """Checks each second; while autoscaling is off, every queue has its minimum."""

    def __init__(self, redis: Redis, pools: dict[str, Pool]) -> None:
        self.redis = redis
        self.pools = pools

    def look(self) -> None:
        """Request the workers that are wanted, and log each change."""
        before, on = scaling.asked(self.redis), flags.on("autoscaling")
        queues = {queue.name: queue for queue in crew.queues(self.redis)}
        wishes: dict[str, Asked] = {}
        for name, pool in self.pools.items():
            known = before.get(name, Asked(pool.least))
            now = scaling.seen(self.redis, name, known, busy(queues[name], known.workers))
            count = scaling.wanted(pool, now) if on else pool.least
            if count != known.workers:
                wishes[name] = Asked(count, time(), _why(now) if on else "switched off")
                log.warning(
                    "Workers of %s: %d, not %d (%s).",
                    name,
                    count,
                    known.workers,
                    wishes[name].why,
                )
            elif name not in before:
                wishes[name] = known
        if wishes:
            scaling.ask(self.redis, wishes)


def busy(queue: Manned, workers: int) -> int:
    """Return how many of so many workers are busy, averaged over the machines with that many."""
    alive = sum(hand.alive for hand in queue.hands)
    return ceil(queue.busy * workers / max(alive, workers))


def _why(now: Seen) -> str:
    return f"{now.waiting} waiting, the first for {now.oldest:.0f} s" if now.waiting else "quiet"
