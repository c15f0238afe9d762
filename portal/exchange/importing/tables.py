"""Reads CSV files row by row, and checks encodings, headers and shapes."""

import codecs
import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import chain, count, islice
from typing import IO, Any

from portal.core.i18n import StoredMessageError, _k, stored_message
from portal.exchange.importing.failures import ColumnsUnknownError, ImportFailedError
from portal.exchange.importing.files import Files
from portal.exchange.importing.headings import made_of
from portal.exchange.importing.report import Note, Report
from portal.exchange.importing.workbook_sheets import LINE_BREAK
from portal.exchange.spreadsheets import unescaped

# Half a character: a byte that is not UTF-8 decodes to one, and JSON can contain one.
SURROGATE = re.compile(r"[\ud800-\udfff]")
GARBAGE = re.compile(r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ufffe\uffff\ufffd\ud800-\udfff]")
UTF16 = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
# By encoding, what becomes of a byte that is not text; `_find_garbage` finds it.
ON_ERROR = {"utf-8-sig": "surrogateescape", "utf-16": "replace", "cp1252": "replace"}
LONGEST_LINE = 2**20
MOST_ROWS = 2_000_000
LONGEST_VALUE = 200  # characters of a value or key in a finding

# The name of a step, how much is done, and the total.
Progress = Callable[[str, int, int], None]
EVERY = 200  # rows between two reports of progress
MOST_TITLES = 10  # lines above a header
MOST_BLANK = 100  # lines among them
SEPARATORS = ",;\t"
BEGINNING = 2**18  # bytes of a file that show what its columns hold
MOST_SAMPLED = 100  # rows
MOST_SAMPLES = 3  # different values of a column
LONGEST_SAMPLE = 60  # characters
MOST_COLUMNS = 300


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a file; a missing column reads as blank."""

    file: str
    line: int
    values: dict[str, str]
    report: Report = field(default_factory=Report, compare=False, repr=False)
    headings: Mapping[str, str] = field(default_factory=dict, compare=False, repr=False)

    def __getitem__(self, column: str) -> str:
        return self.values.get(column, "")

    def note(
        self, kind: str, column: str = "", detail: str | StoredMessageError = "", **facts: object
    ) -> None:
        """Report a finding about the row, at one of its columns, named as its file names it."""
        if isinstance(detail, StoredMessageError):
            detail = detail.stored
        elif detail:
            detail = stored_message(detail, **facts)
        key = self["crn"] or self["course_id"] or self["dept_code"] or self["sourcedId"]
        value = " ".join(self[each] for each in self._columns(column))[:LONGEST_VALUE]
        key, heading = key[:LONGEST_VALUE], self.heading(column)[:LONGEST_VALUE]
        self.report.add(Note(kind, self.file, self.line, key, heading, value, detail))

    def heading(self, column: str) -> str:
        """Return the name of a column in the file."""
        return ", ".join(self.headings.get(each, each) for each in self._columns(column))

    def _columns(self, column: str) -> list[str]:
        """Return a column, or those of the file that make it up."""
        made = [] if column in self.headings else made_of(column)
        return [each for each in made if each in self.headings] or [column]

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
class Shape:
    """The columns that a table must have, what its headings mean, and how long it may be."""

    needed: tuple[str, ...]
    columns: Callable[[list[str]], list[str]]  # of a header
    most_rows: int = MOST_ROWS
    # Gives a row the columns that others make up, and tells which a header has.
    complete: Callable[[dict[str, str]], dict[str, str]] = dict
    has: Callable[[list[str], str], bool] = list.__contains__

    def missing(self, header: list[str]) -> list[str]:
        """Return the needed columns that a header lacks."""
        return [column for column in self.needed if not self.has(header, column)]


def rows(
    files: Files, name: str, shape: Shape, report: Report, progress: Progress
) -> Iterator[Row]:
    """Yield the rows of a CSV file, none if it is missing. Refuse rows of a wrong shape.

    Raise ImportFailedError if the file is not a table.
    """
    if name not in files.names():
        return
    encoding, lines = check_text(files, name, report)
    shown = files.shown(name)
    with open_text(files, name, encoding) as text:
        separator = _separator(text, shape)
        text.seek(0)
        records = _records(csv.reader(text, delimiter=separator, strict=True), shown)
        header, written = _header(records, shape, shown)
        headings = {column: each for column, each in zip(header, written, strict=True) if column}
        done = 0
        for done, (line, values) in enumerate(records, 1):
            if done > shape.most_rows:
                text_ = _k("%(file)s has more than %(most)s rows. Split the file.")
                raise ImportFailedError(text_, file=shown, most=f"{shape.most_rows:,}")
            if done % EVERY == 0:
                progress(name, done, max(done, lines - 1))
            cells = (unescaped(value.replace(LINE_BREAK, "\n").strip()) for value in values)
            named = shape.complete(dict(zip(header, cells, strict=False)))
            row = Row(name, line, named, report, headings)
            if len(values) == len(header):
                yield row
            elif any(values):
                counted = _k("The row has %(count)s fields, the header has %(wanted)s.")
                row.note("row_shape", "", counted, count=len(values), wanted=len(header))
        progress(name, done, done)


def look(files: Files, name: str, shape: Shape) -> tuple[list[str], list[list[str]]] | None:
    """Return the headings of a file as written, and by column its first different values.

    Without a line that has the needed columns, the first line that is at least half as wide as the
    widest is the header: titles are narrow. None if the beginning is no table.
    """
    records, at = _first_records(files, name, shape)
    garbage = any(GARBAGE.search(text) for values in records for text in values)
    if not records or len(records[at]) > MOST_COLUMNS or garbage:
        return None
    headings = [" ".join(heading.split()) for heading in records[at]]
    below = records[at + 1 : at + 1 + MOST_SAMPLED]
    return headings, [_samples(below, column) for column in range(len(headings))]


def titles(files: Files, name: str, shape: Shape) -> list[str]:
    """Return the texts above the header of a file."""
    records, at = _first_records(files, name, shape)
    texts = (" ".join(text.split()) for values in records[:at] for text in values)
    return [text for text in texts if text]


def _first_records(files: Files, name: str, shape: Shape) -> tuple[list[list[str]], int]:
    """Return the records at the beginning of a file, and which of them is the header."""
    text = _beginning(files, name)
    lines = io.StringIO(text)
    reader = csv.reader(io.StringIO(text), delimiter=_separator(lines, shape))
    try:
        records = [values for values in reader if any(map(str.strip, values))]
    except csv.Error:
        return [], 0
    first = records[: MOST_TITLES + 1]
    width = max((_width(values) for values in first), default=0)
    wide = (at for at, values in enumerate(first) if 2 * _width(values) >= width)
    known = (at for at, values in enumerate(first) if not shape.missing(shape.columns(values)))
    return records, next(chain(known, wide), 0)


def _width(values: list[str]) -> int:
    return sum(1 for value in values if value.strip())


def _samples(records: list[list[str]], column: int) -> list[str]:
    """Return the first different values of a column."""
    values = (unescaped(record[column].strip()) for record in records if column < len(record))
    found = dict.fromkeys(filter(None, values))
    return [value[:LONGEST_SAMPLE] for value in islice(found, MOST_SAMPLES)]


def _beginning(files: Files, name: str) -> str:
    """Return the whole lines at the beginning of a file."""
    with files.open(name) as raw:
        start = raw.read(BEGINNING)
    encoding = "utf-16" if start[:2] in UTF16 else "utf-8-sig"
    try:
        text = codecs.getincrementaldecoder(encoding)().decode(start)
    except UnicodeDecodeError:
        text = start.decode("cp1252", "replace")
    return text if len(start) < BEGINNING else text.rpartition("\n")[0]


def check_text(
    files: Files, name: str, report: Report, longest_line: int = LONGEST_LINE
) -> tuple[str, int]:
    """Return the encoding and number of lines of a file. Raise ImportFailedError for no text.

    UTF-8 with or without a BOM, UTF-16 with one, else Windows-1252.
    """
    with files.open(name) as raw:
        encoding = "utf-16" if raw.read(2) in UTF16 else "utf-8-sig"
    line, found = _find_garbage(files, name, encoding, longest_line)
    if found and encoding == "utf-8-sig" and SURROGATE.match(found[0]):
        report.add(Note("encoding", name, line))
        encoding = "cp1252"
        line, found = _find_garbage(files, name, encoding, longest_line)
    if found:
        raise ImportFailedError(
            _k("%(file)s, line %(line)s, column %(column)s: %(sign)s is not text. Is it a CSV?"),
            file=name,
            line=line,
            column=found.start() + 1,
            sign=f"U+{ord(found[0]):04X}",
        )
    return encoding, line


def open_text(files: Files, name: str, encoding: str) -> io.TextIOWrapper:
    """Return the text of a file, from its beginning."""
    return io.TextIOWrapper(files.open(name), encoding, ON_ERROR[encoding], newline="")


def is_text(value: Any) -> bool:
    """Return whether all strings of a JSON value contain only characters of text."""
    waiting = [value]
    while waiting:
        match waiting.pop():
            case str(found) if GARBAGE.search(found):
                return False
            case dict(found):
                waiting += (*found, *found.values())
            case list(found):
                waiting += found
    return True


def _find_garbage(
    files: Files, name: str, encoding: str, longest_line: int
) -> tuple[int, re.Match[str] | None]:
    """Return the first character that is not text and its line, else the number of lines."""
    number = 0
    with open_text(files, name, encoding) as text:
        while line := text.readline(longest_line):
            number += 1
            if found := GARBAGE.search(line):
                return number, found
            if len(line) == longest_line:
                raise ImportFailedError(
                    _k("%(file)s, line %(line)s: the line is too long. Is it a CSV?"),
                    file=name,
                    line=number,
                )
    return number, None


def _records(reader: Any, name: str) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows with their numbers, as a spreadsheet has them: a cell may have line breaks."""
    for number in count(1):
        line = reader.line_num + 1
        try:
            yield number, next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            raise ImportFailedError(
                _k("%(file)s, record at line %(line)s: %(why)s."), file=name, line=line, why=error
            ) from None


def _separator(text: IO[str], shape: Shape) -> str:
    """Return the sign between values: the one that gives the needed columns, else the commonest."""
    read = (text.readline(LONGEST_LINE) for _ in range(MOST_BLANK))
    lines = list(islice(filter(str.strip, read), MOST_TITLES + 1))
    for separator in SEPARATORS:
        with suppress(csv.Error):
            headers = map(shape.columns, csv.reader(lines, delimiter=separator))
            if any(not shape.missing(header) for header in headers):
                return separator
    first = "".join(lines[:1])
    return max(SEPARATORS, key=lambda it: (sum(it in line for line in lines), first.count(it)))


def _header(
    records: Iterator[tuple[int, list[str]]], shape: Shape, name: str
) -> tuple[list[str], list[str]]:
    """Return the columns of the header and its headings as written.

    It is the first line that has the needed columns, after titles. Raise ImportFailedError if
    there is none.
    """
    found = ((line, values) for line, values in records if any(map(str.strip, values)))
    first = list(islice(found, 1))
    if not first:
        raise ImportFailedError(_k("%(file)s is empty."), file=name)
    for line, values in chain(first, islice(found, MOST_TITLES)):
        header = shape.columns(values)
        if not shape.missing(header):
            _refuse_doubled(header, name, line)
            return header, [" ".join(heading.split()) for heading in values]
    line, written = first[0]
    if written[0].lstrip().startswith("<"):
        raise ImportFailedError(
            _k("%(file)s is a web page, not a table. Save it as CSV or as a workbook."), file=name
        )
    raise ColumnsUnknownError(
        _k("%(file)s, line %(line)s: column %(columns)s is missing. It has: %(known)s."),
        file=name,
        line=line,
        columns=", ".join(shape.missing(shape.columns(written))),
        known=", ".join(written)[:LONGEST_VALUE],
    )


def _refuse_doubled(header: list[str], name: str, line: int) -> None:
    doubled = sorted({column for column in header if column and header.count(column) > 1})
    if doubled:
        text = _k("%(file)s, line %(line)s: column %(columns)s appears twice.")
        raise ColumnsUnknownError(text, file=name, line=line, columns=", ".join(doubled))
