"""The secret seed of each window's draw, and the commitment published before the window opens."""

import hashlib
import secrets
from functools import lru_cache

from redis import Redis

from portal.backend import backend
from portal.ledger import replicas
from portal.ledger.function_library import prefix, translate_errors

BITS = 52  # bits of a digest that count: a score of a sorted set holds no more


def seed(term: int, window: int) -> str:
    """Return the seed, made once; it stays secret until the window opens."""
    return _seed(backend().ledger.redis(term), term, window)


def commitment(term: int, window: int) -> str:
    """Return the seed's SHA-256; it is published first, so the seed can't be chosen later."""
    return hashlib.sha256(seed(term, window).encode()).hexdigest()


def rank(seed: str, identity: str) -> float:
    """Return the rank in a draw of a request, or of a pseudonym, in [0, 1): the smallest wins."""
    digest = hashlib.sha256(f"{seed}:{identity}".encode()).digest()
    return (int.from_bytes(digest[:8]) >> (64 - BITS)) / (1 << BITS)


def forget() -> None:
    """Clear the cache: every seed is read again when it is next needed."""
    _seed.cache_clear()


def room_key(term: int, window: int) -> str:
    """Return the key of a window's waiting room, the prefix of its other keys."""
    return f"{prefix(term)}:room:{window}"


@lru_cache(maxsize=1000)
def _seed(redis: Redis, term: int, window: int) -> str:
    key = room_key(term, window)
    with translate_errors(), redis.pipeline(transaction=False) as pipe:
        pipe.hsetnx(key, "seed", secrets.token_hex(32))
        pipe.hget(key, "seed")
        _, stored = replicas.execute(pipe, backend().settings.replicas)
    return str(stored.decode())
