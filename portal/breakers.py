"""Circuit breakers: an outside service that keeps failing is left alone for a while.

Ours, as pybreaker holds a lock for as long as a call takes, so that one slow answer keeps every
other request waiting, and knows no span of time in which it counts failures.
"""

import logging
from collections import deque
from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Literal, TypeVar

from portal.backend import backend
from portal.core import flags
from portal.ops import breaking

Result = TypeVar("Result")
State = Literal["closed", "open", "half-open"]

FAILURES = 5
WITHIN = 60.0  # seconds
REST = 30.0  # seconds
AT_ONCE = 8  # calls; whoever comes while so many are waited for had better do without

log = logging.getLogger(__name__)


class Resting(Exception):  # noqa: N818  a state of the world, not a mistake
    """The service is left alone, or as many as may wait for it do; it was not asked."""


class Breaker:
    """Round the calls of one process to one service; `failures` are what speaks against it.

    Any other exception is an answer of a service that lives. Where failures count `in_a_row`, one
    success makes good for them. One of a `part` can be switched off by its flag, which has every
    call made, and tells the operations page how it stands.
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
        """`half-open` lets one call through, which decides whether the others follow."""
        if self._rest_ends is None:
            return "closed"
        return "open" if monotonic() < self._rest_ends else "half-open"

    def call(self, ask: Callable[..., Result], *arguments: object) -> Result:
        """What `ask` gives or raises; raises Resting where it is not asked."""
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
            if self._waiting >= room[self.state] and self._heeded():
                raise Resting(self.name)
            self._waiting += 1

    def _leave(self, *, failed: bool) -> None:
        with self._lock:
            self._waiting -= 1
            known = self._standing()
            if failed:
                self._note_failure()
            else:
                self._note_success()
            news = failed or self._standing() != known
        if self.part and news:
            self._report()

    def _heeded(self) -> bool:
        return not self.part or flags.on(f"{self.part}_breaker")

    def _standing(self) -> tuple[int, float | None]:
        return len(self._failed), self._rest_ends

    def _report(self) -> None:
        failures, ends = self._standing()
        left = None if ends is None else ends - monotonic()
        breaking.report(backend().redis, self.part, failures, left)

    def _note_success(self) -> None:
        if self._in_a_row:
            self._failed.clear()
        if self._rest_ends is not None and (self.state == "half-open" or not self._heeded()):
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
