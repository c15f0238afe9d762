"""The application log: one line per message, JSON for machines or text for people."""

import logging
import os
import re
import sys
import threading
from collections.abc import Hashable
from datetime import UTC, datetime
from threading import Lock, Timer
from types import TracebackType
from typing import Any

from cachetools import TTLCache
from pythonjsonlogger.json import JsonFormatter

from portal.core.correlation import correlation, name_process

OURS = ("portal", "jobs", "fairseat")
# PostgreSQL quotes rejected values in these lines; they may be private.
VALUES = re.compile(r"^(DETAIL|CONTEXT|HINT): .*\n?", re.MULTILINE)

log = logging.getLogger("fairseat")


def begin(process: str) -> None:
    """Write this process's log to stderr, under that name.

    FAIRSEAT_LOG=json or text chooses the form; the default at a terminal is text.
    """
    name_process(process)
    handler = logging.StreamHandler()
    handler.setFormatter(JsonLog(process) if in_json() else Text(process))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    for name in OURS:
        logging.getLogger(name).setLevel(logging.INFO)
    sys.excepthook = _uncaught
    threading.excepthook = lambda end: _uncaught(end.exc_type, end.exc_value, end.exc_traceback)


def in_json() -> bool:
    wanted = os.environ.get("FAIRSEAT_LOG", "")
    return wanted == "json" if wanted else not sys.stderr.isatty()


class JsonLog(JsonFormatter):
    """Formatter for one JSON object a line: time, level, source, correlation id, details."""

    def __init__(self, process: str) -> None:
        super().__init__(static_fields={"process": process}, json_default=str)

    def add_fields(
        self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]
    ) -> None:
        """Put the common fields before the line's own."""
        at = datetime.fromtimestamp(record.created, UTC)
        log_data["time"] = at.isoformat(timespec="milliseconds")
        log_data["level"] = record.levelname.lower()
        log_data["logger"] = record.name
        log_data["pid"] = record.process
        log_data["correlation"] = correlation()
        super().add_fields(log_data, record, message_dict)
        log_data["message"] = without_values(record.getMessage())

    def formatException(self, ei: Any) -> str:  # noqa: N802  logging's name
        """Return the traceback without the values that a database quotes."""
        return without_values(str(super().formatException(ei)))


class Text(logging.Formatter):
    """Formatter for people at a terminal."""

    def __init__(self, process: str) -> None:
        super().__init__(f"%(asctime)s {process}: %(message)s%(code)s")

    def format(self, record: logging.LogRecord) -> str:
        """Return the line, with its correlation id."""
        code = correlation()
        record.code = f" [{code}]" if code else ""
        return super().format(record)

    def formatException(self, ei: Any) -> str:  # noqa: N802  logging's name
        """Return the traceback without the values that a database quotes."""
        return without_values(str(super().formatException(ei)))


def without_values(trace: str) -> str:
    """Return a traceback without the lines in which PostgreSQL quotes its input."""
    return VALUES.sub("", trace)


def _uncaught(
    kind: type[BaseException], error: BaseException | None, trace: TracebackType | None
) -> None:
    if issubclass(kind, Exception) and error is not None:
        log.critical("Ended by an error", exc_info=(kind, error, trace))


# Log lines that many requests would repeat: each is written once in a while.

SECONDS = 10.0  # the same line is written once in this time
MOST = 10_000  # lines that are remembered

recent: TTLCache[Hashable, bool] = TTLCache(MOST, SECONDS)
_left_out: dict[tuple[str, str], int] = {}  # warnings, by logger and cause
_lock = Lock()


def is_new(*line: Hashable) -> bool:
    """Return whether no such line was written in the last seconds."""
    with _lock:
        new = line not in recent
        if new:  # renewing it would silence a steady flood for good
            recent[line] = True
    return new


def warn(log: logging.Logger, cause: str, why: object) -> None:
    """Write a warning once per cause, and after some seconds how many more there were.

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
    """Write the next line of each kind, even if it repeats."""
    with _lock:
        recent.clear()
        _left_out.clear()


def _sum_up(log: logging.Logger, key: tuple[str, str]) -> None:
    with _lock:
        count = _left_out.pop(key, 0)
    if count:
        log.warning("%s: %d more like it within %d s", key[1], count, SECONDS)
