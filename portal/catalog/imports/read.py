"""Reads a folder into a semester, row by row; touches no database."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from portal.catalog.imports import calendar, courses, files, meetings, prerequisites, sections
from portal.catalog.imports import restrictions as rules
from portal.catalog.imports.files import ImportFailed, Row
from portal.catalog.imports.report import Report
from portal.catalog.imports.semester import Semester

# What is being done, how much of it, and out of how much.
Progress = Callable[[str, int, int], None]
EVERY = 200  # rows between two strokes of the progress bar


@dataclass(frozen=True)
class Options:
    """What the person who imports may choose."""

    waitlist: int = 10  # length where the source gives none
    credit_limit: int = 21
    starts: date | None = None  # the term's dates, where meetings have none
    ends: date | None = None


def read(folder: Path, options: Options, report: Report, progress: Progress) -> Semester:
    """The semester of a folder; raises ImportFailed where there is none to be had."""
    if not folder.is_dir():
        raise ImportFailed(f"{folder} is no folder.")
    reader = Reader(folder, Semester(), report, progress)
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
    reader.finish()
    return reader.semester


@dataclass
class Reader:
    """Goes through the files of a folder, one after another."""

    folder: Path
    semester: Semester
    report: Report
    progress: Progress

    def each(self, name: str, read_row: Callable[[Row, Semester, Report], None]) -> None:
        """Read every row of a file."""
        found = files.rows(self.folder, name, self.report)
        for done, row in enumerate(found, 1):
            read_row(row, self.semester, self.report)
            self.tick(name, done, len(found))

    def sections(self, waitlist: int) -> None:
        """Read sections.csv, of which something must come."""
        found = files.rows(self.folder, "sections.csv", self.report)
        term = sections.most_common_term(found)
        for done, row in enumerate(found, 1):
            sections.read_section(row, term, waitlist, self.semester, self.report)
            self.tick("sections.csv", done, len(found))
        if not self.semester.sections:
            first = next((note for note in self.report.notes if note.file == "sections.csv"), None)
            why = f" Line {first.line}: {first.why}" if first else ""
            raise ImportFailed(f"sections.csv has no section that can be read.{why}")

    def trees(self) -> None:
        """Read prerequisites.json."""
        found = files.trees(self.folder, self.report)
        for done, (crn, entry) in enumerate(found.items(), 1):
            prerequisites.read_entry(crn.strip(), entry, self.semester, self.report)
            self.tick(prerequisites.FILE, done, len(found))

    def finish(self) -> None:
        """What needs both a section's own row and the files about it."""
        for section in self.semester.sections.values():
            rules.read_levels(section, self.report)
            rules.note_unnamed(section, self.report)

    def tick(self, name: str, done: int, total: int) -> None:
        if done % EVERY == 0 or done == total:
            self.progress(name, done, total)
