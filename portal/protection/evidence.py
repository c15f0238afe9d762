"""Evidence for the report on fairness: how accounts proved themselves, and who met a rate limit.

Only Redis keeps it, as long as the report of a window may need it. A report without it says so.
"""

from contextlib import suppress
from typing import Any, Literal

from cachetools import TTLCache
from redis.exceptions import RedisError

from portal.backend import backend
from portal.ledger.function_library import translate_errors

Way = Literal["work", "code", "remote"]

WAYS = "trace:ways"  # hash: account -> how it proved itself last
LIMITED = "trace:limited"  # zset: account by when (ms) it last met a limit
KEPT = 90 * 24 * 60 * 60  # seconds
# One entry a minute is enough, however many requests are refused.
_recorded: TTLCache[int, bool] = TTLCache(maxsize=20_000, ttl=60)


def record_proof(account: int, way: Way) -> None:
    """Record how an account has proved that it is no robot."""
    with suppress(RedisError), backend().redis.pipeline(transaction=False) as pipe:
        pipe.hset(WAYS, str(account), way)
        pipe.expire(WAYS, KEPT)
        pipe.execute()


def record_limited(account: int) -> None:
    """Record that a rate limit refused an account."""
    if account in _recorded:
        return
    _recorded[account] = True
    with suppress(RedisError), backend().redis.pipeline(transaction=False) as pipe:
        pipe.zadd(LIMITED, {str(account): backend().ledger.now()})
        pipe.expire(LIMITED, KEPT)
        pipe.execute()


def proofs() -> dict[int, str]:
    """Return how each account proved itself last."""
    with translate_errors():
        found: Any = backend().redis.hgetall(WAYS)
    return {int(account): way.decode() for account, way in found.items()}


def met_limits(since: int) -> set[int]:
    """Return the accounts that met a rate limit since a moment (ms)."""
    with translate_errors():
        found: Any = backend().redis.zrangebyscore(LIMITED, since, "+inf")
    return {int(account) for account in found}
