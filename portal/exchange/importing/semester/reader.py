"""Reads the files of a semester; it touches no database."""

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from portal.core.i18n import _k
from portal.exchange.importing import tables
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.models import Options
from portal.exchange.importing.report import Report
from portal.exchange.importing.semester import meetings, rules, sections
from portal.exchange.importing.semester import sections as courses
from portal.exchange.importing.semester.model import TREES, Semester
from portal.exchange.importing.sources import Source
from portal.exchange.importing.tables import Progress, Row, Shape

# Columns that a file must have; all others may be missing.
NEEDED = {
    "sections.csv": ("crn", "course_id", "capacity"),
    "meetings.csv": ("crn", "days", "start_time", "end_time"),
    "courses.csv": ("course_id",),
    "departments.csv": ("dept_code",),
    "restrictions.csv": ("crn", "rule", "kind", "value"),
    "cross_lists.csv": ("crn", "course_id"),
}
INDISPENSABLE = ("sections.csv", "meetings.csv", "courses.csv")
SHOWN = 5  # unused files
MOST_ROWS = 200_000  # of one file; a semester is read as a whole
LONGEST_TREES = 2**26


def semester_rows(source: Source, name: str, report: Report, progress: Progress) -> list[Row]:
    """The rows of one CSV file; those of a wrong shape are refused."""
    _miss(source, name, report)
    found = []
    for row in tables.rows(source, name, Shape(NEEDED[name], spelt), report, progress):
        found.append(row)
        if len(found) > MOST_ROWS:
            raise ImportFailedError(
                _k("%(file)s has more than %(most)s rows, which no semester has."),
                file=name,
                most=f"{MOST_ROWS:,}",
            )
    return found


def spelt(column: str) -> str:
    """A column of a header, in small letters."""
    return column.strip().lower().replace(" ", "_")


def trees(source: Source, report: Report) -> dict[str, Any]:
    """prerequisites.json as it stands: registration number → entry."""
    _miss(source, TREES, report)
    checked = tables.check(source, TREES, report)
    if checked is None:
        return {}
    with tables.reading(source, TREES, checked.encoding) as text:
        found = parsed(text.read(LONGEST_TREES))
    if not isinstance(found, dict):
        raise ImportFailedError(
            _k("%(file)s, line 1, column 1: expected an object by registration number."), file=TREES
        )
    if not tables.is_text(found):
        raise ImportFailedError(_k("%(file)s contains characters that are not text."), file=TREES)
    return found


def parsed(text: str) -> Any:
    """A JSON text; raises ImportFailed where it is none."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        place = {"file": TREES, "line": error.lineno, "column": error.colno}
        text = _k("%(file)s, line %(line)s, column %(column)s: %(why)s.")
        raise ImportFailedError(text, **place, why=error.msg) from None
    except RecursionError:
        raise ImportFailedError(_k("%(file)s is nested too deep."), file=TREES) from None
    except ValueError:
        raise ImportFailedError(
            _k("%(file)s contains a number that is too long."), file=TREES
        ) from None


def unknown(source: Source) -> list[str]:
    """The names of files that no semester has."""
    named = {*NEEDED, TREES}
    return [name for name in source.names() if name not in named and not name.startswith(".")]


def _miss(source: Source, name: str, report: Report) -> None:
    """Report a missing file. Raise ImportFailedError if it is needed."""
    if name in source.names():
        return
    if name in INDISPENSABLE:
        if others := unknown(source):
            text = _k("%(file)s is missing. Files that are not used: %(others)s.")
            raise ImportFailedError(text, file=name, others=", ".join(others[:SHOWN]))
        raise ImportFailedError(_k("%(file)s is missing."), file=name)
    report.note("file_missing", Row(name, 0, {}))


def read_semester(source: Source, options: Options, report: Report, progress: Progress) -> Semester:
    """Read a semester. Raise ImportFailedError if the files have none."""
    reader = Reader(source, Semester(), report, progress)
    reader.each("departments.csv", courses.read_department)
    reader.each("courses.csv", courses.read_course)
    reader.sections(options.waitlist)
    reader.each("meetings.csv", meetings.read_meeting)
    meetings.set_dates(reader.semester, options.starts, options.ends)
    meetings.note_overlaps(reader.semester, report)
    courses.complete(reader.semester, report)
    reader.trees()
    reader.each("restrictions.csv", rules.read_restriction)
    reader.each("cross_lists.csv", rules.read_cross_list)
    for name in unknown(source):
        report.note("file_needless", Row(name, 0, {}))
    reader.finish()
    return reader.semester


@dataclass
class Reader:
    """Goes through the files, one after another."""

    source: Source
    semester: Semester
    report: Report
    progress: Progress

    def each(self, name: str, read_row: Callable[[Row, Semester, Report], None]) -> None:
        """Read every row of a file."""
        for row in semester_rows(self.source, name, self.report, self.progress):
            read_row(row, self.semester, self.report)

    def sections(self, waitlist: int) -> None:
        """Read sections.csv, which must have a section."""
        found = semester_rows(self.source, "sections.csv", self.report, self.progress)
        term = sections.most_common_term(found)
        for row in found:
            sections.read_section(row, term, waitlist, self.semester, self.report)
        if not self.semester.sections:
            first = next((note for note in self.report.notes if note.file == "sections.csv"), None)
            if first is None:
                raise ImportFailedError(_k("sections.csv has no section that can be read."))
            text = _k("sections.csv has no section that can be read. Line %(line)s: %(why)s")
            raise ImportFailedError(text, line=first.line, why=first.why)

    def trees(self) -> None:
        """Read prerequisites.json."""
        for crn, entry in trees(self.source, self.report).items():
            rules.read_entry(crn.strip(), entry, self.semester, self.report)

    def finish(self) -> None:
        """Check what depends on a section's row and on other files."""
        for section in self.semester.sections.values():
            rules.read_levels(section, self.report)
            rules.note_unnamed(section, self.report)
