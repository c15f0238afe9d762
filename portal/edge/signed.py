"""Sessions, which browsers send with every request as they were given."""

from time import time
from typing import Any

from cachetools import LRUCache
from itsdangerous import URLSafeTimedSerializer

MOST = 20_000  # sessions that a process knows again


class _Text:
    """Takes text as it is."""

    loads = dumps = staticmethod(str)


class Signed(URLSafeTimedSerializer):
    """Knows again what it has found good: to check and unpack it takes as long as a query."""

    def __init__(self, keys: Any, form: Any, **how: Any) -> None:
        super().__init__(keys, serializer=_Text(), **how)
        self._form = form  # that what is signed is written in
        self._good: LRUCache[str | bytes, tuple[str, float]] = LRUCache(MOST)

    def dumps(self, obj: Any, *_: Any) -> str:
        """It signed, for a cookie."""
        return str(super().dumps(self._form.dumps(obj)))

    def loads(  # type: ignore[override]  # as itsdangerous does
        self, s: str | bytes, max_age: int | None = None, *_: Any, **__: Any
    ) -> Any:
        """What was signed, made anew each time; raises BadSignature."""
        known = self._good.get(s)  # which is a sign of life, to be kept longer
        if known is None or (max_age is not None and not 0 <= int(time()) - known[1] <= max_age):
            text, at = super().loads(s, max_age=max_age, return_timestamp=True)
            known = self._good[s] = text, at.timestamp()
        return self._form.loads(known[0])
