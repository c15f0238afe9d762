"""Caches of PostgreSQL data in a process; they last longer while PostgreSQL is down."""

import logging
from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Future
from math import inf
from threading import BoundedSemaphore, Lock, Thread
from time import monotonic
from typing import Generic, TypeVar

from cachetools import LRUCache
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

from portal.core import flags
from portal.core.db import crowded
from portal.core.outage import Outage, postgresql

log = logging.getLogger(__name__)

Key = TypeVar("Key")
Value = TypeVar("Value")

AWAY = (OperationalError, PoolTimeout)
AT_ONCE = 4  # concurrent reads of a cache that reads in batches: each takes a connection
BATCH = 500  # keys in such a read


class Cache(Generic[Key, Value]):
    """Values at most `seconds` old; older only during a read or while PostgreSQL is down.

    One read serves all callers that ask for a key meanwhile. With `read_many`, keys requested
    during a read go together into the next one. A cold cache, as after a restart, then takes few
    connections however many callers there are. Keys missing from the result are read one by one.

    While the flag `caches` is off, every request reads the value.
    """

    def __init__(
        self,
        read: Callable[[Key], Value],
        seconds: float,
        size: int = 20_000,
        outage: Outage = postgresql,
        read_many: Callable[[Collection[Key]], Mapping[Key, Value]] | None = None,
    ) -> None:
        self.seconds = seconds
        self.size = size
        self._read = read
        self._read_many = read_many
        self._queue: list[tuple[Key, Future[Value]]] = []
        self._places = BoundedSemaphore(AT_ONCE)
        self._outage = outage
        self._known: LRUCache[Key, tuple[float, Value]] = LRUCache(maxsize=size)
        self._readings: dict[Key, Future[Value]] = {}
        self._forgotten = 0
        self._lock = Lock()

    def __len__(self) -> int:
        return len(self._known)

    def get(self, key: Key) -> Value:
        """Return the value; if it is too old, one caller reads it. Raise what `read` raises."""
        with self._lock:
            known, reading = self._known.get(key), self._readings.get(key)
            if known and (reading or self._fresh(known) or self._outage.spares()):
                return known[1]
            mine = self._readings[key] = Future() if reading is None else reading
        if reading is None and known and self._outage.lasts:
            # It may take long to find out whether a silent server is back, so no caller waits.
            Thread(target=self._renew, args=(key, mine), daemon=True, name="asks again").start()
            return known[1]
        if reading is None:
            self._renew(key, mine)
        try:
            return mine.result()
        except AWAY:
            if known is None:
                raise
            return known[1]

    def peek(self, key: Key) -> Value | None:
        """Return the value whatever its age; None if none is known."""
        with self._lock:
            known = self._known.get(key)
        return known[1] if known else None

    def fill(self, read: Callable[[], dict[Key, Value]]) -> dict[Key, Value]:
        """Read many values at once; keep them unless an entry was invalidated meanwhile."""
        before, at = self._forgotten, monotonic()
        values = read()
        with self._lock:
            if self._forgotten == before:
                self._known.update({key: (at, value) for key, value in values.items()})
        return values

    def forget(self, key: Key) -> None:
        """Discard the value, so that the next caller reads it."""
        with self._lock:
            self._forgotten += 1
            self._known.pop(key, None)
            self._readings.pop(key, None)

    def doubt(self, key: Key) -> None:
        """Let the next caller read the value, but keep it in case that read fails."""
        with self._lock:
            self._forgotten += 1
            self._readings.pop(key, None)
            if key in self._known:
                self._known[key] = (-inf, self._known[key][1])

    def clear(self) -> None:
        with self._lock:
            self._forgotten += 1
            self._known.clear()
            self._readings.clear()

    def _fresh(self, known: tuple[float, Value]) -> bool:
        return monotonic() - known[0] < self.seconds and not flags.known_off("caches")

    def _renew(self, key: Key, reading: "Future[Value]") -> None:
        if self._read_many is None:
            self._renew_one(key, reading)
            return
        with self._lock:
            self._queue.append((key, reading))
        while not reading.done():
            with self._places:  # the caller with a place reads for the others, too
                with self._lock:
                    batch, self._queue = self._queue[:BATCH], self._queue[BATCH:]
                if not batch:
                    return  # another reader has this key in its batch
                self._renew_many(batch, self._read_many)

    def _renew_many(
        self,
        batch: "list[tuple[Key, Future[Value]]]",
        read: Callable[[Collection[Key]], Mapping[Key, Value]],
    ) -> None:
        values: Mapping[Key, Value] = {}
        try:
            if len(batch) > 1:
                values = read({key for key, _ in batch})
                self._outage.end()
        except Exception as error:
            if isinstance(error, AWAY):
                self._note(error)
                for key, reading in batch:
                    self._fail(key, reading, error)
                return
            log.exception("Values could not be read together; each is read alone.")
        except BaseException as error:
            for key, reading in batch:
                self._fail(key, reading, error)
            raise
        for key, reading in batch:
            if key in values:
                self._end(key, reading, (monotonic(), values[key]))
                reading.set_result(values[key])
            else:
                self._renew_one(key, reading)

    def _renew_one(self, key: Key, reading: "Future[Value]") -> None:
        try:
            value = self._read(key)
        except BaseException as error:  # noqa: BLE001  callers that wait must get any error
            if isinstance(error, AWAY):
                self._note(error)
            self._fail(key, reading, error)
        else:
            self._outage.end()
            self._end(key, reading, (monotonic(), value))
            reading.set_result(value)

    def _fail(self, key: Key, reading: "Future[Value]", error: BaseException) -> None:
        self._end(key, reading, unknown=not isinstance(error, AWAY))
        reading.set_exception(error)

    def _note(self, error: BaseException) -> None:
        """Stop asking PostgreSQL for a while, whether it is down or crowded."""
        self._outage.begin(crowded=crowded(error))

    def _end(
        self,
        key: Key,
        reading: "Future[Value]",
        found: tuple[float, Value] | None = None,
        *,
        unknown: bool = False,
    ) -> None:
        with self._lock:
            if self._readings.get(key) is not reading:
                return  # invalidated meanwhile: the value may be outdated
            del self._readings[key]
            if found:
                self._known[key] = found
            elif unknown:
                self._known.pop(key, None)
