"""The whole content of a term in the ledger, to compare two ledgers."""

import json
from typing import Any

from portal.backend import backend
from portal.ledger.function_library import prefix

# What no event tells of, and what is only for now: who called whom, what is told of it, who was
# asked about kept seats, where somebody may be marked as passed over.
NOT_IN_LOG = (
    *("woken", "tally", "aside", "marked", "journal", "fence", "warmup"),
    "replicated",
    "deadlines_seen",  # set again when the deadlines are next sent
)
UNASKED = 8  # among the counts of a section


def dump(term: int) -> dict[str, Any]:
    """Return every key with its value."""
    redis, at = backend().ledger.redis(term), f"{prefix(term)}:"
    names = sorted(name.decode().removeprefix(at) for name in redis.scan_iter(match=f"{at}*"))
    found = {name: _value(redis, at + name) for name in names if not name.startswith(NOT_IN_LOG)}
    for counts in found.get("seats", {}).values():
        counts[UNASKED : UNASKED + 1] = [None]
    stored = {section for section, counts in found.get("seats", {}).items() if any(counts[7:8])}
    return found | {"vacant": found.get("vacant", set()) - stored}


def _value(redis: Any, name: str) -> Any:
    match redis.type(name):
        case b"string":
            return _parsed(redis.get(name))
        case b"hash":
            return {key.decode(): _parsed(value) for key, value in redis.hgetall(name).items()}
        case b"set":
            return {each.decode() for each in redis.smembers(name)}
        case kind:
            assert kind == b"zset", (name, kind)
            return dict(redis.zrange(name, 0, -1, withscores=True))


def _parsed(value: bytes) -> Any:
    """Return parsed JSON; an empty list may be written as an empty object."""
    try:
        return _listed(json.loads(value))
    except ValueError:
        return value.decode()


def _listed(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _listed(each) for name, each in value.items()} or []
    return [_listed(each) for each in value] if isinstance(value, list) else value
