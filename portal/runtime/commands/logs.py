"""`fairseat logs`: what every process logged about one request.

It searches the logs of all processes, rotated files included, for one correlation ID.
"""

import json
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, TextIO

import click

from portal.core.settings import var_folder

# The first line of an entry in text form; lines without a time belong to the entry before.
TIMED = re.compile(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?:,\d+)?")
PREFIX = re.compile(r"^[\w.-]+ +\| ")  # of `docker compose logs`
NAMES = ("*.log", "*.log.[0-9]*")  # the latter were rotated away
START = datetime.min.replace(tzinfo=UTC)
# Fields that have their place in a line, or say nothing more.
SHOWN = {"time", "level", "logger", "pid", "correlation", "process", "message", "exc_info", "of"}


@click.command("logs")
@click.option("--correlation", "code", required=True, metavar="ID", help="The correlation ID.")
@click.option("--raw", is_flag=True, help="Print the lines as they are in the files.")
@click.argument("paths", nargs=-1, type=click.Path(path_type=Path, allow_dash=True))
def logs_command(code: str, paths: tuple[Path, ...], *, raw: bool) -> None:
    """Show what all processes logged under a correlation ID, oldest first.

    Searches the logs of the data folder with the files that were rotated away. PATHS are other
    folders or files; - reads standard input, such as `docker compose logs --no-color`. Exit
    status 1 if there is nothing.
    """
    wanted = paths or (var_folder() / "log",)
    files = [file for path in wanted for file in _files(path)]
    with ExitStack() as stack:
        sources = [stack.enter_context(_lines_of(file)) for file in files]
        if Path("-") in wanted:
            sources.append(sys.stdin)
        found = _find(sources, code)
    for entry in found:
        click.echo(entry.text if raw else entry.shown())
    if not found:
        click.echo(_nothing(code, wanted, files), err=True)
    raise SystemExit(not found)


def _files(path: Path) -> list[Path]:
    if path == Path("-"):
        return []
    if path.is_dir():
        return sorted(file for pattern in NAMES for file in path.glob(pattern))
    if path.exists():
        return [path]
    raise click.ClickException(f"There are no logs at {path}. Name their folder or files.")


def _nothing(code: str, wanted: tuple[Path, ...], files: list[Path]) -> str:
    first = _since(files)
    places = ", ".join("standard input" if path == Path("-") else str(path) for path in wanted)
    count = f"{len(files)} {'file' if len(files) == 1 else 'files'}"
    time = f", from {first:%Y-%m-%d %H:%M} UTC on" if first else ""
    return (
        f"No log line names the correlation ID {code}.\n"
        f"Searched {places}: {count}{time}.\n"
        "Older lines are deleted, and other hosts have their own logs. The event log keeps"
        " decisions for good: see the operator's guide, Logs."
    )


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


def _find(sources: Iterable[Iterable[str]], code: str) -> list[LogEntry]:
    """Return the entries of all sources that name the id, oldest first."""
    # An id may be the beginning of another one.
    named = re.compile(rf"(?<![\w-]){re.escape(code)}(?![\w-])")
    found = [entry for lines in sources for entry in _entries(lines) if named.search(entry.text)]
    return sorted(found, key=lambda entry: entry.at)


def _since(files: Sequence[Path]) -> datetime | None:
    """Return the time of the oldest entry in the files; None if none has a time."""
    times = []
    for file in files:
        with _lines_of(file) as lines:
            times += [entry.at for entry in islice(_entries(lines), 1) if entry.at > START]
    return min(times, default=None)


def _lines_of(file: Path) -> TextIO:
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
