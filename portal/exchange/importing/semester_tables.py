"""The tables of a semester: a file each, or one class schedule of another system.

A class schedule has a row for each meeting; a row without a registration number is a further
meeting of the section above it.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from functools import cached_property, partial

from portal.catalog.section_fields import PLAIN
from portal.catalog.spellings import flag_of
from portal.core.i18n import _k
from portal.exchange.importing import headings, tables
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.files import Files
from portal.exchange.importing.headings import SCHEDULE
from portal.exchange.importing.models import Meanings, Options
from portal.exchange.importing.report import Note, Report
from portal.exchange.importing.section_rules import TREES
from portal.exchange.importing.tables import Progress, Row, Shape

SECTIONS, MEETINGS, COURSES = "sections.csv", "meetings.csv", "courses.csv"
REQUISITES = "prerequisites.csv"  # in words; prerequisites.json has them as trees
# Columns that a table must have; all others may be missing.
NEEDED = {
    "departments.csv": ("dept_code",),
    COURSES: ("course_id",),
    SECTIONS: ("crn", "course_id"),
    MEETINGS: ("crn", "days", "start_time", "end_time"),
    "restrictions.csv": ("crn", "rule"),
    REQUISITES: ("crn",),
    "cross_lists.csv": ("crn", "course_id"),
    SCHEDULE: ("crn", "course_id"),
}
INDISPENSABLE = (SECTIONS, MEETINGS, COURSES)  # of a new term
MEETS = ("days", "start_time", "location", "instructors")
OF_SECTION = ("term", "course_id", "section")
# What all rows of a section say alike, if they say it: students are notified of a section's texts.
ALIKE = (
    *("credits", "capacity", "wait_capacity", "enrolled", "remaining", "status"),
    *("has_prereqs", "link", "topic"),
    *(each.imported_from for each in PLAIN if each.stored_as == "text" and each.notified),
)
# Rules of a section, with what joins those of several rows: all of them apply.
RULES = {
    "restrictions": "{}\n{}",
    "levels": "{}; {}",
    "attributes": "{}; {}",
    "prerequisites": "({}) and ({})",
    "corequisites": "({}) and ({})",
}
MOST_ROWS = 200_000  # of one table; a semester is read as a whole
SHOWN = 5  # unused files
# Texts about missing files: whether there are several, and whether the files have others.
MISSING = {
    (False, False): _k("%(files)s is missing."),
    (False, True): _k("%(files)s is missing. Files that are not used: %(others)s."),
    (True, False): _k(
        "%(files)s are missing. Send them, or send one class schedule as CSV or workbook."
    ),
    (True, True): _k(
        "%(files)s are missing. Send them, or send one class schedule as CSV or workbook. Files"
        " that are not used: %(others)s."
    ),
}
SHEETS = _k(
    "The workbook has %(count)s sheets, and none of them alone is a class schedule: %(sheets)s."
    " Leave one sheet with the sections in it, or name the sheets sections, meetings and courses."
)
YEAR = re.compile(r"\b20\d\d\b")


def _add_facts(first: Row, row: Row, *, here: bool) -> Iterator[str]:
    """Add to the first row of a section what a further row says of it. Report differences.

    Yield the columns in which they contradict each other, if the section is in the portal: it
    keeps its values.
    """
    for column in (*ALIKE, *RULES, "consent"):
        had, value = first[column], row[column]
        if not value or value == had:
            continue
        if not had:
            first.values[column] = value
        elif column in ALIKE:
            kind = "rows_conflict" if here else "rows_disagree"
            row.note(kind, column, _k("The other has “%(value)s”."), value=had)
            if here:
                yield column
        else:
            row.note("rows_joined", column)
            strict = value if flag_of(had) is False else had
            first.values[column] = RULES[column].format(had, value) if column in RULES else strict


def _refuse_other(row: Row, known: Row) -> None:
    """Report a row of another section than the one whose number it has, or follows."""
    if not row["crn"]:
        return row.note("no_key", "crn")
    names = [" ".join(filter(None, (each["course_id"], each["section"]))) for each in (row, known)]
    text = _k("This row: %(this)s. The earlier one: %(other)s.")
    return row.note("crn_taken", "crn", text, this=names[0], other=names[1])


def _most_common_term(sections: list[Row]) -> str:
    terms = Counter(row["term"].casefold() for row in sections)
    return terms.most_common(1)[0][0] if terms else ""


def schedule_of(files: Files) -> str:
    """Return the name of the one table that has the sections; blank if they have a file."""
    names = files.names()
    others = [each for each in names if each.endswith(".csv") and each not in NEEDED]
    if SECTIONS not in names and len(others) > 1:
        others = [each for each in others if _has_headings(files, each)]
    return others[0] if len(others) == 1 and SECTIONS not in names else ""


def _has_headings(files: Files, name: str) -> bool:
    """Return whether a file has the headings of a class schedule."""
    shape = shape_of(SCHEDULE, known=False, meanings={})
    looked = tables.look(files, name, shape)
    return looked is not None and not shape.missing(shape.columns(looked[0]))


def tables_of(files: Files) -> dict[str, str]:
    """Return the names of the files that are tables of a semester, with those of the tables."""
    schedule = schedule_of(files)
    named = {each: each for each in files.names() if each in NEEDED}
    return {schedule: SCHEDULE, **named} if schedule else named


def shape_of(table: str, *, known: bool, meanings: Meanings, year: int | None = None) -> Shape:
    """Return the shape of a table; `known` if its term exists already, in `year`."""
    columns = partial(headings.columns_of, file=table, meanings=meanings.get(table, ()))
    needed = NEEDED[table]
    if table in {SECTIONS, SCHEDULE}:  # the sections of a known term have courses
        needed = ("crn",) if known else (*needed, "capacity")
    return Shape(needed, columns, MOST_ROWS, partial(headings.completed, year=year), headings.has)


@dataclass(frozen=True)
class SemesterTables:
    """The tables that the files of a semester have; `known` if its term exists already."""

    files: Files
    options: Options
    report: Report
    progress: Progress
    known: bool
    here: Collection[str] = ()  # registration numbers of sections that the portal has

    def __post_init__(self) -> None:
        """Raise ImportFailedError, naming all files that are missing."""
        needed = () if self.schedule else (SECTIONS,) if self.known else INDISPENSABLE
        missing = [name for name in needed if name not in self.files.names()]
        if not missing:
            return
        unused = self.unused
        if old := [name for name in unused if name.endswith(".xls")]:
            raise ImportFailedError(_k("Save %(file)s as .xlsx or CSV."), file=old[0])
        if empty := [name for name in unused if not self._has_content(name)]:
            raise ImportFailedError(_k("%(file)s is empty."), file=empty[0])
        if unused and all(name in self.files.sheets for name in unused):
            sheets = ", ".join(map(self.files.shown, unused[:SHOWN]))
            raise ImportFailedError(SHEETS, count=len(unused), sheets=sheets)
        text = MISSING[len(missing) > 1, bool(unused)]
        others = ", ".join(unused[:SHOWN])
        raise ImportFailedError(text, files=", ".join(missing), others=others)

    def _has_content(self, name: str) -> bool:
        with self.files.open(name) as file:
            return bool(file.read(1))

    @cached_property
    def unused(self) -> list[str]:
        """Return the names of files that a semester does not have."""
        used = {*NEEDED, TREES, self.schedule}
        return [each for each in self.files.names() if each not in used and each[0] != "."]

    @cached_property
    def schedule(self) -> str:
        """Return the name of the one table that has the sections; blank if they have a file."""
        return schedule_of(self.files)

    @cached_property
    def sections(self) -> list[Row]:
        return self._scheduled[0] if self.schedule else list(self.rows(SECTIONS))

    @cached_property
    def meetings(self) -> list[Row]:
        scheduled = self._scheduled[1] if self.schedule else []
        return [*scheduled, *self.rows(MEETINGS)]

    def columns(self, name: str) -> list[str]:
        """Return the columns of a file, none if it is missing."""
        if name not in self.files.names():
            return []
        shape = self._shape(name)
        looked = tables.look(self.files, name, shape)
        return shape.columns(looked[0]) if looked else []

    @cached_property
    def titles(self) -> list[str]:
        """Return the texts above the headings of the sections."""
        name = self.schedule or SECTIONS
        return tables.titles(self.files, name, self._shape(SCHEDULE if self.schedule else name))

    @cached_property
    def term(self) -> str:
        """Return the term of most sections, as the files write it; blank if they don't."""
        return _most_common_term(self.sections)

    def rows(self, name: str) -> Iterator[Row]:
        """Yield the rows of a file. Report it if it is missing; refuse rows of a wrong shape."""
        if name in self.files.names():
            yield from self._read(name, name)
        elif not self.schedule:
            self.report.add(Note("file_missing", name))

    @cached_property
    def _scheduled(self) -> tuple[list[Row], list[Row]]:
        """Return the first row of each section of a schedule, and all with a meeting or people.

        A row that names another course or section under the same number is refused.
        """
        first: dict[tuple[str, str], Row] = {}
        latest: dict[str, str] = {}  # the term that a number was last in
        sections, meetings = [], []
        conflicts: list[tuple[Row, str]] = []
        above: Row | None = None
        for row in self._read(self.schedule, SCHEDULE):
            named = row["term"].casefold() or latest.get(row["crn"], ""), row["crn"]
            known = first.get(named) if row["crn"] else above
            if known is None:
                sections.append(row)
                if not row["crn"]:
                    continue  # refused, as it is of no section
                known = first[named] = row
            elif any(row[each] not in {"", known[each]} for each in OF_SECTION):
                _refuse_other(row, known)
                above = None
                continue
            here = known["crn"] in self.here
            conflicts += ((known, column) for column in _add_facts(known, row, here=here))
            row.values["crn"], above = known["crn"], known
            latest[known["crn"]] = known["term"].casefold()
            if any(row[each] for each in MEETS):
                meetings.append((known["term"].casefold(), row))
        for row, column in conflicts:
            row.values.pop(column, None)  # as if the files left it out
        term = _most_common_term(sections)
        return sections, [row for named_term, row in meetings if named_term == term]

    def _read(self, name: str, table: str) -> Iterator[Row]:
        meanings, shape = self.options.columns, self._shape(table)
        unknown: dict[str, Row] = {}  # the first row with a value in each column
        for row in tables.rows(self.files, name, shape, self.report, self.progress):
            for column, value in row.values.items():
                unnamed = not column and table in meanings
                known = unnamed or headings.is_known(column, table)
                if value and column not in unknown and not known:
                    unknown[column] = row
            yield row
        for column, row in unknown.items():
            left_out = headings.is_left_out(column)
            row.note("column_left_out" if left_out else "column_unknown", column)

    def _shape(self, table: str) -> Shape:
        meanings = self.options.columns
        return shape_of(table, known=self.known, meanings=meanings, year=self._year)

    @cached_property
    def _year(self) -> int | None:
        """Return the year of the term, for dates without one."""
        if self.options.starts:
            return self.options.starts.year
        found = YEAR.search(self.options.term)
        return int(found[0]) if found else None
