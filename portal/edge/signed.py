"""Signatures of sessions, which browsers send with every request as they were given."""

from typing import Any, ClassVar

from cachetools import LRUCache
from itsdangerous import TimestampSigner

MOST = 20_000  # sessions that a process knows again


class Signer(TimestampSigner):
    """Knows again what it has found good before: to compute it takes as long as a query."""

    _good: ClassVar[LRUCache[Any, bool]] = LRUCache(MOST)

    def verify_signature(self, value: str | bytes, sig: str | bytes) -> bool:
        """Whether it is of one of our keys."""
        asked = (*self.secret_keys, self.salt, value, sig)
        if self._good.get(asked):  # which is a sign of life, to be kept longer
            return True
        good = super().verify_signature(value, sig)
        if good:
            self._good[asked] = good
        return good
