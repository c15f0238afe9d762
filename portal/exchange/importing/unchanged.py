"""Cells and rows of files that an import leaves as the portal has them.

Each is reported, so that no edit is dropped silently and the first lines of the report count them.
"""

from collections.abc import Collection, Iterator

from portal.catalog.section_fields import PLAIN
from portal.core.i18n import _k
from portal.exchange.importing.edits import HERE
from portal.exchange.importing.section_rules import TREES
from portal.exchange.importing.semester import Course, Section
from portal.exchange.importing.semester_tables import MEETINGS, REQUISITES
from portal.exchange.importing.staging import KnownRecords
from portal.exchange.importing.statuses import STATUS
from portal.exchange.importing.tables import Row
from portal.exchange.importing.values import value_text
from portal.exchange.term_records import Base

EXPORTED = _k("The export had “%(was)s”.")
# Fields that a blank cell never erases.
ALWAYS = {"number": "section", "capacity": "capacity", "waitlist": "wait_capacity"}
ERASABLE = {
    each.name: each.imported_from
    for each in PLAIN
    if each.imported_from and each.name not in ALWAYS
} | {"credits": "credits"}
# The files with the rows of a field; prerequisites.json and prerequisites.csv have the same.
IN_ROWS = {
    "meetings": (MEETINGS,),
    "restrictions": ("restrictions.csv",),
    "cross_lists": ("cross_lists.csv",),
    "prerequisites": (TREES, REQUISITES),
    "corequisites": (TREES, REQUISITES),
}
OF_COURSE = {
    **{name: name for name in ("description", "offered", "credits")},
    "categories": "attributes",
}


def note_unchanged_cells(
    section: Section, base: Base, here: KnownRecords, files: Collection[str], *, erase: bool
) -> None:
    """Report the blank cells, missing rows and edits of a section that change nothing.

    Only the files of an export tell which number of students is an edit.
    """
    row, crn = section.row, section.row["crn"]
    stored = here.records.sections.get(crn)
    if stored is None:
        return
    if base.enrolled and row["enrolled"] not in {"", base.enrolled}:
        row.note("enrolled_unchanged", "enrolled", EXPORTED, was=base.enrolled)
    # In other files, a section without a status is offered.
    of_export = {STATUS: STATUS} if base.revision else {}
    _note_blank(row, "never_blank", ALWAYS | of_export, stored)
    if erase:
        return
    _note_blank(row, "blank_unchanged", ERASABLE, stored)
    names = here.records.names(crn)
    if names and not section.instructors and "instructors" in row.values:
        row.note("blank_unchanged", "instructors", HERE, here=", ".join(names))
    for field, file in _missing(section, files):
        if stored.get(field):
            other = Row(file, 0, {"crn": crn}, row.report)
            other.note("rows_unchanged", "", HERE, here=value_text(field, stored))


def note_unchanged_course(course: Course, here: KnownRecords, *, erase: bool) -> None:
    """Report the blank cells of a listed course; courses of other terms stay as they are."""
    stored = here.records.courses.get(course.code)
    if stored is None or course.code in here.shared:
        return
    _note_blank(course.row, "never_blank", {"title": "title", "department": "dept_code"}, stored)
    if not erase:
        _note_blank(course.row, "blank_unchanged", OF_COURSE, stored)


def _note_blank(row: Row, kind: str, columns: dict[str, str], stored: dict[str, object]) -> None:
    """Report the blank cells of fields that the portal has a value of."""
    for field, column in columns.items():
        if column in row.values and not row[column] and stored.get(field):
            row.note(kind, column, HERE, here=value_text(field, stored))


def _missing(section: Section, files: Collection[str]) -> Iterator[tuple[str, str]]:
    """Yield the fields that files have rows of, but none of this section, with the file."""
    for field, names in IN_ROWS.items():
        file = next((name for name in names if name in files), "")
        stated = field in section.fields or getattr(section, field, None)
        if file and not stated and field not in section.refused:  # which is reported already
            yield field, file
