"""Traces that the gate leaves for the report on fairness: who proved how, who met a limit, when.

Kept in Redis alone and only as long as a window may still need them; where they are lost, a report
says that it does not know.
"""

from contextlib import suppress
from typing import Any, Literal

from cachetools import TTLCache
from redis.exceptions import RedisError

from portal.backend import backend
from portal.ledger.function_library import prefix, translate_errors

Way = Literal["work", "code", "remote"]

WAYS = "trace:ways"  # hash: account -> how it has shown last that it is no robot
LIMITED = "trace:limited"  # zset: account by the moment (ms) at which it last met a limit
KEPT = 90 * 24 * 60 * 60  # seconds
# One trace a minute is enough, however many requests are refused.
_traced: TTLCache[int, bool] = TTLCache(maxsize=20_000, ttl=60)


def record_proof(account: int, way: Way) -> None:
    """Keep how an account has shown that it is no robot."""
    with suppress(RedisError), backend().redis.pipeline(transaction=False) as pipe:
        pipe.hset(WAYS, str(account), way)
        pipe.expire(WAYS, KEPT)
        pipe.execute()


def record_limited(account: int) -> None:
    """Keep that an account was refused by a limit."""
    if account in _traced:
        return
    _traced[account] = True
    with suppress(RedisError), backend().redis.pipeline(transaction=False) as pipe:
        pipe.zadd(LIMITED, {str(account): backend().ledger.now()})
        pipe.expire(LIMITED, KEPT)
        pipe.execute()


def proofs() -> dict[int, str]:
    """How each account has proved itself, as far as is known."""
    with translate_errors():
        found: Any = backend().redis.hgetall(WAYS)
    return {int(account): way.decode() for account, way in found.items()}


def met_limits(since: int) -> set[int]:
    """The accounts that have met a limit since a moment (ms)."""
    with translate_errors():
        found: Any = backend().redis.zrangebyscore(LIMITED, since, "+inf")
    return {int(account) for account in found}


def arrivals(term: int, window: int) -> tuple[list[int], dict[int, int]]:
    """Students who came to the room before it opened, in order; when (ms) the later came."""
    base = f"{prefix(term)}:room:{window}"
    with translate_errors(), backend().redis.pipeline(transaction=False) as pipe:
        pipe.zrange(f"{base}:line", 0, -1, withscores=True)
        pipe.hgetall(f"{base}:who")
        line, who = pipe.execute()
    early: list[int] = []
    late: dict[int, int] = {}
    for request, score in line:
        student, at = map(int, who[request].split(b":"))
        if score < 1:
            early.append(student)
        else:
            late.setdefault(student, at)
    return early, late
