"""Latencies: percentiles of counts in buckets, and how long students wait for an answer.

Each web process counts its answers and adds them to those of the others every second. So the
opening page reads the same figures on every node, and a request costs no round trip. The scheduler
reads them each second, because waiting rooms admit fewer students while answers are late.
"""

import logging
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from threading import Event
from typing import Any

from redis import Redis
from redis.exceptions import RedisError

from portal.core import recent_slots
from portal.core.recent_slots import KEPT, SLOT

# The upper bounds (ms) of the buckets; the last bucket has none.
BOUNDS = (5, 10, 20, 35, 50, 75, 100, 150, 200, 350, 500, 750, 1000, 2000, 5000, 10_000, 60_000)
PARTS = (0.5, 0.95, 0.99)  # the percentiles that pages show
LATE = 1000  # ms in which 95 of 100 answers should come
KEY = "fairseat:answers"
FEWEST_LATE = 5  # with fewer late answers in a second, nothing is wrong
SEND_SECONDS = 1.0

log = logging.getLogger(__name__)

_unsent: Counter[int] = Counter()  # answers of this process by bucket


def percentile(buckets: Sequence[int], part: float, slowest: int) -> int:
    """Return the upper bound (ms) of the bucket that holds this percentile."""
    wanted = part * sum(buckets)
    bucket = next(number for number, sum_ in enumerate(accumulate(buckets)) if sum_ >= wanted)
    return min(slowest, (*BOUNDS, slowest)[bucket])


@dataclass(frozen=True)
class Percentiles:
    """The number of answers, and percentiles of their time in ms."""

    answers: int
    p50: int
    p95: int
    p99: int


@dataclass(frozen=True)
class AnswerTimes:
    """Answers by bucket, in slots of ten seconds; the last one is in progress at `at` (ms)."""

    at: int
    slots: tuple[Counter[int], ...]

    @property
    def last_minute(self) -> Percentiles | None:
        """Return the figures of the last minute; None without an answer."""
        return _percentiles(recent_slots.last_minute(self.slots))

    @property
    def by_minute(self) -> list[tuple[int, Percentiles | None]]:
        """Return the same for each minute of the clock, with its begin (ms)."""
        minutes = recent_slots.by_minute(self.at, self.slots)
        return [(begin, _percentiles(counts)) for begin, counts in minutes]


def count(seconds: float) -> None:
    """Count an answer of this process."""
    _unsent[bisect_right(BOUNDS, 1000 * seconds)] += 1


def send(redis: Redis) -> None:
    """Add the answers since the last call to those of all processes; raise RedisError.

    Answers that can't be sent are dropped, so that none counts twice, or as of a later time.
    """
    counts = +_unsent
    if not counts:
        return
    _unsent.subtract(counts)
    seconds, _micros = redis.time()
    key = f"{KEY}:{seconds * 1000 // SLOT}"
    with redis.pipeline(transaction=False) as pipe:
        for bucket, answers in counts.items():
            pipe.hincrby(key, str(bucket), answers)
        pipe.pexpire(key, KEPT)
        pipe.execute()


def send_forever(redis: Redis, ended: Event) -> None:
    """In a web process: send its answers every second."""
    while not ended.wait(SEND_SECONDS):
        try:
            send(redis)
        except (RedisError, OSError):
            continue  # the next ones are sent
        except Exception:
            log.exception("could not send the times of answers")


class LateAnswers:
    """Compares the answers since the last call with the limit for late answers."""

    def __init__(self, redis: Redis) -> None:
        self._redis = redis
        # Of the last two slots, by slot and bucket; None before the first call.
        self._known: Counter[tuple[int, int]] | None = None

    def too_many(self) -> bool:
        """Return whether more than 5 of 100 were late; False if no one knows."""
        try:
            counted = self._count()
        except (RedisError, OSError):
            return False
        known, self._known = self._known, counted
        if known is None:
            return False
        new = counted - known
        late = sum(
            new[slot, bucket] for slot, bucket in new if bucket >= bisect_right(BOUNDS, LATE)
        )
        return late >= FEWEST_LATE and late > 0.05 * new.total()

    def _count(self) -> Counter[tuple[int, int]]:
        seconds, _micros = self._redis.time()
        slots = seconds * 1000 // SLOT - 1, seconds * 1000 // SLOT
        with self._redis.pipeline(transaction=False) as pipe:
            for slot in slots:
                pipe.hgetall(f"{KEY}:{slot}")
            found: list[dict[bytes, bytes]] = pipe.execute()
        return Counter(
            {
                (slot, int(bucket)): int(count)
                for slot, buckets in zip(slots, found, strict=True)
                for bucket, count in buckets.items()
            }
        )


def answer_times(redis: Redis, at: int) -> AnswerTimes:
    """Return the answers of all processes in the quarter of an hour until `at` (ms)."""
    with redis.pipeline(transaction=False) as pipe:
        for number in recent_slots.recent(at):
            pipe.hgetall(f"{KEY}:{number}")
        replies: list[Any] = pipe.execute()
    slots = (Counter({int(key): int(number) for key, number in each.items()}) for each in replies)
    return AnswerTimes(at, tuple(slots))


def _percentiles(counts: Counter[int]) -> Percentiles | None:
    if not counts:
        return None
    buckets = [counts[bucket] for bucket in range(len(BOUNDS) + 1)]
    return Percentiles(sum(buckets), *(percentile(buckets, part, BOUNDS[-1]) for part in PARTS))
