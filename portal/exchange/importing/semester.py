"""A semester from tables and prerequisites.json, read and checked row by row.

The tables are files of their own, or one table has all of it: a class schedule of another system.
"""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import date
from decimal import Decimal
from itertools import combinations, count, takewhile
from typing import Any

from portal.catalog import requisites, restrictions
from portal.catalog.restrictions import Restriction
from portal.catalog.section_fields import PLAIN, SectionField
from portal.catalog.spellings import Unclear, Unreadable, code_of, credits_of, flag_of, subject_of
from portal.core.i18n import _k
from portal.exchange.importing.changed_meetings import change_meetings, leaves_out
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.files import Files
from portal.exchange.importing.findings import Action
from portal.exchange.importing.meetings import (
    NO_DATES,
    PRIMARY,
    REVERSED_DATES,
    Meeting,
    ReadDay,
    read_instructors,
    read_meeting,
    set_dates,
    surnames_first,
)
from portal.exchange.importing.models import Options
from portal.exchange.importing.named_term import day_reader, read_code
from portal.exchange.importing.report import Note, Report
from portal.exchange.importing.seats import read_seats
from portal.exchange.importing.section_rules import (
    TREES,
    Restrictions,
    ValueList,
    note_doubts,
    read_requisites,
    read_restrictions,
    requisites_by_section,
    restrictions_of,
    settled,
    without_consent,
)
from portal.exchange.importing.semester_tables import MEETINGS, REQUISITES, SECTIONS, SemesterTables
from portal.exchange.importing.staging import KnownRecords
from portal.exchange.importing.statuses import (
    CANCELED,
    CLOSED,
    PLAINLY_CANCELED,
    SEATS_LEFT,
    status_of,
)
from portal.exchange.importing.tables import Progress, Row
from portal.exchange.spreadsheets import items_of
from portal.people.models import CLASS_YEARS

NOT_STORED = (
    *("wait_count", "xlist_capacity", "xlist_enrolled", "xlist_remaining"),
    *("registration_dates", "as_of"),
)
REQUISITES_IN_WORDS = {
    "prerequisites": requisites.parse,
    "corequisites": requisites.parse_ungraded,
}
NO_SECTION = _k(
    "%(file)s has no section that can be read. If the term has none yet, give its first and last"
    " day."
)
# Failures that a first and last day of the term can mend.
DATES_MEND = {NO_DATES, REVERSED_DATES, NO_SECTION}
LONGEST_CODE = 16  # of a department or subject
LONGEST_CRN = 24
LISTED = re.compile(r"\s*[;,]\s*")
NOW = _k("Now “%(title)s”.")
# Signs and little words that end no title.
WORDS_AT_END = re.compile(
    r"(?:\W|\b(?:a|an|and|at|by|for|from|in|of|on|or|the|to|with)\b)+$", re.IGNORECASE
)
LEVEL = ("must_be", "level")
MAJORS = ("major", "field_of_study")
# Values of restrictions that need no student or section to be known.
KNOWN_VALUES = {
    "level": {"undergraduate", "graduate"},
    "classification": {year.casefold() for year in CLASS_YEARS},
}
Credits = tuple[Decimal, Decimal]
NO_CREDITS = (Decimal(), Decimal())


@dataclass
class Course:
    """A course; `credits` None until its sections say."""

    row: Row
    code: str
    department: str
    title: str = ""
    description: str = ""
    offered: str = ""
    credits: Credits | None = None
    categories: dict[str, None] = field(default_factory=dict)
    has_section: bool = False
    listed: bool = False  # by courses.csv
    lists_categories: bool = False  # whether a row has a cell for them, blank or not


@dataclass
class Section:
    """A section with everything that belongs to it."""

    row: Row
    course: Course
    credits: Credits
    fields: dict[str, Any]  # of its record that need no other row
    stored: dict[str, Any]  # what the portal has of it
    is_new: bool
    meetings: list[Meeting] = field(default_factory=list)
    changes_meetings: bool = False  # whether the files state any of them, or erase them
    instructors: dict[str, None] = field(default_factory=dict)
    lists_instructors: bool = False  # whether its rows have a cell for them, blank or not
    restrictions: dict[Restriction, None] = field(default_factory=dict)
    # Fields that can't be read whole: a known section keeps its own, and a new one is a draft.
    refused: set[str] = field(default_factory=set)
    levels_alone: bool = False  # whether only a column of levels has restrictions
    cross_lists: dict[str, None] = field(default_factory=dict)

    def restrict(self, found: Restrictions) -> None:
        self.restrictions |= dict.fromkeys(each for each in found if each)
        if None in found:
            self.refused.add("restrictions")


@dataclass
class Semester:
    """All of it; sections by registration number, the rest by code."""

    here: KnownRecords
    read_day: ReadDay
    # Name and school; None if there is no column for schools.
    departments: dict[str, tuple[str, str | None]] = field(default_factory=dict)
    courses: dict[str, Course] = field(default_factory=dict)
    sections: dict[str, Section] = field(default_factory=dict)
    term_code: str = ""  # a code of the term that no earlier file had
    refused: set[str] = field(default_factory=set)  # registration numbers, also canceled ones
    not_offered: set[str] = field(default_factory=set)  # registration numbers of canceled sections
    ended: dict[str, Row] = field(default_factory=dict)  # rows that cancel a section of the portal
    not_stored: dict[str, list[Row]] = field(default_factory=dict)  # rows with a value, by column
    value_lists: list[tuple[Section, ValueList]] = field(default_factory=list)
    asked_about: set[str] = field(default_factory=set)  # values that may be several
    canceled: set[str] = field(default_factory=set)  # what a canceled section's status may be
    listed: set[str] = field(default_factory=set)  # fields of sections with a table of their own
    starts_on: date = date.max
    ends_on: date = date.min

    @property
    def lists_courses(self) -> bool:
        """Return whether the files list courses apart from their sections."""
        return any(course.listed for course in self.courses.values())

    def section(self, row: Row) -> Section | None:
        """Return the section that a row is about. Report it if there is none."""
        crn = row["crn"]
        if crn not in self.sections and crn not in self.refused:
            row.note("orphan", "crn")
        elif crn in self.refused and crn not in self.not_offered:
            row.note("section_refused", "crn")
        return self.sections.get(crn)


def read_semester(
    files: Files,
    options: Options,
    report: Report,
    progress: Progress,
    here: KnownRecords,
) -> Semester:
    """Read a semester; `here` is what the portal has of it. Raise ImportFailedError if none."""
    semester = Semester(here, day_reader(options, here))
    known = here.dates is not None
    tables = SemesterTables(files, options, report, progress, known, here.sections)

    def read_each(rows: Iterable[Row], read: Callable[[Row, Semester], None]) -> None:
        for row in rows:
            read(row, semester)

    read_each(tables.rows("departments.csv"), _read_department)
    read_each(tables.rows("courses.csv"), _read_course)
    _read_sections(tables, semester, options, report)
    _read_meetings(tables, semester, erase=options.erase)
    _complete_meetings(semester, options)
    _complete_courses(semester)
    if not {TREES, REQUISITES} & {*files.names()} and not tables.schedule:
        report.add(Note("file_missing", TREES))
    _read_trees(files, semester, report)
    if tables.schedule:
        read_each([each.row for each in semester.sections.values()], _read_requisites)
    if REQUISITES in files.names():
        read_each(tables.rows(REQUISITES), _read_requisites)
    read_each(tables.rows("restrictions.csv"), _read_restriction)
    _settle_value_lists(semester)
    read_each(tables.rows("cross_lists.csv"), _read_cross_list)
    semester.listed = _listed_fields(tables)
    for name in tables.unused:
        report.add(Note("file_needless", name))
    for column, noted in semester.not_stored.items():
        text = _k("Rows with a value: %(count)s.")
        noted[0].note("not_represented", column, text, count=f"{len(noted):,}")
    for section in semester.sections.values():
        _read_levels(section)
        if section.row["has_prereqs"].upper() in {"Y", "YES"} and not section.fields.get(
            "prerequisites"
        ):
            section.row.note("prerequisites_unnamed", "has_prereqs")
    return semester


def _listed_fields(tables: SemesterTables) -> set[str]:
    """Return the fields of sections that tables of their own list: one without a row has none."""
    names = tables.files.names()
    found = {each for each in ("restrictions", "cross_lists") if f"{each}.csv" in names}
    in_words = REQUISITES_IN_WORDS.keys() & {*tables.columns(REQUISITES)}
    return found | in_words | (REQUISITES_IN_WORDS.keys() if TREES in names else set())


# Departments and courses


def _read_department(row: Row, semester: Semester) -> None:
    code = row["dept_code"].upper()
    if not code:
        return row.note("no_key", "dept_code")
    if code in semester.departments:
        return row.note("duplicate", "dept_code")
    if len(code) > LONGEST_CODE:
        return row.note("unreadable", "dept_code", _k("The code is too long."))
    school = row.text("school", 160) if "school" in row.values else None
    semester.departments[code] = (row.text("dept_name", 160) or code, school)
    return None


def _read_code(row: Row) -> str | None:
    """Return the course code of a row. Report it if it can't be read."""
    try:
        return code_of(row["course_id"])
    except Unreadable as error:
        row.note("unreadable", "course_id", error)
        return None


def _read_course(row: Row, semester: Semester) -> None:
    """Add the course of a row; it may lack credits or a title until sections are read."""
    if not row["course_id"]:
        return row.note("no_key", "course_id")
    code = _read_code(row)
    if code in semester.courses:
        return row.note("duplicate", "course_id")
    if code:
        known = semester.here.courses.get(code)
        semester.courses[code] = Course(
            row,
            code,
            department=_department_of(row, code, semester),
            title=row.text("title", 200) or (known.title if known else ""),
            description=row["description"],
            offered=row.text("offered", 200),
            credits=_read_course_credits(row) or (known.credits if known else None),
            categories=dict.fromkeys(_read_list(row, "attributes", 60)),
            listed=True,
            lists_categories="attributes" in row.values,
        )
    return None


def _department_of(row: Row, code: str, semester: Semester) -> str:
    """Return the department of a course, added if neither departments.csv nor the portal has it."""
    known = semester.here.courses.get(code)
    found = row["dept_code"].upper()[:LONGEST_CODE] or (known and known.department)
    found = found or subject_of(code)
    if found not in semester.departments:
        if found not in semester.here.departments:
            text = _k("Its code and name are %(code)s.")
            row.note("department_added", "dept_code", text, code=found)
        semester.departments[found] = (found, "")
    return found


def _read_course_credits(row: Row) -> Credits | None:
    """Return the credits of a course; several values make a range."""
    try:
        found = credits_of(row["credits"]) if row["credits"] else None
    except Unreadable as error:
        row.note("credits_missing", "credits", error)
        return None
    if "|" in row["credits"]:
        row.note("several_credits", "credits")
    return found


def _complete_courses(semester: Semester) -> None:
    """Give courses the titles and credits that only their sections have, and sections titles."""
    titles: dict[str, list[str]] = defaultdict(list)
    for section in semester.sections.values():
        if not section.course.title and section.fields["title"]:
            titles[section.course.code].append(section.fields["title"])
    for code, found in titles.items():
        _title_course(semester.courses[code], found, listed=semester.lists_courses)
    _complete_credits(semester)
    for course in semester.courses.values():
        if not course.title:
            course.title = course.code
            course.row.note("title_missing", "title", NOW, title=course.code)
    for section in semester.sections.values():
        section.fields["title"] = section.fields["title"] or section.course.title


def _complete_credits(semester: Semester) -> None:
    """Give courses the credits of their sections, and those to new sections of unread credits."""
    unread = []
    for section in semester.sections.values():
        course = section.course
        if section.is_new and "credits" in section.refused:
            unread.append(section)
            continue
        if course.credits and course.row["revision"]:  # as the portal has them
            continue
        low, high = course.credits or section.credits
        course.credits = min(low, section.credits[0]), max(high, section.credits[1])
    for course in semester.courses.values():
        if course.credits is None:
            course.row.note("credits_missing", "credits", _k("0 until it has a section."))
            course.credits = NO_CREDITS
    for section in unread:
        section.credits = section.course.credits or NO_CREDITS


def _title_course(course: Course, titles: list[str], *, listed: bool) -> None:
    """Give a course the title of its sections, or what different titles begin with alike.

    That is at least two words; otherwise the first title.
    """
    first = course.title = titles[0]
    other = next((each for each in titles if each.casefold() != first.casefold()), None)
    if other is None:
        if listed:
            course.row.note("title_missing", "title", NOW, title=first)
        return
    signs = zip(*(each.casefold() for each in titles), strict=False)
    size = sum(1 for _ in takewhile(lambda each: len({*each}) == 1, signs))
    while any(each[size - 1 : size + 1].isalnum() and len(each) > size for each in titles):
        size -= 1  # in the middle of a word
    shared = WORDS_AT_END.sub("", first[:size])
    course.title = shared if len(shared.split()) > 1 else first
    column = "title" if course.row["title"] or course.listed else "section_title"
    text = _k("Now “%(title)s”. Sections have “%(one)s” and “%(other)s”.")
    course.row.note("title_guessed", column, text, title=course.title, one=first, other=other)


# Sections


def _read_sections(
    tables: SemesterTables, semester: Semester, options: Options, report: Report
) -> None:
    """Add the sections of the term that most rows are of.

    There must be one, unless sections.csv has no rows and the term's dates are known.
    """
    semester.term_code = read_code(tables, options, semester.here)
    written = {row["status"].strip().upper() for row in tables.sections}
    semester.canceled = CANCELED - ({"C"} if written & SEATS_LEFT else set())
    for row in tables.sections:
        _read_section(row, tables.term, options.waitlist, semester)
    _number_sections(semester)
    name = tables.schedule or SECTIONS
    if not tables.sections and not tables.schedule:
        if not (semester.here.dates or (options.starts and options.ends)):
            raise ImportFailedError(NO_SECTION, file=name)
        report.add(Note("no_rows", name))
    elif not (semester.sections or semester.ended):
        shown = tables.files.shown(name)
        of_file = (note for note in report.notes if note.file == shown)
        first = min(of_file, key=lambda note: note.action is not Action.REFUSED, default=None)
        if first is None:
            raise ImportFailedError(_k("%(file)s has no section that can be read."), file=shown)
        text = _k("%(file)s has no section that can be read. Line %(line)s: %(why)s")
        raise ImportFailedError(text, file=shown, line=first.line, why=first.why)


def _read_section(row: Row, term: str, waitlist: int, semester: Semester) -> None:
    if fault := _fault_of(row, term, semester):
        return row.note(*fault)
    semester.refused.add(row["crn"])
    if _is_canceled(row, semester):
        return None
    new = row["crn"] not in semester.here.sections
    _note_status(row, new=new)
    stored = semester.here.records.sections.get(row["crn"], {})
    code = _code_of_section(row, stored, semester)
    if code is None:
        return None
    course = semester.courses.get(code) or _course_of(row, code, semester)
    credits_, kept = _read_section_credits(row, course, stored)
    if credits_ is None:
        return row.note("unreadable", "credits", _k("The course has none either."))
    unread = {"credits"} if kept else set[str]()
    seats = read_seats(row, waitlist, unread, new=new)
    if seats is None:
        return row.note("unreadable", "capacity", _k("Write a whole number."))
    rules, consent = without_consent(row["restrictions"])
    if consent:
        row.values["consent"] = "Y"
    plain = {each.name: _read_field(row, each) for each in PLAIN if each.imported_from}
    fields = plain | seats
    section = Section(row, course, credits_, fields, stored, new, refused=unread)
    lists: list[ValueList] = []
    section.restrict(restrictions_of(row, rules, "restrictions", lists))
    semester.value_lists += ((section, each) for each in lists)
    semester.refused.discard(row["crn"])
    semester.sections[row["crn"]] = section
    semester.courses[code] = course
    course.has_section = True
    course.categories |= dict.fromkeys(_read_list(row, "attributes", 60))
    course.lists_categories |= "attributes" in row.values
    _keep_not_stored(row, semester, *NOT_STORED)
    if not row["section_title"] and new:
        fields["title"] = row.text("topic", 200)
    elif not row["section_title"]:
        _keep_not_stored(row, semester, "topic")
    if row["link"]:
        row.note("link", "link")
    return None


def _code_of_section(row: Row, stored: dict[str, Any], semester: Semester) -> str | None:
    """Return the course of a section; report a code that can't be read, or is not the portal's."""
    here = stored.get("course")
    if not here and not row["course_id"] and semester.here.dates:
        row.note("section_unknown", "crn")
        return None
    code = _read_code(row) if row["course_id"] or not here else here
    if code is None or here in {None, code}:
        return code
    row.note("other_course", "course_id", _k("Here: “%(here)s”."), here=here)
    return None


def _is_canceled(row: Row, semester: Semester) -> bool:
    """Return whether the row cancels its section. Report it, unless an export's row is edited."""
    status, exported = row["status"].strip().upper(), bool(row["revision"])
    if status not in (PLAINLY_CANCELED if exported else semester.canceled):
        return False
    semester.not_offered.add(row["crn"])
    if exported and row["crn"] in semester.here.records.sections:
        semester.ended[row["crn"]] = row
    else:
        row.note("canceled", "status")
    return True


def _note_status(row: Row, *, new: bool) -> None:
    """Report a status that is not known, and one of a new section that may mean other than full."""
    if status_of(row) is None:
        row.note("status", "status")
    elif new and row["status"].strip().upper() in CLOSED:
        row.note("status_closed", "status")


def _course_of(row: Row, code: str, semester: Semester) -> Course:
    """Return a section's course that courses.csv does not have."""
    if semester.lists_courses:
        row.note("course_added", "course_id")
    known = semester.here.courses.get(code)
    title, credits_ = (known.title, known.credits) if known else ("", None)
    return Course(row, code, _department_of(row, code, semester), title, credits=credits_)


def _number_sections(semester: Semester) -> None:
    """Give each new section without a number the next free one of its course."""
    here = semester.here.records.sections
    taken = {
        (each["course"], each.get("number", "").lstrip("0")): crn for crn, each in here.items()
    }
    for section in semester.sections.values():
        place = section.course.code, section.fields["number"].lstrip("0")
        if not section.stored and place in taken and place[1]:
            section.row.note(
                "number_taken", "section", _k("The other is CRN %(crn)s."), crn=taken[place]
            )
    for crn, section in semester.sections.items():
        taken[section.course.code, section.fields["number"].lstrip("0")] = crn
    for crn, section in semester.sections.items():
        if section.fields["number"] or not section.is_new:
            continue
        code = section.course.code
        free = next(number for number in count(1) if (code, f"{number}") not in taken)
        taken[code, f"{free}"] = crn
        section.fields["number"] = f"{free:02}"
        section.row.note("number_missing", "section", _k("Now %(number)s."), number=f"{free:02}")


def _fault_of(row: Row, term: str, semester: Semester) -> tuple[str, str] | None:
    """Return why the row can't be a section of this term, and the column that says so."""
    crn = row["crn"]
    if not crn:
        return "no_key", "crn"
    if len(crn) > LONGEST_CRN or not crn.isprintable():
        return "unreadable", "crn"
    if row["term"].casefold() != term:
        return "other_term", "term"
    if crn in semester.sections or crn in semester.ended:
        return "duplicate", "crn"
    return None


def _keep_not_stored(row: Row, semester: Semester, *columns: str) -> None:
    """Keep the row for the report if one of these columns has a value."""
    for column in columns:
        if row[column]:
            semester.not_stored.setdefault(column, []).append(row)


def _read_section_credits(
    row: Row, course: Course, stored: dict[str, Any]
) -> tuple[Credits | None, bool]:
    """Return the section's credits, and whether they are others because its own can't be read.

    A new section without readable ones gets those of the course.
    """
    try:
        return credits_of(row["credits"]), False
    except Unreadable as error:
        if stored and row["credits"]:
            row.note("credits_unreadable", "credits", error)
            low, high = (Decimal(each) / 100 for each in stored["credits"])
            return (low, high), True
        if row["credits"]:
            row.note("credits_unread", "credits", error)
            return course.credits or NO_CREDITS, True
        if course.credits and course.listed and not stored:
            row.note("credits_missing", "credits", error)
        return course.credits, False


def _read_field(row: Row, field_: SectionField) -> Any:
    """Return a plain field; a text of several lines as the source has it.

    Of a yes or no, blank is no. Another text is reported, and is a yes.
    """
    column = field_.imported_from
    if field_.stored_as != "bool":
        return row[column] if field_.several_lines else row.text(column, field_.longest)
    flag = flag_of(row[column])
    if flag is None:
        row.note("flag_unreadable", column)
    return flag is not False


def _read_list(row: Row, column: str, most: int) -> list[str]:
    """Return the items of a field that lists several; a vertical bar is the exact separator."""
    text = " ".join(row[column].split())
    items = items_of(text) if "|" in text else list(filter(None, LISTED.split(text)))
    if any(len(item) > most for item in items):
        row.note("too_long", column, _k("At most %(most)s characters each."), most=most)
    return [item[:most] for item in items]


# Meetings, restrictions and cross-lists


def _read_meetings(tables: SemesterTables, semester: Semester, *, erase: bool) -> None:
    """Set meetings, and add the instructors, whom sections.csv may list too."""
    rows = (*tables.meetings, *tables.sections)
    first = surnames_first(row["instructors"] for row in rows)
    if marked := next((row for row in rows if PRIMARY.search(row["instructors"])), None):
        marked.note("primary_instructor", "instructors")
    for section in semester.sections.values():
        if not tables.schedule:
            exact = "revision" in section.row.values  # of an export
            names = read_instructors(section.row, surnames_first=first, exact=exact)
            section.instructors |= dict.fromkeys(names)
        section.lists_instructors |= "instructors" in section.row.values
    own = {id(row) for row in tables.sections}  # in a schedule, a section's row has a meeting too
    met: dict[str, list[Row]] = {crn: [] for crn in semester.sections}
    for row in tables.meetings:
        if id(row) in own and row["crn"] not in semester.sections:
            continue
        if found := semester.section(row):
            met[row["crn"]].append(row)
            found.instructors |= dict.fromkeys(read_instructors(row, surnames_first=first))
            found.lists_instructors |= "instructors" in row.values
            _keep_not_stored(row, semester, "frequency")
    for crn, section in semester.sections.items():
        if section.is_new:
            stated = filter(_tells_meeting, met[crn])
            section.meetings = [read_meeting(row, semester.read_day) for row in stated]
            if any(each.unread for each in section.meetings):
                section.refused.add("meetings")
        else:
            _change_meetings(section, met[crn], tables, semester, erase=erase)


def _change_meetings(
    section: Section, rows: list[Row], tables: SemesterTables, semester: Semester, *, erase: bool
) -> None:
    """Set the meetings of a section that the portal has."""
    if erase and not rows and tables.schedule and not _has_times(section.row):
        rows = [section.row]  # a blank room erases the room
    if rows:
        stored = section.stored.get("meetings", [])
        exported = bool(section.row["revision"])
        section.meetings = change_meetings(
            rows, stored, semester.read_day, erase=erase, exported=exported
        )
        same = [meeting.facts() for meeting in section.meetings] == stored
        section.changes_meetings = not (same and leaves_out(rows))
    elif erase:
        section.changes_meetings = MEETINGS in tables.files.names() or _has_times(section.row)


def _has_times(row: Row) -> bool:
    """Return whether a row has columns for days or times, blank or not."""
    return bool({"days", "start_time", "end_time"} & row.values.keys())


def _tells_meeting(row: Row) -> bool:
    """Return whether a row has a meeting, and not only instructors."""
    return _has_times(row) or any(row[each] for each in ("location", "date_start", "date_end"))


def _complete_meetings(semester: Semester, options: Options) -> None:
    """Give the term its dates, and those to meetings without any."""
    meetings = [each for section in semester.sections.values() for each in section.meetings]
    starts, ends = semester.here.dates or (None, None)
    semester.starts_on, semester.ends_on = set_dates(
        meetings, options.starts or starts, options.ends or ends
    )
    outside: dict[tuple[date, date], dict[str, Row]] = defaultdict(dict)
    for crn, section in semester.sections.items():
        if any(one.overlaps(other) for one, other in combinations(section.meetings, 2)):
            section.row.note("overlaps_itself")
        for each in section.meetings:
            dates = each.first or date.min, each.last or date.max
            within = dates[0] <= semester.ends_on and dates[1] >= semester.starts_on
            if not within and each.facts() not in section.stored.get("meetings", ()):
                outside[dates][crn] = section.row
    for (first, last), rows in outside.items():
        text = _k("%(first)s to %(last)s. Sections: %(count)s.")
        row = next(iter(rows.values()))
        row.note("dates_outside", "date_start", text, first=first, last=last, count=len(rows))


def _read_restriction(row: Row, semester: Semester) -> None:
    section = semester.section(row)
    if section is None:
        return
    lists: list[ValueList] = []
    found = read_restrictions(row, lists)
    for restriction in found:
        if restriction in section.restrictions:
            row.note("duplicate", "value")
    section.restrict(found)
    semester.value_lists += ((section, each) for each in lists)


def _settle_value_lists(semester: Semester) -> None:
    """Split restrictions that may be several where the portal or the files know their values.

    A section with another one is as if that could not be read.
    """
    known: dict[str, set[str]] = defaultdict(set)
    for section in semester.sections.values():
        for _rule, kind, value in section.restrictions:
            known[_values_of(kind)].add(value.casefold())
    for kind, value in semester.here.values:
        known[_values_of(kind)].add(value.casefold())
    for name, school in semester.departments.values():
        known["major"].add(name.casefold())
        known["college"].add((school or "").casefold())
    doubts: dict[str, list[ValueList]] = defaultdict(list)
    for section, found in semester.value_lists:
        of_kind = known[_values_of(found.kind)] | KNOWN_VALUES.get(found.kind, set())
        read, in_doubt = settled(found, of_kind)
        section.restrict(read)
        if in_doubt:
            section.refused.add("restrictions")
            semester.asked_about.add(found.written)
            doubts[found.written].append(found)
    for lists in doubts.values():
        note_doubts(lists)


def _values_of(kind: str) -> str:
    """Return the kind whose values a kind of restriction has: fields of study are majors."""
    return "major" if kind in MAJORS else kind


def _read_trees(files: Files, semester: Semester, report: Report) -> None:
    """Read prerequisites.json."""
    for crn, entry in requisites_by_section(files, report).items():
        row = Row(TREES, 0, {"crn": crn.strip()}, report)
        if section := semester.section(row):
            trees = read_requisites(row, entry)
            section.fields |= trees or {}
            section.refused |= set() if trees is not None else REQUISITES_IN_WORDS.keys()


def _read_requisites(row: Row, semester: Semester) -> None:
    """Read the prerequisites and corequisites of a section, in words; blank is left out."""
    section = semester.section(row)
    for name, parse in REQUISITES_IN_WORDS.items():
        if section and row[name]:
            try:
                section.fields[name] = parse(row[name])
            except Unclear:
                row.note("no_tree", name)
                section.refused.add(name)


def _read_levels(section: Section) -> None:
    """Read the levels column of a section as a restriction, unless restrictions.csv has one."""
    levels = _read_list(section.row, "levels", restrictions.LONGEST)
    stated = {value for rule, kind, value in section.restrictions if (rule, kind) == LEVEL}
    if stated and levels and stated != set(levels):
        text = _k("The levels of restrictions.csv are used.")
        section.row.note("levels_disagree", "levels", text)
    if not stated:
        section.levels_alone = not section.restrictions
        section.restrictions |= dict.fromkeys((*LEVEL, level) for level in levels)


def _read_cross_list(row: Row, semester: Semester) -> None:
    """Add another course under which a section is offered."""
    section = semester.section(row)
    code = _read_code(row) if section else None
    if section is None or code is None:
        return None
    if code == section.course.code:
        return row.note("own_course", "course_id")
    if code in section.cross_lists:
        return row.note("duplicate", "course_id")
    other = semester.courses.get(code)
    if other is None or not other.has_section:
        row.note("cross_list_not_offered", "course_id")
    section.cross_lists[code] = None
    return None
