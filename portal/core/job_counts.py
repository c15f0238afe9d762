"""Counts of the jobs of each queue that ended in the last minutes, in Redis for all workers."""

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from time import time
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

SLOT = 60  # seconds that are counted together
SLOTS = 10  # slots before the current one
KEY = "fairseat:jobs:{}"  # a hash: queue, colon, outcome -> how often


@dataclass(frozen=True)
class JobCounts:
    """The runs of a queue's jobs in so many `seconds`."""

    done: int = 0
    failed: int = 0
    seconds: float = SLOT

    @property
    def per_minute(self) -> float:
        """Return how many jobs were done a minute."""
        return self.done * 60 / self.seconds

    @property
    def error_rate(self) -> float | None:
        """Return the share of runs that failed; None if there were none."""
        runs = self.done + self.failed
        return self.failed / runs if runs else None


def count(redis: Redis, queue: str, outcome: str) -> None:
    """Count a job that has ended; without Redis, none is counted."""
    key = KEY.format(int(time()) // SLOT)
    with suppress(RedisError, OSError), redis.pipeline(transaction=False) as pipe:
        pipe.hincrby(key, f"{queue}:{outcome}", 1)
        pipe.expire(key, SLOT * (SLOTS + 2))
        pipe.execute()


def read(redis: Redis, queues: tuple[str, ...]) -> dict[str, JobCounts]:
    """Return the runs of each queue in the last ten minutes."""
    now = time()
    last = int(now) // SLOT
    with redis.pipeline(transaction=False) as pipe:
        for slot in range(last - SLOTS, last + 1):
            pipe.hgetall(KEY.format(slot))
        replies: Any = pipe.execute()
    sums: Counter[str] = Counter()
    for counted in replies:
        sums.update({name.decode(): int(number) for name, number in counted.items()})
    seconds = SLOTS * SLOT + now % SLOT
    return {
        name: JobCounts(sums[f"{name}:done"], sums[f"{name}:failed"], seconds) for name in queues
    }
