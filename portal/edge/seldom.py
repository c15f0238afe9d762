"""Log lines that visitors can cause at will: the same one is written once in a while."""

import logging
from collections.abc import Hashable
from threading import Lock

from cachetools import TTLCache

from portal.edge.addresses import subscriber

SECONDS = (
    10.0  # within which the same is not said again: no flood drowns what else there is to read
)
MOST = 10_000  # lines that are remembered
NO_HTTP = "Invalid request from ip="
BROKEN = "Error handling request"

said: TTLCache[Hashable, bool] = TTLCache(MOST, SECONDS)
_lock = Lock()


def is_new(*line: Hashable) -> bool:
    """Return whether a line was not written within the last seconds."""
    with _lock:
        new = line not in said
        said[line] = True
    return new


def forget() -> None:
    """Write again what has been written."""
    with _lock:
        said.clear()


def worth_writing(record: logging.LogRecord) -> bool:
    """Filter gunicorn's log: leave out what was sent, as it may hold secrets, and repetitions."""
    told = str(record.msg)
    if told.startswith(NO_HTTP):
        address = told.removeprefix(NO_HTTP).partition(": ")[0]
        record.msg, record.args = "Refused a request that is not HTTP, from %s", (address,)
        return is_new("not HTTP", subscriber(address))
    if told.startswith(BROKEN):
        record.msg, record.args = "Error handling a request", ()
    return True
