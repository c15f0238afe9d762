"""Search of the logs of all processes, rotated files included, for one correlation id."""

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

# The first line of an entry in text form; lines without a time belong to the entry before.
TIMED = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:,\d+)?")
PREFIX = re.compile(r"^[\w.-]+ +\| ")  # of `docker compose logs`
NAMES = ("*.log", "*.log.[0-9]*")
START = datetime.min.replace(tzinfo=UTC)
# Fields that have their place in a line, or say nothing more.
SHOWN = {"time", "level", "logger", "pid", "correlation", "process", "message", "exc_info", "of"}


@dataclass(frozen=True)
class LogEntry:
    """What a process logged at once; `at` is its time, or that of the entry before."""

    at: datetime
    text: str  # as in the file

    def shown(self) -> str:
        """Return it for people: the time in UTC, the process, the message and its details."""
        fields = _fields(self.text)
        if fields is None:
            return self.text
        level = fields.get("level", "info")
        more = [f"{name}={value}" for name, value in fields.items() if name not in SHOWN]
        mark = "" if level == "info" else f"{level.upper()} "
        head = f"{self.at:%Y-%m-%d %H:%M:%S}.{self.at.microsecond // 1000:03}"
        line = f"{head}  {fields.get('process', '?'):10} {mark}{fields.get('message', '')}"
        trace = [str(fields["exc_info"])] if fields.get("exc_info") else []
        return "\n".join(["  ".join([line, *more]), *trace])


def files_in(folder: Path) -> list[Path]:
    """Return the logs in a folder, with those that were rotated away."""
    return sorted(file for pattern in NAMES for file in folder.glob(pattern))


def find(sources: Iterable[Iterable[str]], code: str) -> list[LogEntry]:
    """Return the entries of all sources that name the id, oldest first."""
    # An id may be the beginning of another one.
    named = re.compile(rf"(?<![\w-]){re.escape(code)}(?![\w-])")
    found = [entry for lines in sources for entry in _entries(lines) if named.search(entry.text)]
    return sorted(found, key=lambda entry: entry.at)


def since(files: Sequence[Path]) -> datetime | None:
    """Return the time of the oldest entry in the files; None if none has a time."""
    times = []
    for file in files:
        with lines_of(file) as lines:
            times += [entry.at for entry in islice(_entries(lines), 1) if entry.at > START]
    return min(times, default=None)


def lines_of(file: Path) -> TextIO:
    """Open a log; replace bytes that are not UTF-8."""
    return file.open(encoding="utf-8", errors="replace")


def _entries(lines: Iterable[str]) -> Iterator[LogEntry]:
    at, entry = START, list[str]()
    for line in lines:
        text = PREFIX.sub("", line.rstrip("\n"))
        time = _time(text)
        if time and entry:
            yield LogEntry(at, "\n".join(entry))
            entry = []
        at = time or at
        entry.append(text)
    if entry:
        yield LogEntry(at, "\n".join(entry))


def _time(text: str) -> datetime | None:
    """Return when an entry that begins with this line was logged; None for other lines."""
    with suppress(ValueError, TypeError, KeyError, OverflowError):
        if text.startswith("{"):
            return datetime.fromisoformat(json.loads(text)["time"]).astimezone(UTC)
        if match := TIMED.match(text):
            return datetime.fromisoformat(match[0].replace(",", ".")).astimezone(UTC)
    return None


def _fields(text: str) -> dict[str, Any] | None:
    with suppress(ValueError):
        fields = json.loads(text)
        if isinstance(fields, dict):
            return fields
    return None
