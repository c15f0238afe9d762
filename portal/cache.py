"""What a process remembers of PostgreSQL for a few seconds, and longer while it is away."""

from collections.abc import Callable
from threading import Lock
from time import monotonic
from typing import Generic, TypeVar

from cachetools import LRUCache
from sqlalchemy.exc import OperationalError
from sqlalchemy.exc import TimeoutError as PoolTimeout

Key = TypeVar("Key")
Value = TypeVar("Value")

AWAY = (OperationalError, PoolTimeout)


class Cache(Generic[Key, Value]):
    """Values at most `seconds` old, older only while PostgreSQL does not answer."""

    def __init__(self, read: Callable[[Key], Value], seconds: float, size: int = 20_000) -> None:
        self._read = read
        self._seconds = seconds
        self._known: LRUCache[Key, tuple[float, Value]] = LRUCache(maxsize=size)
        self._lock = Lock()

    def get(self, key: Key) -> Value:
        """The value, read anew where it is too old; raises what `read` raises."""
        with self._lock:
            known = self._known.get(key)
        if known and monotonic() - known[0] < self._seconds:
            return known[1]
        try:
            value = self._read(key)
        except AWAY:
            if known is None:
                raise
            return known[1]
        with self._lock:
            self._known[key] = (monotonic(), value)
        return value

    def forget(self, key: Key) -> None:
        """Read the value anew when it is next asked for."""
        with self._lock:
            self._known.pop(key, None)

    def clear(self) -> None:
        """Forget everything."""
        with self._lock:
            self._known.clear()
