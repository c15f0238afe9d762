"""Orgs, sessions, courses and classes as departments, terms, courses and sections."""

from datetime import date
from typing import Any

from portal.catalog.spellings import Unreadable, code_of, subject_of
from portal.core.i18n import _k, stored_message
from portal.exchange.importing.oneroster.roster import Roster
from portal.exchange.importing.semester.courses import LONGEST_DEPARTMENT
from portal.exchange.importing.semester.sections import LONGEST_CRN
from portal.exchange.importing.staging import key_of
from portal.exchange.importing.tables import Row

TERMS = {"term", "semester"}
LONGEST = {"name": 160, "term": 80, "title": 200, "number": 16}


def read_org(roster: Roster, row: Row) -> None:
    """A department; of what is above departments only the name is kept, as their school."""
    if row["type"].lower() != "department":
        roster.schools[row["sourcedId"]] = row["name"][: LONGEST["name"]]
        return None
    more = roster.more("department", row)
    code = (row["identifier"] or row["sourcedId"]).upper()
    if more is None:
        return None
    if len(code) > LONGEST_DEPARTMENT or not code.isprintable():
        return roster.report.note(
            "unreadable", row, "identifier", stored_message(_k("It is too long for a code."))
        )
    school = roster.schools.get(row["parentSourcedId"], "")
    facts = {"name": row["name"][: LONGEST["name"]], "school": school}
    if "subject" in more:
        subject = {"name": facts["name"], "department": more["subject"]}
        return roster.put("subject", "subject", code, subject, row)
    roster.departments[row["sourcedId"]] = code
    return roster.put("org", "department", code, facts | more, row)


def read_session(roster: Roster, row: Row) -> None:
    """A term; school years and grading periods have no place."""
    if row["type"] not in TERMS:
        return roster.report.note("no_term", row, "type")
    more = roster.more("term", row)
    name = " ".join(row["title"].split())
    if more is None:
        return None
    if not name or len(name) > LONGEST["term"] or not name.isprintable():
        return roster.report.note("unreadable", row, "title")
    try:
        starts, ends = (date.fromisoformat(row[each]) for each in ("startDate", "endDate"))
    except ValueError:
        return roster.report.note(
            "unreadable", row, "startDate", stored_message(_k("A date is such as 2026-08-31."))
        )
    if ends < starts:
        return roster.report.note(
            "unreadable", row, "endDate", stored_message(_k("It is before the first day."))
        )
    roster.terms[row["sourcedId"]] = name
    dates = {"starts": starts.isoformat(), "ends": ends.isoformat()}
    return roster.put("session", "term", name, dates | more, row)


def read_course(roster: Roster, row: Row) -> None:
    """A course; its department is that of its org, or the one of its subject."""
    more = roster.more("course", row)
    if more is None:
        return None
    try:
        code = code_of(row["courseCode"] or row["sourcedId"])
    except Unreadable as error:
        return roster.report.note("unreadable", row, "courseCode", error.stored)
    subject = more.pop("subject", subject_of(code))
    department = more.pop("department", "") or roster.departments.get(row["orgSourcedId"], subject)
    roster.stage.put("department", department, {})
    roster.stage.put(
        "subject",
        subject,
        {"name": row["subjects"][: LONGEST["name"]] or subject, "department": department},
    )
    roster.courses[row["sourcedId"]] = code
    title = " ".join(row["title"].split())[: LONGEST["title"]] or code
    facts = {"title": title, "subject": subject, "department": department}
    return roster.put("course", "course", code, facts | more, row)


def read_class(roster: Roster, row: Row) -> None:
    """A section; without seats it is a draft, which nobody can pick yet."""
    more = roster.more("section", row)
    if more is None:
        return None
    course = roster.key_of("course", row["courseSourcedId"])
    if course is None:
        return roster.report.note("no_such", row, "courseSourcedId")
    terms = [roster.key_of("session", each.strip()) for each in row["termSourcedIds"].split(",")]
    term = next((each for each in terms if each), None)
    if term is None:
        return roster.report.note("no_such", row, "termSourcedIds")
    crn = more.pop("crn", row["sourcedId"])
    if not crn or len(crn) > LONGEST_CRN or not crn.isprintable():
        return roster.report.note(
            "unreadable",
            row,
            "sourcedId",
            stored_message(_k("At most %(most)s signs each."), most=LONGEST_CRN),
        )
    title = " ".join(row["title"].split())[: LONGEST["title"]]
    key = key_of(term, crn)
    _put_teachers(roster, row, key, more.pop("teachers", []))
    facts: dict[str, Any] = {"course": course, "title": title}
    facts |= _number(row, course) | more | _pool(roster, term, more)
    return roster.put("class", "section", key, facts, row)


def _put_teachers(roster: Roster, row: Row, key: str, teachers: list[tuple[str, str]]) -> None:
    """Those who teach it and have no account."""
    for name, department in teachers:
        teacher = key_of(name, department)
        roster.stage.put("teacher", teacher, {"name": name, "department": department})
        roster.stage.put("teaching", key_of(key, teacher), {}, row)


def _pool(roster: Roster, term: str, more: dict[str, Any]) -> dict[str, Any]:
    """The name of the pool that its seats are of, where the file says so."""
    if not more.get("pool"):
        return {}
    name, capacity = more["pool"]
    roster.stage.put("pool", key_of(term, name), {"capacity": capacity})
    return {"pool": name}


def _number(row: Row, course: str) -> dict[str, Any]:
    """The number of a class whose code is that of its course with something behind."""
    code = row["classCode"].upper()
    number = code.removeprefix(course).lstrip("-_. ") if code.startswith(course) else ""
    return {"number": number[: LONGEST["number"]]} if number else {}
