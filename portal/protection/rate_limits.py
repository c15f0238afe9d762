"""Meters: how much each may do, counted in Redis for all nodes, or here while that is away.

A meter is one number, the moment at which all that was spent has been made good for (GCRA): so many
at once and so many more a minute are one limit, asked and moved in one round trip, and how long
to wait is known exactly.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import floor
from pathlib import Path
from threading import Lock
from time import monotonic
from typing import Any, Literal

from cachetools import LRUCache
from redis import Redis
from redis.exceptions import NoScriptError, RedisError

from portal.backend import backend
from portal.core import redis_clients
from portal.core.outage import Outage

CODE = Path(__file__).with_suffix(".lua").read_text(encoding="utf-8")
MINUTE = 60_000.0
PATIENCE = 1.0  # seconds that Redis may stay silent, once until it is asked again
MOST = 100_000  # meters that a process keeps by itself

# spend: on all or on none. look: only. owe: on all, whatever they stand at. refund: give back.
Act = Literal["spend", "look", "owe", "refund"]

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class RateLimit:
    """So many at once, and so many more each minute."""

    name: str
    at_once: int
    a_minute: float


@dataclass(frozen=True)
class Charge:
    """What somebody's request costs of a limit."""

    limit: RateLimit
    who: str
    cost: float = 1

    @property
    def key(self) -> str:
        """The meter."""
        return f"limit:{self.limit.name}:{self.who}"

    @property
    def time(self) -> float:
        """What it costs, as ms in which it is made good for."""
        return self.cost * MINUTE / self.limit.a_minute

    @property
    def size(self) -> float:
        """What the meter holds, in ms."""
        return self.limit.at_once * MINUTE / self.limit.a_minute


class LocalRateLimiter:
    """The meters of this process alone."""

    def __init__(self) -> None:
        self._ends: LRUCache[str, float] = LRUCache(MOST)
        self._lock = Lock()

    def count(self, act: Act, charges: Sequence[Charge]) -> list[int]:
        """As portal/protection/rate_limits.lua does it."""
        now, back = monotonic() * 1000, -1 if act == "refund" else 1
        with self._lock:
            ends = [max(self._ends.get(each.key, 0.0), now) + back * each.time for each in charges]
            asked = list(zip(charges, ends, strict=True))
            waits = [max(0, floor(end - now - each.size)) for each, end in asked]
            if act in {"owe", "refund"} or (act == "spend" and not any(waits)):
                self._ends.update({each.key: min(end, now + each.size) for each, end in asked})
        return waits

    def hold(self, charge: Charge, wait: int) -> None:
        """Refuse the same again for so many ms, which Redis need not be asked for then."""
        with self._lock:
            self._ends[charge.key] = monotonic() * 1000 + wait + charge.size - charge.time

    def clear(self) -> None:
        """Forget all."""
        with self._lock:
            self._ends.clear()


class RateLimiter:
    """The meters in Redis; each process counts by itself while that is away."""

    def __init__(self, redis: Redis) -> None:
        self.own = LocalRateLimiter()
        self._redis = redis
        self._script = redis.register_script(CODE)
        self._outage = Outage()

    def spend(self, *charges: Charge) -> int:
        """Spend on all and give 0, or on none and give the ms until it can be done."""
        known = max(self.own.count("look", charges))
        return known or max(map(self._held, charges, self._count("spend", charges)))

    def reserve(self, *charges: Charge) -> int:
        """Spend on all or on none, like `spend`, where a refund may follow.

        It asks Redis each time: another process may have given back what was refused here.
        """
        return max(self._count("spend", charges))

    def refund(self, *charges: Charge) -> None:
        """Give back what was spent on all of them."""
        self._count("refund", charges)

    def look(self, *charges: Charge) -> int:
        """The ms until all of it could be spent."""
        return max(self._count("look", charges))

    def owe(self, *charges: Charge) -> list[Charge]:
        """Spend on all, none beyond its limit, and return what was spent on each."""
        beyond = self._count("owe", charges)
        return [
            replace(it, cost=it.cost * (1 - min(1, past / it.time)))
            for it, past in zip(charges, beyond, strict=True)
        ]

    def _count(self, act: Act, charges: Sequence[Charge]) -> list[int]:
        if self._outage.spares():
            return self.own.count(act, charges)
        sizes = [number for each in charges for number in (each.time, each.size)]
        try:
            replies = self._run([each.key for each in charges], [act, *sizes])
        except RedisError as error:
            log.warning("Limits are counted by each process alone: %s", error)
            self._outage.begin()
            return self.own.count(act, charges)
        self._outage.end()
        return replies

    def _run(self, keys: list[str], asked: list[str | float]) -> list[int]:
        try:
            found: Any = redis_clients.ask(
                self._redis, "EVALSHA", self._script.sha, len(keys), *keys, *asked
            )
        except NoScriptError:  # a server that has just begun
            found = self._script(keys, asked)
        return [int(each) for each in found]

    def _held(self, charge: Charge, wait: int) -> int:
        if wait:
            self.own.hold(charge, wait)
        return wait


def rate_limiter() -> RateLimiter:
    """The meters of this process."""
    return _meters(backend().settings.redis_url)


@cache
def _meters(redis_url: str) -> RateLimiter:
    # Connections of their own: a limit is not worth as long a wait as a decision.
    return RateLimiter(redis_clients.commands(redis_url, timeout=PATIENCE, size=16))
