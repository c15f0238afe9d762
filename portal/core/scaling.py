"""The number of workers for each queue: the scheduler decides, every supervisor reads it."""

import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from time import time
from typing import Any

from redis import Redis
from rq import Queue
from rq.job import Job
from rq.serializers import JSONSerializer

from portal.core.settings import SettingsError

KEY = "fairseat:pools"
LATE = 5.0  # seconds: a job that waits this long has found all workers busy
UP_REST = 5.0  # seconds after a change before workers may be added
DOWN_REST = 60.0  # seconds after a change before workers may be removed


@dataclass(frozen=True)
class Pool:
    """The limits of a queue's workers, and the waiting jobs that add one worker."""

    least: int
    most: int
    up_at: int


@dataclass(frozen=True)
class Seen:
    """A queue: the workers last requested, how many are busy, and its waiting jobs."""

    workers: int
    busy: int
    waiting: int
    oldest: float  # seconds that the first job has waited
    rested: float  # seconds since the last change


@dataclass(frozen=True)
class WorkerRequest:
    """The workers requested for a queue on each machine, since when (s) and why."""

    workers: int
    at: float = 0.0
    why: str = ""


PART = re.compile(r"(\w+)=(\d+)-(\d+)@(\d+)")
POOLS = {
    "record": Pool(2, 10, 50),
    "promote": Pool(3, 15, 30),
    "notify": Pool(2, 8, 100),
    "maintain": Pool(1, 2, 50),
    "background": Pool(2, 4, 10),
}
LARGE = 8  # cores: a smaller machine has fewer workers
SMALL = {"promote": 1, "notify": 1}  # minimum workers on a small one


def pools(text: str = "", cores: int = os.cpu_count() or 1) -> dict[str, Pool]:
    """Return the limits, as in `record=2-10@50 promote=3-15@30`; defaults suit the machine.

    Raises SettingsError.
    """
    found = {name: _fitted(name, cores) for name in POOLS}
    for part in text.replace(",", " ").split():
        match = PART.fullmatch(part)
        if not match or match[1] not in POOLS or not 0 < int(match[2]) <= int(match[3]):
            raise SettingsError(f"FAIRSEAT_WORKERS: write {part} like record=2-10@50.")
        found[match[1]] = Pool(int(match[2]), int(match[3]), max(1, int(match[4])))
    return found


def wanted(pool: Pool, seen: Seen) -> int:
    """Return the workers wanted: at most one more or fewer than now, within the limits."""
    now = min(pool.most, max(pool.least, seen.workers))
    pressed = seen.waiting >= pool.up_at or seen.oldest > LATE
    if pressed and seen.rested >= UP_REST:
        return min(pool.most, now + 1)
    quiet = not seen.waiting and seen.busy < now
    if quiet and seen.rested >= DOWN_REST:
        return max(pool.least, now - 1)
    return now


def requested(redis: Redis) -> dict[str, WorkerRequest]:
    """Return the last requests by queue; empty before a scheduler first ran."""
    found: Any = redis.hgetall(KEY)
    requests = {name.decode(): WorkerRequest(**json.loads(text)) for name, text in found.items()}
    # An earlier version may have asked for workers of a queue that is gone.
    return {name: request for name, request in requests.items() if name in POOLS}


def ask(redis: Redis, wishes: Mapping[str, WorkerRequest]) -> None:
    """Request these workers from all supervisors."""
    redis.hset(KEY, mapping={name: json.dumps(vars(each)) for name, each in wishes.items()})


def seen(redis: Redis, queue: str, before: WorkerRequest, busy: int) -> Seen:
    """Return the state of a queue."""
    jobs = Queue(queue, connection=redis, serializer=JSONSerializer)
    first = jobs.get_job_ids(0, 1)
    job = Job.fetch_many(first, connection=redis, serializer=JSONSerializer)[0] if first else None
    since = job and job.enqueued_at
    oldest = (datetime.now(UTC) - since).total_seconds() if since else 0.0
    return Seen(before.workers, busy, len(jobs), oldest, time() - before.at)


def _fitted(name: str, cores: int) -> Pool:
    pool = POOLS[name]
    if cores >= LARGE:
        return pool
    least = SMALL.get(name, pool.least)
    return replace(pool, least=least, most=min(pool.most, least + cores // 2))
