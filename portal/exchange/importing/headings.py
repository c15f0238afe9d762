"""The headings of a semester's tables: those of other systems, such as Banner, by our columns."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress

from portal.catalog.section_fields import PLAIN
from portal.catalog.spellings import Unreadable, time_of

# By file, our column and the other headings for it. Headings are compared in small letters, with
# signs between words as one underscore, and without the name of Banner's table before them.
_SECTION: dict[str, tuple[str, ...]] = {
    **{each.imported_from: () for each in PLAIN if each.imported_from},
    "term": ("term_code", "academic_period", "semester"),
    "crn": ("course_reference_number", "reference_number", "class_nbr", "class_number"),
    "subject": ("subj", "subject_code", "subj_code"),
    "course_number": ("crse", "crse_numb", "course", "catalog_nbr", "catalog_number"),
    "course_id": ("course_code",),
    "section": ("sec", "seq_numb", "section_number", "sequence_number"),
    "schedule_type": ("schd", "schd_code", "schedule_type_description", "component"),
    "credits": ("cred", "credit", "credit_hours", "credit_hrs", "hours", "units"),
    "capacity": ("cap", "max_enrl", "maximum_enrollment", "max", "enrollment_capacity", "seats"),
    "enrolled": ("act", "actual", "enrl", "actual_enrollment", "enrollment", "current_enrollment"),
    "remaining": ("rem", "seats_avail", "seats_available", "avail", "available"),
    "wait_capacity": ("wl_cap", "waitlist_capacity", "waitlist_cap", "wait_cap"),
    "wait_count": ("wl_act", "waitlist_actual", "waitlisted"),
    "wait_remaining": ("wl_rem", "wait_avail", "waitlist_available"),
    "xlist_capacity": ("xl_cap",),
    "xlist_enrolled": ("xl_act",),
    "xlist_remaining": ("xl_rem",),
    "campus": ("camp", "cmp", "camp_code", "campus_description"),
    "method": ("insm_code", "instructional_method", "instruction_mode", "delivery"),
    "levels": ("level", "levl_code"),
    "attributes": ("attribute", "attrs", "course_attributes"),
    "restrictions": ("restriction", "registration_restrictions"),
    "note": ("notes", "comments", "section_text"),
    "consent": ("consent_required", "instructor_consent", "add_consent"),
    "status": ("stat", "section_status", "ssts_code"),
    "link": ("link_id", "link_ident", "link_identifier", "linked_sections"),
    "topic": ("topics", "section_topic", "topic_title"),  # of a course of changing topics
}
_MEETING = {
    "crn": _SECTION["crn"],
    "meeting_type": ("mtyp_code", "meeting_schedule_type"),
    "days": ("day", "meeting_days", "days_met"),
    "times": ("time", "meeting_time", "meeting_times"),
    "start_time": ("begin_time", "begin", "start"),
    "end_time": ("end",),
    "location": ("where", "place", "meeting_location"),
    "building": ("bldg", "bldg_code"),
    "room": ("room_code", "room_number"),
    "dates": ("date", "date_mm_dd", "date_range", "meeting_dates"),
    "date_start": ("start_date", "begin_date"),
    "date_end": ("end_date",),
    "instructors": (
        "instructor",
        "instructor_name",
        "faculty",
        "instructor_s",
        "primary_instructor",
    ),
}
_REQUISITES = {
    "prerequisites": ("prerequisite", "prereqs"),
    "corequisites": ("corequisite", "coreqs"),
}
SCHEDULE = "schedule"  # any one table that holds a whole semester
HEADINGS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "departments.csv": {
        "dept_code": ("department_code", "department", "code"),
        "dept_name": ("department_name", "name", "description"),
        "school": ("college",),
    },
    "courses.csv": {
        "course_id": ("course_code",),
        "subject": _SECTION["subject"],
        "course_number": _SECTION["course_number"],
        "dept_code": ("department_code", "department", "dept"),
        "title": ("course_title", "long_title", "crse_title"),
        "credits": _SECTION["credits"],
        "description": ("course_description",),
    },
    "sections.csv": _SECTION
    | {"section_title": ("title", "course_title", "crse_title")}
    | {"instructors": _MEETING["instructors"]},
    "meetings.csv": _MEETING,
    "restrictions.csv": {"crn": _SECTION["crn"], "rule": ("restriction", "restrictions")},
    "prerequisites.csv": {"crn": _SECTION["crn"]} | _REQUISITES,
    "cross_lists.csv": {"crn": _SECTION["crn"], "course_id": ("course_code", "course")},
    SCHEDULE: _MEETING
    | _SECTION
    | _REQUISITES
    | {"section_title": ("title", "course_title", "crse_title")},
}
# Columns of our own files that have no other headings, or that nothing reads.
OUR_OWN = {
    *("course_number", "prereq_text", "prereq_list", "coreq_list", "offered", "attributes"),
    *("registration_dates", "has_prereqs", "as_of", "revision", "kind", "value"),
    *("meeting_no", "frequency", "conflicts"),
}
# A column that others together make up.
MADE_OF = {
    "course_id": ("subject", "course_number"),
    "start_time": ("times",),
    "end_time": ("times",),
    "date_start": ("dates",),
    "date_end": ("dates",),
    "location": ("building", "room"),
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
        meant = [left.pop(_place(left, compared(heading)))[1] for heading in header]
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


def _place(pairs: list[tuple[str, str]], written: str) -> int:
    return next(at for at, (heading, _column) in enumerate(pairs) if heading == written)


def _column_of(written: str, headings: Mapping[str, tuple[str, ...]]) -> str:
    bare = _BANNER_TABLE.sub("", written)
    known = (column for column, others in headings.items() if bare == column or bare in others)
    return next(known, written)


def is_left_out(column: str) -> bool:
    """Return whether a column of `columns_of` means nothing, because someone chose so."""
    return column.startswith("(")


def is_known(column: str, file: str) -> bool:
    """Return whether an import knows a column of `columns_of`, or has it under another heading."""
    known = HEADINGS[file]
    return column in OUR_OWN or column in known or _column_of(column, known) in known


def has(columns: list[str], column: str) -> bool:
    """Return whether a table has a column, or those that make it up."""
    parts = MADE_OF.get(column, ())
    return column in columns or (bool(parts) and all(each in columns for each in parts))


def completed(values: dict[str, str], year: int | None = None) -> dict[str, str]:
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
        if not values.get(column) and (text or all(each in values for each in MADE_OF[column]))
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
