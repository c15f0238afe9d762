"""Reads the files of a semester, row by row; touches no database."""

from collections.abc import Callable
from dataclasses import dataclass

from portal.core.i18n import _k
from portal.exchange.importing.failure import ImportFailedError
from portal.exchange.importing.options import Options
from portal.exchange.importing.report import Report
from portal.exchange.importing.semester import (
    calendar,
    courses,
    files,
    meetings,
    prerequisites,
    sections,
)
from portal.exchange.importing.semester import restrictions as rules
from portal.exchange.importing.semester.semester import Semester
from portal.exchange.importing.sources import Source
from portal.exchange.importing.tables import Progress, Row


def read(source: Source, options: Options, report: Report, progress: Progress) -> Semester:
    """The semester of those files; raises ImportFailed where there is none to be had."""
    reader = Reader(source, Semester(), report, progress)
    reader.each("departments.csv", courses.read_department)
    reader.each("courses.csv", courses.read_course)
    reader.sections(options.waitlist)
    reader.each("meetings.csv", meetings.read_meeting)
    calendar.set_dates(reader.semester, options.starts, options.ends)
    calendar.note_overlaps(reader.semester, report)
    courses.complete(reader.semester, report)
    reader.trees()
    reader.each("restrictions.csv", rules.read_restriction)
    reader.each("cross_lists.csv", rules.read_cross_list)
    for name in files.unknown(source):
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
        for row in files.rows(self.source, name, self.report, self.progress):
            read_row(row, self.semester, self.report)

    def sections(self, waitlist: int) -> None:
        """Read sections.csv, of which something must come."""
        found = files.rows(self.source, "sections.csv", self.report, self.progress)
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
        for crn, entry in files.trees(self.source, self.report).items():
            prerequisites.read_entry(crn.strip(), entry, self.semester, self.report)

    def finish(self) -> None:
        """What needs both a section's own row and the files about it."""
        for section in self.semester.sections.values():
            rules.read_levels(section, self.report)
            rules.note_unnamed(section, self.report)
