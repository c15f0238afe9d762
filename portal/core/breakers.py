"""Circuit breakers: a service that keeps failing is not called for a while.

We do not use pybreaker: it holds a lock during each call, so one slow call blocks all others, and
it counts failures without a time span. Each process reports its breakers to Redis
when a call fails or a breaker changes. A process that never reported had no failures.
"""

import json
import logging
import os
import socket
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from threading import Lock
from time import monotonic, time
from typing import Any, Literal, TypeVar

from redis import Redis
from redis.exceptions import RedisError

from portal.core import flags

KEY = "fairseat:breakers"
KEPT = 60 * 60  # seconds after which a silent process may be gone

State = Literal["closed", "open", "half-open"]

_redis: Callable[[], Redis] | None = None


def report_to(redis: Callable[[], Redis]) -> None:
    global _redis  # noqa: PLW0603  one per process
    _redis = redis


@dataclass(frozen=True)
class BreakerState:
    """The state of a process's breaker at `at`; times in ms since 1970."""

    part: str
    process: str  # host:pid
    failures: int
    rest_ends: int | None  # None if it is closed
    at: int

    def state(self, now: float) -> State:
        """Return the state at `now` (ms)."""
        if self.rest_ends is None:
            return "closed"
        return "open" if now < self.rest_ends else "half-open"


def report(redis: Redis, part: str, failures: int, rest_left: float | None) -> None:
    """Report the breaker of a part in this process; `rest_left` in seconds."""
    now = time()
    ends = None if rest_left is None else round((now + rest_left) * 1000)
    state = {"failures": failures, "rest_ends": ends, "at": round(now * 1000)}
    with suppress(RedisError):
        redis.hset(KEY, f"{part} {socket.gethostname()}:{os.getpid()}", json.dumps(state))


def breaker_states(redis: Redis) -> list[BreakerState]:
    """Return the recent reports, latest first, and delete old ones."""
    found: Any = redis.hgetall(KEY)
    states = [
        BreakerState(*field.decode().split(" ", 1), **json.loads(text))
        for field, text in found.items()
    ]
    old = [each for each in states if each.at < (time() - KEPT) * 1000]
    if old:
        redis.hdel(KEY, *(f"{each.part} {each.process}" for each in old))
    return sorted(set(states) - set(old), key=lambda each: -each.at)


Result = TypeVar("Result")

FAILURES = 5
WITHIN = 60.0  # seconds
REST = 30.0  # seconds
AT_ONCE = 8  # concurrent calls; further callers do better without the service

log = logging.getLogger(__name__)


class BreakerOpen(Exception):
    """The service was not called: its breaker is open, or too many calls wait for it."""


class Breaker:
    """A breaker around the calls of one process to one service.

    Exceptions in `failures` count against the service; any other exception is an answer of a
    working service. With `in_a_row`, one success clears the failures. A breaker with a `part` can
    be switched off by the flag of that name, and then allows every call. It reports its state to
    the operations page.
    """

    def __init__(
        self,
        name: str,
        failures: tuple[type[Exception], ...],
        part: str = "",
        *,
        rest: float = REST,
        in_a_row: bool = False,
    ) -> None:
        self.name = name
        self.part = part
        self.rest = rest
        self.at_once = AT_ONCE
        self._failures = failures
        self._in_a_row = in_a_row
        self._failed: deque[float] = deque(maxlen=FAILURES)
        self._rest_ends: float | None = None
        self._waiting = 0
        self._lock = Lock()

    @property
    def state(self) -> State:
        """Return the state; `half-open` allows one call, which decides about the rest."""
        if self._rest_ends is None:
            return "closed"
        return "open" if monotonic() < self._rest_ends else "half-open"

    def check(self) -> None:
        """Raise BreakerOpen while calls are refused, so that none needs to be prepared."""
        if self.state == "open" and self._is_enabled():
            raise BreakerOpen(self.name)

    def call(self, ask: Callable[..., Result], *arguments: object) -> Result:
        """Return or raise what `ask` does; raise BreakerOpen if it is not called."""
        self._enter()
        try:
            result = ask(*arguments)
        except self._failures:
            self._leave(failed=True)
            raise
        except BaseException:
            self._leave(failed=False)
            raise
        self._leave(failed=False)
        return result

    def _enter(self) -> None:
        room = {"closed": self.at_once, "half-open": 1, "open": 0}
        with self._lock:
            if self._waiting >= room[self.state] and self._is_enabled():
                raise BreakerOpen(self.name)
            self._waiting += 1

    def _leave(self, *, failed: bool) -> None:
        with self._lock:
            self._waiting -= 1
            known = self._counters()
            if failed:
                self._note_failure()
            else:
                self._note_success()
            changed = failed or self._counters() != known
        if self.part and changed:
            self._report()

    def _is_enabled(self) -> bool:
        return not self.part or flags.on(f"{self.part}_breaker")

    def _counters(self) -> tuple[int, float | None]:
        return len(self._failed), self._rest_ends

    def _report(self) -> None:
        failures, ends = self._counters()
        if _redis is not None:
            report(_redis(), self.part, failures, None if ends is None else ends - monotonic())

    def _note_success(self) -> None:
        if self._in_a_row:
            self._failed.clear()
        if self._rest_ends is not None and (self.state == "half-open" or not self._is_enabled()):
            log.warning("%s is back", self.name)
            self._rest_ends = None

    def _note_failure(self) -> None:
        now = monotonic()
        self._failed.append(now)
        enough = len(self._failed) == FAILURES and now - self._failed[0] <= WITHIN
        if self.state == "half-open" or (self.state == "closed" and enough):
            log.warning("%s is left alone for %d s", self.name, self.rest)
            self._rest_ends = now + self.rest
            self._failed.clear()
