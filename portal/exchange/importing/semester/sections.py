"""Sections out of sections.csv: identity, credits, seats, and what else their columns say."""

import re
from collections import Counter

from portal.catalog.section_fields import PLAIN
from portal.catalog.spellings import Unreadable, code_of, credits_of
from portal.core.i18n import _k, stored_message
from portal.exchange.importing.report import Report
from portal.exchange.importing.semester import fields
from portal.exchange.importing.semester.courses import course_for
from portal.exchange.importing.semester.seats import read_seats
from portal.exchange.importing.semester.semester import Course, Credits, Section, Semester
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
    credit_range = read_credits(row, course, report)
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
    fields.left_out(row, NOT_REPRESENTED, report)
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
            found[each.name] = fields.text(row, column, each.longest, report)
    if not found["number"]:
        report.note("number_missing", row, "section")
        found["number"] = "01"
    return found


def read_credits(row: Row, course: Course, report: Report) -> Credits | None:
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
            "too_long", row, column, stored_message(_k("At most %(most)s signs each."), most=most)
        )
    return [item[:most] for item in items]
