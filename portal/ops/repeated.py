"""Warnings that many requests would repeat: one line for each cause in a while, with a count."""

import logging
from threading import Lock, Timer

SECONDS = 10.0  # in which the same cause makes one line, and one more that counts the rest


_left_out: dict[tuple[str, str], int] = {}  # lines, by logger and cause
_lock = Lock()


def warn(log: logging.Logger, cause: str, why: object) -> None:
    """Write the warning, unless one of the same cause was written in the last seconds.

    Those are counted, and the count is written when the time is over. `cause` must be one of few.
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
    """Begin anew, so that the next warning of each cause is written."""
    with _lock:
        _left_out.clear()


def _sum_up(log: logging.Logger, key: tuple[str, str]) -> None:
    with _lock:
        count = _left_out.pop(key, 0)
    if count:
        log.warning("%s: %d more like it within %d s", key[1], count, SECONDS)
