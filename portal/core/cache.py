"""What a process remembers of PostgreSQL for a while, and longer while it is away."""

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
AT_ONCE = 4  # readings of one cache that can read many at once: each takes a connection
BATCH = 500  # keys in such a reading


class Cache(Generic[Key, Value]):
    """Values at most `seconds` old; older only while they are read or PostgreSQL is away.

    A value is read once for all who ask for it meanwhile. With `read_many`, keys that are asked
    for while readings are under way are read together in the next one: a cache that is cold, as
    after a restart, takes a few connections, however many ask. What it leaves out is read alone.

    While the flag `caches` is off each is read whenever it is asked for.
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
        """The value, read anew by one at a time where it is too old; raises what `read` raises."""
        with self._lock:
            known, reading = self._known.get(key), self._readings.get(key)
            if known and (reading or self._fresh(known) or self._outage.spares()):
                return known[1]
            mine = self._readings[key] = Future() if reading is None else reading
        if reading is None and known and self._outage.lasts:
            # To find out whether a silent server is back may take long: nobody waits for that.
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
        """The value however old it is, None where none is known."""
        with self._lock:
            known = self._known.get(key)
        return known[1] if known else None

    def fill(self, read: Callable[[], dict[Key, Value]]) -> dict[Key, Value]:
        """Read many values at once; they are kept unless something was forgotten meanwhile."""
        before, at = self._forgotten, monotonic()
        values = read()
        with self._lock:
            if self._forgotten == before:
                self._known.update({key: (at, value) for key, value in values.items()})
        return values

    def forget(self, key: Key) -> None:
        """Read the value anew when it is next asked for."""
        with self._lock:
            self._forgotten += 1
            self._known.pop(key, None)
            self._readings.pop(key, None)

    def doubt(self, key: Key) -> None:
        """Read the value anew when it is next asked for, if it can be read then."""
        with self._lock:
            self._forgotten += 1
            self._readings.pop(key, None)
            if key in self._known:
                self._known[key] = (-inf, self._known[key][1])

    def clear(self) -> None:
        """Forget everything."""
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
            with self._places:  # whoever has a place reads for all who wait for one
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
        except BaseException as error:  # noqa: BLE001  whoever waits must hear of any end
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
        """Leave PostgreSQL alone for a while, be it away or crowded."""
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
                return  # forgotten meanwhile: what was read may be of before
            del self._readings[key]
            if found:
                self._known[key] = found
            elif unknown:
                self._known.pop(key, None)
