"""The files of a semester as rows: encodings, headers and shapes are checked here."""

import csv
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from portal.catalog.imports.report import Report

# The columns without which a file is useless; all others may be missing.
NEEDED = {
    "sections.csv": ("crn", "course_id", "capacity"),
    "meetings.csv": ("crn", "days", "start_time", "end_time"),
    "courses.csv": ("course_id",),
    "departments.csv": ("dept_code",),
    "restrictions.csv": ("crn", "rule", "kind", "value"),
    "cross_lists.csv": ("crn", "course_id"),
}
INDISPENSABLE = ("sections.csv", "meetings.csv", "courses.csv")
GARBAGE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff\ufffd]")
UTF16 = (b"\xff\xfe", b"\xfe\xff")


class ImportFailed(Exception):  # noqa: N818  the file is wrong, not the program
    """Nothing was imported; the message names file, line and column where there are any."""


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a file; a column that isn't there reads as blank."""

    file: str
    line: int
    values: dict[str, str]

    def __getitem__(self, column: str) -> str:
        return self.values.get(column, "")


def rows(folder: Path, name: str, report: Report) -> list[Row]:
    """The rows of one CSV file; those of a wrong shape are refused."""
    text = content(folder, name, report)
    if text is None:
        return []
    header, lines = parsed(text, name)
    found = []
    for line, values in lines:
        row = Row(name, line, dict(zip(header, (value.strip() for value in values), strict=False)))
        if len(values) == len(header):
            found.append(row)
        elif any(values):
            counted = f"It has {len(values)}, the header {len(header)}."
            report.note("row_shape", row, detail=counted)
    return found


def content(folder: Path, name: str, report: Report) -> str | None:
    """The text of a file, None where one that may be missing is."""
    path = folder / name
    try:
        raw = path.read_bytes()
    except FileNotFoundError:
        if name in INDISPENSABLE:
            raise ImportFailed(f"{path} is not there.") from None
        report.note("file_missing", Row(name, 0, {}))
        return None
    except OSError as error:
        raise ImportFailed(f"{path} can't be read: {error.strerror}.") from None
    text = decoded(raw, name, report)
    if found := GARBAGE.search(text):
        line, column = position(text, found.start())
        sign = f"U+{ord(found[0]):04X}"
        raise ImportFailed(f"{name}, line {line}, column {column}: {sign} is no text. Is it a CSV?")
    return text


def decoded(raw: bytes, name: str, report: Report) -> str:
    """UTF-8 with or without a mark, UTF-16 with one, else what Windows writes."""
    encoding = "utf-16" if raw.startswith(UTF16) else "utf-8-sig"
    try:
        return raw.decode(encoding)
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        report.note("encoding", Row(name, line, {}))
        return raw.decode("cp1252", errors="replace")


def position(text: str, at: int) -> tuple[int, int]:
    """Line and column, both from 1."""
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def parsed(text: str, name: str) -> tuple[list[str], list[tuple[int, list[str]]]]:
    """The header in small letters, and every later record with the line that it begins on."""
    first = text.partition("\n")[0]
    separator = max(",;\t", key=first.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    lines = list(records(reader, name))
    header = [column.strip().lower().replace(" ", "_") for column in lines[0][1]] if lines else []
    if missing := [column for column in NEEDED[name] if column not in header]:
        raise ImportFailed(f"{name}, line 1: there is no column {', '.join(missing)}.")
    if doubled := {column for column in header if column and header.count(column) > 1}:
        raise ImportFailed(f"{name}, line 1: column {', '.join(sorted(doubled))} is there twice.")
    return header, lines[1:]


def records(reader: Any, name: str) -> Iterator[tuple[int, list[str]]]:
    while True:
        line = reader.line_num + 1
        try:
            yield line, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ImportFailed(f"{name}, record at line {line}: {error}.") from None


def trees(folder: Path, report: Report) -> dict[str, Any]:
    """prerequisites.json as it stands: registration number → entry."""
    name = "prerequisites.json"
    text = content(folder, name, report)
    if text is None:
        return {}
    try:
        found = json.loads(text)
    except json.JSONDecodeError as error:
        place = f"{name}, line {error.lineno}, column {error.colno}"
        raise ImportFailed(f"{place}: {error.msg}.") from None
    except RecursionError:
        raise ImportFailed(f"{name}: it is nested too deep.") from None
    if not isinstance(found, dict):
        raise ImportFailed(f"{name}, line 1, column 1: expected an object by registration number.")
    return found
