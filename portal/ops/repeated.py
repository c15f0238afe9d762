"""Log lines that many requests would repeat: each is written once in a while."""

import logging
from collections.abc import Hashable
from threading import Lock, Timer

from cachetools import TTLCache

SECONDS = 10.0  # in which the same line is written once
MOST = 10_000  # lines that are remembered

said: TTLCache[Hashable, bool] = TTLCache(MOST, SECONDS)
_left_out: dict[tuple[str, str], int] = {}  # warnings, by logger and cause
_lock = Lock()


def is_new(*line: Hashable) -> bool:
    """Return whether such a line was not written within the last seconds."""
    with _lock:
        new = line not in said
        if new:  # renewing it would silence a steady flood for good
            said[line] = True
    return new


def warn(log: logging.Logger, cause: str, why: object) -> None:
    """Write a warning once for its cause, and after some seconds how many more there were.

    `cause` must be one of few.
    """
    key = log.name, cause
    with _lock:
        if key in _left_out:
            _left_out[key] += 1
            return
        _left_out[key] = 0
    timer = Timer(SECONDS, _sum_up, (log, key))
    timer.daemon = True
    timer.start()
    log.warning("%s: %s", cause, why)


def forget() -> None:
    """Write the next line of each kind."""
    with _lock:
        said.clear()
        _left_out.clear()


def _sum_up(log: logging.Logger, key: tuple[str, str]) -> None:
    with _lock:
        count = _left_out.pop(key, 0)
    if count:
        log.warning("%s: %d more like it within %d s", key[1], count, SECONDS)
