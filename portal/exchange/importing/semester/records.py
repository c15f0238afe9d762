"""Stages a semester as records."""

import re
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.catalog import formatting
from portal.catalog.models import Subject, Term
from portal.catalog.spellings import subject_of
from portal.core.i18n import _k, stored_message
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.models import Options
from portal.exchange.importing.report import Report
from portal.exchange.importing.semester.model import Course, Meeting, Section, Semester
from portal.exchange.importing.semester.reader import read_semester
from portal.exchange.importing.sources import Source
from portal.exchange.importing.staging import Stage, key_of
from portal.exchange.importing.tables import Progress, Row

LONGEST_NAME = 80
MAJORS = ("major", "field_of_study")
LONGEST_CODE = 16


def stage_semester(
    stage: Stage, source: Source, options: Options, report: Report, progress: Progress
) -> None:
    """Stage the records of the files. Raise ImportFailedError."""
    name = name_of(options)
    known = stage.session.scalar(select(Term.id).where(Term.name == name)) is not None
    if known and not options.update:
        raise ImportFailedError(
            _k("The term “%(term)s” already exists. Choose another name, or --update it."),
            term=name,
        )
    semester = read_semester(source, options, report, progress)
    stage.put("term", name, term(semester, options, known=known))
    for code, (title, school) in semester.departments.items():
        named = {"name": title, "school": school} if title != code else {}
        stage.put("department", code, named)
    put_subjects(stage, semester)
    put_majors(stage, semester, report)
    for course in semester.courses.values():
        stage.put("course", course.code, course_facts(course), course.row)
    for section in semester.sections.values():
        put_section(stage, name, section)
    stage.unnamed = {"teaching", "section"} if options.remove else set()


def name_of(options: Options) -> str:
    """Return the name of the term, tidied. Raise ImportFailedError if it is not a name."""
    name = " ".join(options.term.split())
    if not name or len(name) > LONGEST_NAME or not name.isprintable():
        raise ImportFailedError(
            _k("A term’s name has 1 to %(most)s characters."), most=LONGEST_NAME
        )
    return name


def term(semester: Semester, options: Options, *, known: bool) -> dict[str, Any]:
    """Fields of the term. An existing term keeps its limit, and its dates unless given."""
    dates = {"starts": options.starts, "ends": options.ends}
    if not known:
        dates = {"starts": semester.starts_on, "ends": semester.ends_on}
    facts: dict[str, Any] = {name: day.isoformat() for name, day in dates.items() if day}
    return facts if known else facts | {"credit_limit": options.credit_limit * 100}


def put_subjects(stage: Stage, semester: Semester) -> None:
    """A subject of a department's code has its name, any other its own code."""
    wanted = {subject_of(code): course.department for code, course in semester.courses.items()}
    for code, department in wanted.items():
        name = semester.departments.get(code, (code, ""))[0]
        stage.put("subject", code, {"name": name, "department": department})


def put_majors(stage: Stage, semester: Semester, report: Report) -> None:
    """Subjects for majors that only restrictions name, so that students can have them."""
    codes, names = known_subjects(stage.session, semester)
    named = {
        value: None
        for section in semester.sections.values()
        for _, kind, value in section.restrictions
        if kind in MAJORS
    }
    for name in named:
        if name.casefold() in names or name.upper() in codes:
            continue
        code = new_code(name, codes)
        codes.add(code)
        names.add(name.casefold())
        row = Row("restrictions.csv", 0, {"value": name})
        stage.put("subject", code, {"name": name, "department": None})
        report.note(
            "major_added", row, "value", stored_message(_k("Its code is %(code)s."), code=code)
        )


def known_subjects(session: Session, semester: Semester) -> tuple[set[str], set[str]]:
    """Codes, and names in small letters, of the subjects that there are or will be."""
    known = dict(session.execute(select(Subject.code, Subject.name)).all())
    for code in map(subject_of, semester.courses):
        known.setdefault(code, semester.departments.get(code, (code, ""))[0])
    return set(known), {name.casefold() for name in known.values()}


def new_code(name: str, taken: set[str]) -> str:
    """Return an unused code for a name, such as `COMPUTER-SYSTEMS`."""
    letters = "-".join(re.findall(r"\w+", name.upper())) or "MAJOR"
    code, count = letters[:LONGEST_CODE].rstrip("-"), 1
    while code in taken:
        count += 1
        code = f"{letters[: LONGEST_CODE - len(str(count)) - 1].rstrip('-')}-{count}"
    return code


def course_facts(course: Course) -> dict[str, Any]:
    """Fields of a course."""
    low, high = course.credits or (0, 0)
    return {
        "subject": subject_of(course.code),
        "department": course.department,
        "title": course.title,
        "description": course.description,
        "offered": course.offered,
        "credits": [int(low * 100), int(high * 100)],
        "categories": list(course.categories),
    }


def put_section(stage: Stage, term_name: str, section: Section) -> None:
    """Stage a section and its teachers."""
    key = key_of(term_name, section.crn)
    stage.put("section", key, section_facts(section), section.row)
    for name in section.teachers:
        teacher = key_of(name, section.course.department)
        stage.put("teacher", teacher, {"name": name, "department": section.course.department})
        stage.put("teaching", key_of(key, teacher), {}, section.row)


def section_facts(section: Section) -> dict[str, Any]:
    """Fields of a section, from its row and the other files."""
    kinds = [meeting.kind for meeting in section.meetings if meeting.clashes]
    return {
        "course": section.course.code,
        **section.texts,
        "kind": section.texts["kind"] or formatting.kind(kinds[0] if kinds else ""),
        "credits": [int(amount * 100) for amount in section.credits],
        "capacity": section.capacity,
        "waitlist": section.waitlist,
        "prior": section.prior,
        "status": "OPEN",
        "prerequisites": section.prerequisites,
        "corequisites": section.corequisites,
        "meetings": [meeting_facts(meeting) for meeting in section.meetings],
        "restrictions": sorted(map(list, section.restrictions)),
        "cross_lists": sorted(section.cross_lists),
    }


def meeting_facts(meeting: Meeting) -> list[Any]:
    """A meeting as records have it: kind, days, times, dates, room, whether it can clash."""
    times = [each and each.isoformat() for each in (meeting.starts_at, meeting.ends_at)]
    dates = [each and each.isoformat() for each in (meeting.first, meeting.last)]
    return [meeting.kind, meeting.days, *times, *dates, meeting.room, meeting.clashes]
