"""Reads CSV files row by row, and checks encodings, headers and shapes."""

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, BinaryIO

from portal.core.i18n import _k, stored_message
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.report import Report
from portal.exchange.importing.sources import Source
from portal.exchange.spreadsheets import unescaped

GARBAGE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff\ufffd]")
SURROGATE = re.compile(r"[\ud800-\udfff]")  # half a character, which only JSON can contain
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
CHUNK = 2**18
LONGEST_LINE = 2**20
MOST_ROWS = 2_000_000

# The name of a step, how much is done, and the total.
Progress = Callable[[str, int, int], None]
EVERY = 200  # rows between two reports of progress


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a file; a missing column reads as blank."""

    file: str
    line: int
    values: dict[str, str]

    def __getitem__(self, column: str) -> str:
        return self.values.get(column, "")


@dataclass(frozen=True)
class Checked:
    """A file that is known to be text, with its encoding and number of lines."""

    name: str
    encoding: str
    lines: int


@dataclass(frozen=True)
class Shape:
    """The columns that a table must have, and how to spell a header."""

    needed: tuple[str, ...]
    spell: Callable[[str], str]


def rows(
    source: Source, name: str, shape: Shape, report: Report, progress: Progress
) -> Iterator[Row]:
    """Yield the rows of a CSV file, none if it is missing. Refuse rows of a wrong shape.

    Raise ImportFailedError if the file is not a table.
    """
    checked = check(source, name, report)
    if checked is None:
        return
    parted = separator(source, checked)
    with reading(source, name, checked.encoding) as text:
        reader = csv.reader(_lines(text, name), delimiter=parted, strict=True)
        records = _records(reader, name)
        header = _header(next(records, (1, []))[1], name, shape)
        done = 0
        for done, (line, values) in enumerate(records, 1):
            if done > MOST_ROWS:
                raise ImportFailedError(
                    _k("%(file)s has more than %(most)s rows: split it."),
                    file=name,
                    most=f"{MOST_ROWS:,}",
                )
            if done % EVERY == 0:
                progress(name, done, max(done, checked.lines - 1))
            yield from _row(Row(name, line, dict(_pairs(header, values))), header, values, report)
        progress(name, done, done)


def is_text(value: Any) -> bool:
    """Whether all strings of a JSON value contain only characters of text."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str(found) if GARBAGE.search(found) or SURROGATE.search(found):
                return False
            case dict(found):
                waiting += (*found, *found.values())
            case list(found):
                waiting += found
    return True


def _pairs(header: list[str], values: list[str]) -> Iterable[tuple[str, str]]:
    return zip(header, (unescaped(value.strip()) for value in values), strict=False)


def _row(row: Row, header: list[str], values: list[str], report: Report) -> Iterator[Row]:
    if len(values) == len(header):
        yield row
    elif any(values):
        counted = _k("It has %(count)s, the header %(wanted)s.")
        detail = stored_message(counted, count=len(values), wanted=len(header))
        report.note("row_shape", row, detail=detail)


def check(source: Source, name: str, report: Report) -> Checked | None:
    """Return the encoding of a file, None if it is missing. Raise ImportFailedError for no text.

    UTF-8 with or without a BOM, UTF-16 with one, else Windows-1252.
    """
    raw = source.open(name)
    if raw is None:
        return None
    with raw:
        marked = raw.read(2) in UTF16
    try:
        encoding = "utf-16" if marked else "utf-8-sig"
        return Checked(name, encoding, _look_through(source, name, encoding))
    except UnicodeDecodeError as error:
        report.note("encoding", Row(name, int(error.reason), {}))
        return Checked(name, "cp1252", _look_through(source, name, "cp1252"))


def reading(source: Source, name: str, encoding: str) -> io.TextIOWrapper:
    """The text of a file, from its beginning."""
    return io.TextIOWrapper(opened(source, name), encoding, "replace", newline="")


def opened(source: Source, name: str) -> BinaryIO:
    """The bytes of a file that was there before."""
    raw = source.open(name)
    if raw is None:
        raise ImportFailedError(_k("%(file)s is no longer there."), file=name)
    return raw


def separator(source: Source, checked: Checked) -> str:
    """The comma, semicolon or tab that the header is full of."""
    with reading(source, checked.name, checked.encoding) as text:
        return max(",;\t", key=text.readline(LONGEST_LINE).count)


def _look_through(source: Source, name: str, encoding: str) -> int:
    """Return the number of lines. Raise ImportFailedError at a character that is not text.

    Raise UnicodeDecodeError, with the line as its reason, if the encoding is another.
    """
    errors = "replace" if encoding == "cp1252" else "strict"
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    line, column = 1, 0
    with opened(source, name) as raw:
        while True:
            data = raw.read(CHUNK)
            try:
                text = decoder.decode(data, final=not data)
            except UnicodeDecodeError as error:
                error.reason = str(line + error.object.count(b"\n", 0, error.start))
                raise
            if found := GARBAGE.search(text):
                _refuse(name, found, line, column)
            line, column = _moved(text, line, column)
            if not data:
                return line


def _refuse(name: str, found: re.Match[str], line: int, column: int) -> None:
    line, column = _moved(found.string[: found.start()], line, column)
    sign = f"U+{ord(found[0]):04X}"
    raise ImportFailedError(
        _k("%(file)s, line %(line)s, column %(column)s: %(sign)s is not text. Is it a CSV?"),
        file=name,
        line=line,
        column=column + 1,
        sign=sign,
    )


def _moved(text: str, line: int, column: int) -> tuple[int, int]:
    """Line and column (from 0) behind a text that begins at these."""
    newlines = text.count("\n")
    return line + newlines, len(text) - text.rfind("\n") - 1 if newlines else column + len(text)


def _lines(text: io.TextIOWrapper, name: str) -> Iterator[str]:
    number = 0
    while line := text.readline(LONGEST_LINE):
        number += 1
        if len(line) == LONGEST_LINE:
            raise ImportFailedError(
                _k("%(file)s, line %(line)s: the line is too long. Is it a CSV?"),
                file=name,
                line=number,
            )
        yield line


def _records(reader: Any, name: str) -> Iterator[tuple[int, list[str]]]:
    while True:
        line = reader.line_num + 1
        try:
            yield line, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ImportFailedError(
                _k("%(file)s, record at line %(line)s: %(why)s."), file=name, line=line, why=error
            ) from None


def _header(written: list[str], name: str, shape: Shape) -> list[str]:
    header = [shape.spell(column) for column in written]
    if missing := [column for column in shape.needed if column not in header]:
        raise ImportFailedError(
            _k("%(file)s, line 1: there is no column %(columns)s."),
            file=name,
            columns=", ".join(missing),
        )
    if doubled := {column for column in header if column and header.count(column) > 1}:
        raise ImportFailedError(
            _k("%(file)s, line 1: column %(columns)s appears twice."),
            file=name,
            columns=", ".join(sorted(doubled)),
        )
    return header
