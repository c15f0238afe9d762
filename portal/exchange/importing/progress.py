"""How far an import is, for pages to show: told to Redis now and then, never waited for."""

import json
import time
from contextlib import suppress
from dataclasses import dataclass, field

from redis.exceptions import RedisError

from portal.backend import backend

KEPT = 24 * 60 * 60  # seconds
PAUSE = 0.3  # seconds between two tellings of the same step


@dataclass(frozen=True)
class Step:
    """What is being done: a file that is read, or `comparing` or `storing`."""

    name: str = ""
    done: int = 0
    total: int = 0


@dataclass
class Teller:
    """Tells of one import."""

    import_id: int
    _last: tuple[str, float] = field(default=("", 0.0))

    def __call__(self, step: str, done: int, total: int) -> None:
        """Tell, unless the same was told just now."""
        name, when = self._last
        if name == step and done < total and time.monotonic() - when < PAUSE:
            return
        self._last = step, time.monotonic()
        with suppress(RedisError):
            told = json.dumps([step, done, total])
            backend().redis.set(_key(self.import_id), told, ex=KEPT)


def step_of(import_id: int) -> Step:
    """How far an import is; blank where nobody has told."""
    try:
        told = backend().redis.get(_key(import_id))
    except RedisError:
        return Step()
    return Step(*json.loads(told)) if isinstance(told, (bytes, str)) else Step()


def _key(import_id: int) -> str:
    return f"import:{import_id}"
