"""Departments and courses out of their files."""

from decimal import Decimal

from portal.catalog.spellings import Unreadable, code_of, credits_of, subject_of
from portal.core.i18n import _k, stored_message
from portal.exchange.importing.report import Report
from portal.exchange.importing.semester import fields
from portal.exchange.importing.semester.semester import Course, Credits, Semester
from portal.exchange.importing.tables import Row

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
    name = fields.text(row, "dept_name", 160, report) or code
    semester.departments[code] = (name, fields.text(row, "school", 160, report))
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
        title=fields.text(row, "title", 200, report),
        description=row["description"],
        offered=fields.text(row, "offered", 200, report),
        credits=read_credits(row, report),
    )
    semester.courses[code] = course
    return None


def read_credits(row: Row, report: Report) -> Credits | None:
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
