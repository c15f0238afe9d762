"""Rate limits, counted in Redis for all nodes, or by each process while Redis is away.

A limit is one number for each account or address (GCRA): the moment at which everything spent has
been earned back. A burst and a rate are one limit, one round trip, and the wait is known exactly.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice
from math import floor
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, Literal

from cachetools import LRUCache
from redis import Redis
from redis.exceptions import RedisError

from portal.backend import backend
from portal.core import logs, redis_clients
from portal.core.batching import Batcher
from portal.core.outage import Outage

CODE = Path(__file__).with_suffix(".lua").read_text(encoding="utf-8")
MINUTE = 60_000.0
TIMEOUT = 1.0  # seconds to wait for a silent Redis; a shared call may wait for the one before
MOST = 100_000  # limits that a process counts without Redis

# spend: from all or none. check: change nothing. take_rest: from all, within their limits.
# refund: give back.
Act = Literal["spend", "check", "take_rest", "refund"]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RateLimit:
    """So many at once, and so many more each minute."""

    name: str
    at_once: int
    a_minute: float


@dataclass(frozen=True)
class Charge:
    """The cost of a request, charged to one rate limit of an account or an address."""

    limit: RateLimit
    who: str
    cost: float = 1

    @property
    def key(self) -> str:
        return f"limit:{self.limit.name}:{self.who}"

    @property
    def time(self) -> float:
        """Return the cost, as ms until it is earned back."""
        return self.cost * MINUTE / self.limit.a_minute

    @property
    def size(self) -> float:
        """Return the burst, in ms."""
        return self.limit.at_once * MINUTE / self.limit.a_minute


Question = tuple[Act, Sequence[Charge]]


class LocalRateLimiter:
    """Rate limits that this process counts on its own."""

    def __init__(self) -> None:
        self._ends: LRUCache[str, float] = LRUCache(MOST)
        self._lock = Lock()

    def count(self, act: Act, charges: Sequence[Charge]) -> list[int]:
        """Return the ms to wait for each charge, as rate_limits.lua does."""
        now, back = monotonic() * 1000, -1 if act == "refund" else 1
        with self._lock:
            ends = [max(self._ends.get(each.key, 0.0), now) + back * each.time for each in charges]
            counted = list(zip(charges, ends, strict=True))
            waits = [max(0, floor(end - now - each.size)) for each, end in counted]
            if act in {"take_rest", "refund"} or (act == "spend" and not any(waits)):
                self._ends.update({each.key: min(end, now + each.size) for each, end in counted})
        return waits

    def hold(self, charge: Charge, wait: int) -> None:
        """Refuse the same charge for so many ms without asking Redis."""
        with self._lock:
            self._ends[charge.key] = monotonic() * 1000 + wait + charge.size - charge.time

    def clear(self) -> None:
        with self._lock:
            self._ends.clear()


class RateLimiter:
    """The limits in Redis; while Redis is away, each process counts separately."""

    def __init__(self, redis: Redis) -> None:
        self.own = LocalRateLimiter()
        self._script = redis.register_script(CODE)
        self._ask: Batcher[Question, list[int]] = Batcher(self._ask_many)
        self._outage = Outage()

    def spend(self, *charges: Charge) -> int:
        """Take all charges and return 0, or none and return the ms until it can be done."""
        known = max(self.own.count("check", charges))
        return known or max(map(self._held, charges, self._count("spend", charges)))

    def reserve(self, *charges: Charge) -> int:
        """Take all charges or none, like `spend`, where a refund may follow.

        It asks Redis each time: another process may have refunded what was refused here.
        """
        return max(self._count("spend", charges))

    def refund(self, *charges: Charge) -> None:
        """Give all charges back."""
        self._count("refund", charges)

    def check(self, *charges: Charge) -> int:
        """Return the ms until all charges could be taken."""
        return max(self._count("check", charges))

    def take_rest(self, *charges: Charge) -> list[Charge]:
        """Take all charges, none beyond its limit, and return what was taken of each."""
        missing = self._count("take_rest", charges)
        return [
            replace(each, cost=each.cost * (1 - min(1, short / each.time)))
            for each, short in zip(charges, missing, strict=True)
        ]

    def _count(self, act: Act, charges: Sequence[Charge]) -> list[int]:
        if self._outage.spares():
            return self.own.count(act, charges)
        try:
            replies = self._ask((act, charges))
        except RedisError as error:
            logs.warn(log, "Limits are counted by each process alone", error)
            self._outage.begin()
            return self.own.count(act, charges)
        self._outage.end()
        return replies

    def _ask_many(self, questions: Sequence[Question]) -> list[list[int]]:
        """Return the waits for the charges of many requests, in one call."""
        keys = [each.key for _, charges in questions for each in charges]
        arguments: list[str | float] = []
        for act, charges in questions:
            arguments += [act, len(charges)]
            arguments += [number for each in charges for number in (each.time, each.size)]
        found: Any = self._script(keys, arguments)
        waits = map(int, found)
        return [list(islice(waits, len(charges))) for _, charges in questions]

    def _held(self, charge: Charge, wait: int) -> int:
        if wait:
            self.own.hold(charge, wait)
        return wait


def rate_limiter() -> RateLimiter:
    return _rate_limiter(backend().settings.queue_url)


@cache
def _rate_limiter(redis_url: str) -> RateLimiter:
    # Its own connections, with a shorter timeout than decisions have.
    return RateLimiter(redis_clients.commands(redis_url, timeout=TIMEOUT, size=16))
