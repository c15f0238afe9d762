"""The columns of a semester's tables, and the headings that other systems have for them."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from portal.catalog.section_fields import PLAIN
from portal.catalog.spellings import Unreadable, time_of
from portal.core.i18n import _l


@dataclass(frozen=True)
class Column:
    """A column of a semester's tables, and the headings that other systems have for it.

    Headings are compared in small letters, with signs between words as one underscore, and without
    the name of Banner's table before them.
    """

    label: str = ""  # blank: no one can choose it
    headings: str = ""  # with spaces between them
    made_of: tuple[str, ...] = ()  # columns that together make it up
    everywhere: bool = False  # known in every table, even where nothing reads it


_FIELDS = {each.imported_from: each.label for each in PLAIN if each.imported_from}
COLUMNS: Mapping[str, Column] = {name: Column(label) for name, label in _FIELDS.items()} | {
    "as_of": Column(everywhere=True),
    "attributes": Column(_l("Categories"), "attribute attrs course_attributes", everywhere=True),
    "building": Column(_l("Building"), "bldg bldg_code"),
    "campus": Column(_FIELDS["campus"], "camp cmp camp_code campus_description"),
    "capacity": Column(
        _l("Seats"), "cap max_enrl maximum_enrollment max enrollment_capacity seats"
    ),
    "conflicts": Column(_l("Conflicts with other meetings (Y or N)"), everywhere=True),
    "consent": Column(_FIELDS["consent"], "consent_required instructor_consent add_consent"),
    "coreq_list": Column(everywhere=True),
    "corequisites": Column(_l("Corequisites"), "corequisite coreqs"),
    "course_id": Column(
        _l("Course code, such as CSC 1100"), "course_code", made_of=("subject", "course_number")
    ),
    "course_number": Column(
        _l("Course number, such as 1100"),
        "crse crse_numb course catalog_nbr catalog_number",
        everywhere=True,
    ),
    "credits": Column(_l("Credits"), "cred credit credit_hours credit_hrs hours units"),
    "crn": Column(
        _l("Registration number (CRN)"),
        "course_reference_number reference_number class_nbr class_number",
    ),
    "date_end": Column(_l("Last day"), "end_date", made_of=("dates",)),
    "date_start": Column(_l("First day"), "start_date begin_date", made_of=("dates",)),
    "dates": Column(_l("First and last day"), "date date_mm_dd date_range meeting_dates"),
    "days": Column(_l("Days of the week"), "day meeting_days days_met"),
    "dept_code": Column(_l("Department code"), "department_code department"),
    "dept_name": Column(_l("Department name"), "department_name name description"),
    "description": Column(_l("Description"), "course_description"),
    "end_time": Column(_l("End time"), "end", made_of=("times",)),
    "enrolled": Column(
        _l("Seats taken"), "act actual enrl actual_enrollment enrollment current_enrollment"
    ),
    "frequency": Column(everywhere=True),
    "has_prereqs": Column(_l("Has prerequisites (Y or N)"), everywhere=True),
    "instructors": Column(
        _l("Instructors"), "instructor instructor_name faculty instructor_s primary_instructor"
    ),
    "kind": Column(_l("Kind of restriction"), everywhere=True),
    "levels": Column(_l("Levels"), "level levl_code"),
    "link": Column(headings="link_id link_ident link_identifier linked_sections"),
    "location": Column(
        _l("Building and room"), "where place meeting_location", made_of=("building", "room")
    ),
    "meeting_no": Column(everywhere=True),
    "meeting_type": Column(_l("Kind of meeting"), "mtyp_code meeting_schedule_type"),
    "method": Column(_FIELDS["method"], "insm_code instructional_method instruction_mode delivery"),
    "note": Column(_FIELDS["note"], "notes comments section_text"),
    "offered": Column(_l("When the course is offered"), everywhere=True),
    "prereq_list": Column(everywhere=True),
    "prereq_text": Column(everywhere=True),
    "prerequisites": Column(_l("Prerequisites"), "prerequisite prereqs"),
    "registration_dates": Column(everywhere=True),
    "remaining": Column(_l("Seats left"), "rem seats_avail seats_available avail available"),
    "restrictions": Column(_l("Restrictions"), "restriction registration_restrictions"),
    "revision": Column(_l("Revision of an export"), everywhere=True),
    "room": Column(_l("Room number"), "room_code room_number"),
    "rule": Column(_l("Rule of the restriction"), "restriction restrictions"),
    "schedule_type": Column(
        _l("Kind of section"), "schd schd_code schedule_type_description component"
    ),
    "school": Column(_l("School"), "college"),
    "section": Column(_FIELDS["section"], "sec seq_numb section_number sequence_number"),
    "section_title": Column(_l("Section title"), "title course_title crse_title"),
    "start_time": Column(_l("Start time"), "begin_time begin start", made_of=("times",)),
    "status": Column(_l("Status"), "stat section_status ssts_code"),
    "subject": Column(_l("Subject, such as CSC"), "subj subject_code subj_code"),
    "term": Column(_l("Term"), "term_code academic_period semester"),
    "times": Column(_l("Start and end time"), "time meeting_time meeting_times"),
    "title": Column(_l("Course title"), "course_title long_title crse_title"),
    # Of a course of changing topics.
    "topic": Column(_l("Topic"), "topics section_topic topic_title"),
    "value": Column(_l("Value of the restriction"), everywhere=True),
    "wait_capacity": Column(
        _l("Waitlist capacity"), "wl_cap waitlist_capacity waitlist_cap wait_cap"
    ),
    "wait_count": Column(headings="wl_act waitlist_actual waitlisted"),
    "wait_remaining": Column(headings="wl_rem wait_avail waitlist_available"),
    "xlist_capacity": Column(headings="xl_cap"),
    "xlist_enrolled": Column(headings="xl_act"),
    "xlist_remaining": Column(headings="xl_rem"),
}


def _table(*columns: str, **more: str) -> dict[str, list[str]]:
    """Return the headings of a table's columns; `more` are further ones in this table only."""
    return {name: f"{COLUMNS[name].headings} {more.get(name, '')}".split() for name in columns}


_SECTION = (
    *(*_FIELDS, "term", "crn", "subject", "course_number", "course_id", "credits", "capacity"),
    *("enrolled", "remaining", "wait_capacity", "wait_count", "wait_remaining"),
    *("xlist_capacity", "xlist_enrolled", "xlist_remaining", "levels", "attributes"),
    *("restrictions", "status", "link", "topic", "section_title", "has_prereqs"),
)
_MEETING = (
    *("crn", "meeting_type", "days", "times", "start_time", "end_time", "location", "building"),
    *("room", "dates", "date_start", "date_end", "instructors"),
)
_COURSE = (
    *("course_id", "subject", "course_number", "dept_code", "title", "credits", "description"),
    *("attributes", "offered", "revision"),
)
SCHEDULE = "schedule"  # any one table that holds a whole semester
# By table, each column with the other headings for it.
HEADINGS: Mapping[str, Mapping[str, list[str]]] = {
    "departments.csv": _table("dept_code", "dept_name", "school", dept_code="code"),
    "courses.csv": _table(*_COURSE, dept_code="dept"),
    "sections.csv": _table(*_SECTION, "instructors", "revision"),
    "meetings.csv": _table(*_MEETING, "conflicts"),
    "restrictions.csv": _table("crn", "rule", "kind", "value"),
    "prerequisites.csv": _table("crn", "prerequisites", "corequisites"),
    "cross_lists.csv": _table("crn", "course_id", course_id="course"),
    SCHEDULE: _table(*_MEETING, *_SECTION, "prerequisites", "corequisites"),
}
_BANNER_TABLE = re.compile(r"^(?:ssbsect|ssrmeet|scbcrse|sirasgn|stvterm)_")
# Between two times or dates: a long dash, a dash with spaces, "to", or a dash before a number.
_RANGE = re.compile(r" ?[–—] ?| - | to |(?<=[\dmap.]) ?- ?(?=\d{1,2}(?:[:/]|\d\d))", re.IGNORECASE)
_LONGEST_RANGE = 60  # characters
_HALF = re.compile(r"[ap]\.?m?\.?$", re.IGNORECASE)  # of a day
_YEARLESS = re.compile(r"\d{1,2}/\d{1,2}", re.ASCII)


def compared(heading: str) -> str:
    """Return a heading as headings are compared."""
    return re.sub(r"\W+", "_", heading.strip().lower()).strip("_")


def same_headings(header: Sequence[str], other: Sequence[str]) -> bool:
    """Return whether two headers have the same headings, in any order."""
    return Counter(map(compared, header)) == Counter(map(compared, other))


def columns_of(
    header: Sequence[str], file: str, meanings: Sequence[Sequence[str]] = ()
) -> list[str]:
    """Return our columns of a header; an unknown heading as it is compared.

    Of two headings for one column, such as "Title" and "Course Title", the first is it. If the
    header has just the headings of `meanings`, each means what they say: a column that is left out
    has its heading in parentheses, once.
    """
    if meanings and same_headings(header, [heading for heading, _column in meanings]):
        left = [(compared(heading), column) for heading, column in meanings]
        meant = []
        for written in map(compared, header):
            pair = next(each for each in left if each[0] == written)
            left.remove(pair)
            meant.append(pair[1])
        unused = [f"({' '.join(heading.split())})" if heading else "" for heading in header]
        return [
            column or ("" if unused[at] in unused[:at] else unused[at])
            for at, column in enumerate(meant)
        ]
    found: list[str] = []
    for heading in header:
        written = compared(heading)
        column = _column_of(written, HEADINGS[file])
        found.append(written if column in found else column)
    if "course_number" in found and "subject" not in found and "course_id" not in found:
        found[found.index("course_number")] = "course_id"  # "Course" alone is its whole code
    return found


def _column_of(written: str, headings: Mapping[str, list[str]]) -> str:
    bare = _BANNER_TABLE.sub("", written)
    known = (column for column, others in headings.items() if bare == column or bare in others)
    return next(known, written)


def is_left_out(column: str) -> bool:
    """Return whether a column of `columns_of` means nothing, because someone chose so."""
    return column.startswith("(")


def is_known(column: str, file: str) -> bool:
    """Return whether an import knows a column of `columns_of`, or has it under another heading."""
    known, row = HEADINGS[file], COLUMNS.get(column)
    return bool(row and row.everywhere) or _column_of(column, known) in known


def has(columns: list[str], column: str) -> bool:
    """Return whether a table has a column, or those that make it up."""
    parts = made_of(column)
    return column in columns or (bool(parts) and all(each in columns for each in parts))


def made_of(column: str) -> tuple[str, ...]:
    """Return the columns that together make up a column; none if it is always one."""
    return COLUMNS[column].made_of if column in COLUMNS else ()


def completed(values: dict[str, str], year: int | None) -> dict[str, str]:
    """Return a row's values with the columns that others make up.

    `year` is that of the term, for dates such as `08/31`.
    """
    found = {
        "course_id": " ".join(_texts(values, "subject", "course_number")),
        "location": " ".join(_texts(values, "building", "room")),
    }
    found["start_time"], found["end_time"] = _times(values.get("times", ""))
    found["date_start"], found["date_end"] = _dates(values.get("dates", ""), year)
    made = {
        column: text
        for column, text in found.items()
        if not values.get(column) and (text or all(each in values for each in made_of(column)))
    }
    topic, title = values.get("topic"), values.get("section_title")
    if topic and title and topic.casefold() not in title.casefold():
        made["section_title"] = f"{title}: {topic}"
    return values | made


def _texts(values: dict[str, str], *columns: str) -> list[str]:
    found = [values.get(column, "") for column in columns]
    return found if all(found) else []


def _two(text: str) -> tuple[str, str]:
    """Return both ends of a range; a text that is none stands for both."""
    written = " ".join(text.split())
    if len(written) > _LONGEST_RANGE:
        return written, written
    parts = written.split(" - ") if written.count(" - ") == 1 else _RANGE.split(written)
    return (parts[0], parts[1]) if len(parts) == 2 else (written, written)


def _times(text: str) -> tuple[str, str]:
    """Return when a meeting begins and ends; `pm` is of both in `1:00-2:15 pm`."""
    first, last = _two(text)
    half = _HALF.search(last)
    if half and first != last and not _HALF.search(first):
        both = f"{first} {half[0]}"
        with suppress(Unreadable):
            begins, ends = time_of(both), time_of(last)
            if begins and ends and begins < ends:
                return both, last
    return first, last


def _dates(text: str, year: int | None) -> tuple[str, str]:
    """Return the first and last day of a range; days without a year are of the term's."""
    first, last = _two(text)
    if not (year and _YEARLESS.fullmatch(first) and _YEARLESS.fullmatch(last)):
        return first, last
    wraps = [int(part) for part in last.split("/")] < [int(part) for part in first.split("/")]
    return f"{first}/{year}", f"{last}/{year + wraps}"
