"""The log of a process: a line for each thing, JSON for machines or text for people."""

import logging
import os
import re
import sys
import threading
from datetime import UTC, datetime
from json import JSONEncoder
from types import TracebackType
from typing import Any

from pythonjsonlogger.json import JsonFormatter

from portal.ops.correlation import correlation

ENCODER = JSONEncoder(default=str)
OURS = ("portal", "jobs", "fairseat")
# PostgreSQL says there which values it did not like: whose they are is nobody's business.
VALUES = re.compile(r"^(DETAIL|CONTEXT|HINT): .*\n?", re.MULTILINE)

log = logging.getLogger("fairseat")


def begin(process: str) -> None:
    """Have this process, by that name, write its log to stderr.

    FAIRSEAT_LOG=json or text chooses the form; without it, people at a terminal read text.
    """
    handler = logging.StreamHandler()
    handler.setFormatter(Lines(process) if in_json() else Text(process))
    logging.basicConfig(handlers=[handler], level=logging.WARNING, force=True)
    for name in OURS:
        logging.getLogger(name).setLevel(logging.INFO)
    sys.excepthook = _uncaught
    threading.excepthook = lambda end: _uncaught(end.exc_type, end.exc_value, end.exc_traceback)


def in_json() -> bool:
    """Whether the log is for machines."""
    wanted = os.environ.get("FAIRSEAT_LOG", "")
    return wanted == "json" if wanted else not sys.stderr.isatty()


class Lines(JsonFormatter):
    """One JSON object a line: when, how grave, who says what, under which code; then facts."""

    def __init__(self, process: str) -> None:
        super().__init__(static_fields={"process": process})

    def add_fields(
        self, log_data: dict[str, Any], record: logging.LogRecord, message_dict: dict[str, Any]
    ) -> None:
        """Put what every line has before what this one has."""
        at = datetime.fromtimestamp(record.created, UTC)
        log_data["time"] = at.isoformat(timespec="milliseconds")
        log_data["level"] = record.levelname.lower()
        log_data["logger"] = record.name
        log_data["pid"] = record.process
        log_data["correlation"] = correlation()
        super().add_fields(log_data, record, message_dict)
        log_data["message"] = without_values(record.getMessage())

    def jsonify_log_record(self, log_data: dict[str, Any]) -> str:
        """The line; by an encoder made once, as a new one for each line takes longer than it."""
        return ENCODER.encode(log_data)

    def formatException(self, ei: Any) -> str:  # noqa: N802  logging's name
        """The trace, without the values that a database tells."""
        return without_values(str(super().formatException(ei)))


class Text(logging.Formatter):
    """A line as people at a terminal read it."""

    def __init__(self, process: str) -> None:
        super().__init__(f"%(asctime)s {process}: %(message)s%(code)s")

    def format(self, record: logging.LogRecord) -> str:
        """The line, with the code of what it follows from."""
        code = correlation()
        record.code = f" [{code}]" if code else ""
        return super().format(record)

    def formatException(self, ei: Any) -> str:  # noqa: N802  logging's name
        """The trace, without the values that a database tells."""
        return without_values(str(super().formatException(ei)))


def without_values(trace: str) -> str:
    """A trace without the lines in which PostgreSQL quotes what it was given."""
    return VALUES.sub("", trace)


def _uncaught(
    kind: type[BaseException], error: BaseException | None, trace: TracebackType | None
) -> None:
    if issubclass(kind, Exception) and error is not None:
        log.critical("Ended by an error", exc_info=(kind, error, trace))
