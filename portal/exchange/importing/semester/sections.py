"""Sections out of sections.csv: identity, credits, seats, and what else their columns say."""

import re
from collections import Counter
from dataclasses import dataclass
from decimal import Decimal

from portal.catalog.section_fields import PLAIN
from portal.catalog.spellings import Unreadable, code_of, count_of, credits_of, subject_of
from portal.core.i18n import _k, stored_message
from portal.exchange.importing.report import Report
from portal.exchange.importing.semester.model import Course, Credits, Section, Semester
from portal.exchange.importing.tables import Row

LONGEST_CRN = 24
NOT_REPRESENTED = (
    "wait_count",
    "xlist_capacity",
    "xlist_enrolled",
    "xlist_remaining",
    "registration_dates",
    "as_of",
)
LISTED = re.compile(r"\s*[|;,]\s*")


def most_common_term(rows: list[Row]) -> str:
    """The term that most rows are of."""
    return Counter(row["term"].casefold() for row in rows).most_common(1)[0][0] if rows else ""


def read_section(row: Row, term: str, waitlist: int, semester: Semester, report: Report) -> None:
    """Add the section of a row, or refuse it."""
    if why := refusal(row, term, semester):
        return report.note(*why)
    try:
        code = code_of(row["course_id"])
    except Unreadable as error:
        return report.note("unreadable", row, "course_id", error.stored)
    course = course_for(row, code, semester, report)
    credit_range = read_section_credits(row, course, report)
    if credit_range is None:
        return report.note(
            "unreadable", row, "credits", stored_message(_k("The course has none either."))
        )
    seats = read_seats(row, waitlist, report)
    section = Section(
        row=row,
        crn=row["crn"],
        course=course,
        texts=read_texts(row, report),
        credits=credit_range,
        capacity=seats.capacity,
        waitlist=seats.waitlist,
        prior=seats.prior,
    )
    semester.sections[section.crn] = section
    course.taught = True
    course.categories |= dict.fromkeys(listed(row, "attributes", 60, report))
    left_out(row, NOT_REPRESENTED, report)
    return None


def refusal(row: Row, term: str, semester: Semester) -> tuple[str, Row, str] | None:
    """Why the row can't be a section of this term, if it can't."""
    if not row["crn"]:
        return "no_key", row, "crn"
    if len(row["crn"]) > LONGEST_CRN or not row["crn"].isprintable():
        return "unreadable", row, "crn"
    if row["crn"] in semester.sections:
        return "duplicate", row, "crn"
    if row["term"].casefold() != term:
        return "other_term", row, "term"
    return None


def read_texts(row: Row, report: Report) -> dict[str, str]:
    """Return the fields that are plain texts; those of several lines as the source has them."""
    found = {}
    for each in PLAIN:
        column = each.imported_from
        if column and each.several_lines:
            found[each.name] = row[column]
        elif column:
            found[each.name] = text(row, column, each.longest, report)
    if not found["number"]:
        report.note("number_missing", row, "section")
        found["number"] = "01"
    return found


def read_section_credits(row: Row, course: Course, report: Report) -> Credits | None:
    """The section's credits, or the course's where it has no readable ones."""
    try:
        return credits_of(row["credits"])
    except Unreadable as error:
        if course.credits:
            report.note("credits_missing", row, "credits", error.stored)
        return course.credits


def listed(row: Row, column: str, most: int, report: Report) -> list[str]:
    """The items of a field that lists several."""
    items = [item for item in LISTED.split(" ".join(row[column].split())) if item]
    if any(len(item) > most for item in items):
        report.note(
            "too_long",
            row,
            column,
            stored_message(_k("At most %(most)s characters each."), most=most),
        )
    return [item[:most] for item in items]


def text(row: Row, column: str, most: int, report: Report) -> str:
    """A line of text: single-spaced, at most `most` signs."""
    found = " ".join(row[column].split())
    if found != row[column]:
        report.note("spaces", row, column)
    if len(found) > most:
        report.note("too_long", row, column, f"At most {most} signs.")
        found = found[: most - 1].rstrip() + "…"
    return found


def left_out(row: Row, columns: tuple[str, ...], report: Report) -> None:
    """Name every field of the row for which there is no place."""
    for column in columns:
        if row[column]:
            report.note("not_represented", row, column)


# Departments and courses out of their files.

LONGEST_DEPARTMENT = 16
NO_CREDITS = (Decimal(0), Decimal(0))


def read_department(row: Row, semester: Semester, report: Report) -> None:
    """Add the department of a row."""
    code = row["dept_code"].upper()
    if not code:
        return report.note("no_key", row, "dept_code")
    if code in semester.departments:
        return report.note("duplicate", row, "dept_code")
    if len(code) > LONGEST_DEPARTMENT:
        return report.note(
            "unreadable", row, "dept_code", stored_message(_k("It is too long for a code."))
        )
    name = text(row, "dept_name", 160, report) or code
    semester.departments[code] = (name, text(row, "school", 160, report))
    return None


def read_course(row: Row, semester: Semester, report: Report) -> None:
    """Add the course of a row; it may lack credits or a title until sections are read."""
    if not row["course_id"]:
        return report.note("no_key", row, "course_id")
    try:
        code = code_of(row["course_id"])
    except Unreadable as error:
        return report.note("unreadable", row, "course_id", error.stored)
    if code in semester.courses:
        return report.note("duplicate", row, "course_id")
    course = Course(
        row=row,
        code=code,
        department=department(row, code, semester, report),
        title=text(row, "title", 200, report),
        description=row["description"],
        offered=text(row, "offered", 200, report),
        credits=read_course_credits(row, report),
    )
    semester.courses[code] = course
    return None


def read_course_credits(row: Row, report: Report) -> Credits | None:
    """The credits of a course's row; several values make a range."""
    try:
        found = credits_of(row["credits"]) if row["credits"] else None
    except Unreadable as error:
        report.note("credits_missing", row, "credits", error.stored)
        return None
    if "|" in row["credits"]:
        report.note("several_credits", row, "credits")
    return found


def department(row: Row, code: str, semester: Semester, report: Report) -> str:
    """The department of a course, added where departments.csv has none of its code."""
    found = row["dept_code"].upper()[:LONGEST_DEPARTMENT] or subject_of(code)
    if found not in semester.departments:
        report.note(
            "department_added",
            row,
            "dept_code",
            stored_message(_k("Its code and name are %(code)s."), code=found),
        )
        semester.departments[found] = (found, "")
    return found


def course_for(row: Row, code: str, semester: Semester, report: Report) -> Course:
    """The course of a section's row, made on the spot where courses.csv has none."""
    if code not in semester.courses:
        report.note("course_added", row, "course_id")
        bare = Course(row, code, department(row, code, semester, report))
        semester.courses[code] = bare
    return semester.courses[code]


def complete(semester: Semester, report: Report) -> None:
    """Give courses what their sections know: a title, credits."""
    for section in semester.sections.values():
        course = section.course
        if not course.title and section.texts["title"]:
            course.title = section.texts["title"]
            report.note(
                "title_missing",
                course.row,
                "title",
                stored_message(_k("Now “%(title)s”."), title=course.title),
            )
        low, high = course.credits or section.credits
        course.credits = min(low, section.credits[0]), max(high, section.credits[1])
    for course in semester.courses.values():
        course.title = course.title or course.code
        if course.credits is None:
            report.note(
                "credits_missing",
                course.row,
                "credits",
                stored_message(_k("0 until it has a section.")),
            )
            course.credits = NO_CREDITS
    for section in semester.sections.values():
        section.texts["title"] = section.texts["title"] or section.course.title


# The seats of a section's row: never more than the source can mean.


@dataclass(frozen=True)
class RowSeats:
    """Capacities, and students who are in already."""

    capacity: int
    waitlist: int
    prior: int


def read_seats(row: Row, waitlist: int, report: Report) -> RowSeats:
    """The seats of a row; `waitlist` is the length of a list where the row gives none."""
    remaining = number(row, "remaining", report)
    enrolled = whole(row, "enrolled", report)
    capacity = read_capacity(row, enrolled, remaining, report)
    prior = read_prior(row, capacity, enrolled, remaining, report)
    if prior > capacity:
        report.note(
            "over_capacity",
            row,
            "enrolled",
            stored_message(_k("%(taken)s of %(seats)s."), taken=prior, seats=capacity),
        )
    if capacity == 0:
        report.note("no_seats", row, "capacity")
    if None not in (enrolled, remaining) and capacity - prior != remaining:
        report.note(
            "counts_disagree",
            row,
            "remaining",
            stored_message(_k("%(seats)s minus %(taken)s."), seats=capacity, taken=prior),
        )
    return RowSeats(capacity, read_waitlist(row, capacity, waitlist, report), prior)


def read_capacity(row: Row, enrolled: int | None, remaining: int | None, report: Report) -> int:
    """The capacity; without a readable one enrolled and remaining, else none at all."""
    capacity = whole(row, "capacity", report)
    if capacity is not None:
        return capacity
    stand_in = max(0, (enrolled or 0) + (remaining or 0)) if remaining is not None else 0
    report.note("count", row, "capacity", stored_message(_k("Seats: %(seats)s."), seats=stand_in))
    return stand_in


def read_prior(
    row: Row, capacity: int, enrolled: int | None, remaining: int | None, report: Report
) -> int:
    """Who is in already; where that can't be known the section counts as full."""
    if enrolled is not None:
        return enrolled
    if remaining is not None:
        return max(0, capacity - remaining)
    if row["enrolled"]:
        report.note(
            "count",
            row,
            "enrolled",
            stored_message(_k("The section counts as full, so that no seat is given twice.")),
        )
        return capacity
    return 0


def read_waitlist(row: Row, capacity: int, default: int, report: Report) -> int:
    """The length of the waitlist; a blank one is `default`, or 0 where there are no seats."""
    stated = whole(row, "wait_capacity", report)
    if stated is not None:
        return stated
    return default if capacity > 0 else 0


def whole(row: Row, column: str, report: Report) -> int | None:
    """A number that can't be negative."""
    found = number(row, column, report)
    if found is not None and found < 0:
        report.note(
            "count", row, column, stored_message(_k("0 is used instead of a negative number."))
        )
        return 0
    return found


def number(row: Row, column: str, report: Report) -> int | None:
    """A number, None where there is none or it can't be read."""
    try:
        return count_of(row[column])
    except Unreadable as error:
        report.note("count", row, column, error.stored)
        return None
