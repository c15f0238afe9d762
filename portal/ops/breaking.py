"""What the circuit breakers of all processes have last said of themselves, kept in Redis.

A process speaks only when a call has failed or is made good for; of one that never spoke, all
calls went well.
"""

import json
import os
import socket
from contextlib import suppress
from dataclasses import dataclass
from time import time
from typing import Any, Literal

from redis import Redis
from redis.exceptions import RedisError

KEY = "fairseat:breakers"
KEPT = 60 * 60  # seconds after which a process that is silent may be no more
WITHIN = 60  # seconds for which a failure is held against a service

State = Literal["closed", "open", "half-open"]


@dataclass(frozen=True)
class Said:
    """How a breaker of a process stood at `at`; times in ms since 1970."""

    part: str
    process: str  # host:pid
    failures: int
    rest_ends: int | None  # None where it is closed
    at: int

    def state(self, now: float) -> State:
        """The state at `now` (ms)."""
        if self.rest_ends is None:
            return "closed"
        return "open" if now < self.rest_ends else "half-open"

    def counted(self, now: float) -> int:
        """Failures that are still held against the service at `now` (ms)."""
        return self.failures if now - self.at < WITHIN * 1000 else 0


def report(redis: Redis, part: str, failures: int, rest_left: float | None) -> None:
    """Say how the breaker of a part stands in this process; `rest_left` in seconds."""
    now = time()
    ends = None if rest_left is None else round((now + rest_left) * 1000)
    said = {"failures": failures, "rest_ends": ends, "at": round(now * 1000)}
    with suppress(RedisError):
        redis.hset(KEY, f"{part} {_process()}", json.dumps(said))


def said(redis: Redis) -> list[Said]:
    """What has been said lately, the latest first; what is old is forgotten."""
    found: Any = redis.hgetall(KEY)
    all_said = [_said(field.decode(), json.loads(text)) for field, text in found.items()]
    old = [each for each in all_said if each.at < (time() - KEPT) * 1000]
    if old:
        redis.hdel(KEY, *(f"{each.part} {each.process}" for each in old))
    return sorted(set(all_said) - set(old), key=lambda each: -each.at)


def _said(field: str, facts: dict[str, Any]) -> Said:
    part, _, process = field.partition(" ")
    return Said(part, process, **facts)


def _process() -> str:
    return f"{socket.gethostname()}:{os.getpid()}"
