"""Reads CSV files row by row, and checks encodings, headers and shapes."""

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO

from portal.core.i18n import StoredMessageError, _k, stored_message
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.report import Note, Report
from portal.exchange.importing.sources import Source
from portal.exchange.spreadsheets import unescaped

GARBAGE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff\ufffd]")
SURROGATE = re.compile(r"[\ud800-\udfff]")  # half a character, which only JSON can contain
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
CHUNK = 2**18
LONGEST_LINE = 2**20
MOST_ROWS = 2_000_000
LONGEST_VALUE = 200  # characters of a value or key in a finding

# The name of a step, how much is done, and the total.
Progress = Callable[[str, int, int], None]
EVERY = 200  # rows between two reports of progress


@dataclass(frozen=True, slots=True)
class Row:
    """A line of a file; a missing column reads as blank."""

    file: str
    line: int
    values: dict[str, str]
    report: Report = field(default_factory=Report, compare=False, repr=False)

    def __getitem__(self, column: str) -> str:
        return self.values.get(column, "")

    def note(
        self, kind: str, column: str = "", detail: str | StoredMessageError = "", **facts: object
    ) -> None:
        """Report a finding about the row, at one of its columns."""
        if isinstance(detail, StoredMessageError):
            detail = detail.stored
        elif detail:
            detail = stored_message(detail, **facts)
        key = self["crn"] or self["course_id"] or self["dept_code"] or self["sourcedId"]
        value = self[column][:LONGEST_VALUE] if column else ""
        key = key[:LONGEST_VALUE]
        self.report.add(Note(kind, self.file, self.line, key, column, value, detail))

    def note_unused(self, *columns: str) -> None:
        """Report each of these columns that has a value, because the portal does not store it."""
        for column in columns:
            if self[column]:
                self.note("not_represented", column)

    def text(self, column: str, most: int) -> str:
        """Return a line of text: single-spaced, at most `most` characters. Report repairs."""
        found = " ".join(self[column].split())
        if found != self[column]:
            self.note("spaces", column)
        if len(found) > most:
            self.note("too_long", column, _k("At most %(most)s characters."), most=most)
            found = found[: most - 1].rstrip() + "…"
        return found


@dataclass(frozen=True)
class Checked:
    """The encoding of a file that is known to be text, and its number of lines."""

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
    with reading(source, name, checked.encoding) as text:
        separator = max(",;\t", key=text.readline(LONGEST_LINE).count)
    with reading(source, name, checked.encoding) as text:
        records = _records(csv.reader(_lines(text, name), delimiter=separator, strict=True), name)
        header = [shape.spell(column) for column in next(records, (1, []))[1]]
        _check_header(header, shape.needed, name)
        done = 0
        for done, (line, values) in enumerate(records, 1):
            if done > MOST_ROWS:
                raise ImportFailedError(
                    _k("%(file)s has more than %(most)s rows. Split the file."),
                    file=name,
                    most=f"{MOST_ROWS:,}",
                )
            if done % EVERY == 0:
                progress(name, done, max(done, checked.lines - 1))
            cells = (unescaped(value.strip()) for value in values)
            row = Row(name, line, dict(zip(header, cells, strict=False)), report)
            if len(values) == len(header):
                yield row
            elif any(values):
                counted = _k("The row has %(count)s fields, the header has %(wanted)s.")
                row.note("row_shape", "", counted, count=len(values), wanted=len(header))
        progress(name, done, done)


def check(source: Source, name: str, report: Report) -> Checked | None:
    """Return the encoding of a file, None if it is missing. Raise ImportFailedError for no text.

    UTF-8 with or without a BOM, UTF-16 with one, else Windows-1252.
    """
    raw = source.open(name)
    if raw is None:
        return None
    with raw:
        encoding = "utf-16" if raw.read(2) in UTF16 else "utf-8-sig"
    try:
        return Checked(encoding, _count_lines(source, name, encoding))
    except UnicodeDecodeError as error:
        Row(name, int(error.reason), {}, report).note("encoding")
        return Checked("cp1252", _count_lines(source, name, "cp1252"))


def reading(source: Source, name: str, encoding: str) -> io.TextIOWrapper:
    """Return the text of a file, from its beginning."""
    return io.TextIOWrapper(_opened(source, name), encoding, "replace", newline="")


def is_text(value: Any) -> bool:
    """Return whether all strings of a JSON value contain only characters of text."""
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


def _opened(source: Source, name: str) -> BinaryIO:
    raw = source.open(name)
    if raw is None:
        raise ImportFailedError(_k("%(file)s no longer exists."), file=name)
    return raw


def _count_lines(source: Source, name: str, encoding: str) -> int:
    """Return the number of lines. Raise ImportFailedError at a character that is not text.

    Raise UnicodeDecodeError, with the line as its reason, if the encoding is another.
    """
    errors = "replace" if encoding == "cp1252" else "strict"
    decoder = codecs.getincrementaldecoder(encoding)(errors)
    line, column = 1, 0
    with _opened(source, name) as raw:
        while True:
            data = raw.read(CHUNK)
            try:
                text = decoder.decode(data, final=not data)
            except UnicodeDecodeError as error:
                error.reason = str(line + error.object.count(b"\n", 0, error.start))
                raise
            if found := GARBAGE.search(text):
                line, column = _behind(text[: found.start()], line, column)
                raise ImportFailedError(
                    _k(
                        "%(file)s, line %(line)s, column %(column)s: %(sign)s is not text. Is it a"
                        " CSV?"
                    ),
                    file=name,
                    line=line,
                    column=column + 1,
                    sign=f"U+{ord(found[0]):04X}",
                )
            line, column = _behind(text, line, column)
            if not data:
                return line


def _behind(text: str, line: int, column: int) -> tuple[int, int]:
    """Return line and column (from 0) behind a text that begins at these."""
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


def _check_header(header: list[str], needed: Sequence[str], name: str) -> None:
    if missing := [column for column in needed if column not in header]:
        raise ImportFailedError(
            _k("%(file)s, line 1: column %(columns)s is missing."),
            file=name,
            columns=", ".join(missing),
        )
    if doubled := {column for column in header if column and header.count(column) > 1}:
        raise ImportFailedError(
            _k("%(file)s, line 1: column %(columns)s appears twice."),
            file=name,
            columns=", ".join(sorted(doubled)),
        )
