"""What the terms share: departments, subjects, courses, rooms, teachers. Found or added."""

import re
from typing import Any

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from portal.catalog.imports.files import Row
from portal.catalog.imports.report import Report
from portal.catalog.imports.semester import Course, Semester
from portal.catalog.models import Course as CourseTable
from portal.catalog.models import Department, Room, Subject
from portal.catalog.spellings import subject_of
from portal.people.models import Teacher

MAJORS = ("major", "field_of_study")
LONGEST_CODE = 16


def departments(session: Session, semester: Semester) -> dict[str, int]:
    """Ids by code; a department whose name this import knows takes it over."""
    for code, (name, school) in semester.departments.items():
        put = insert(Department).values(code=code, name=name, school=school)
        named = {"name": name, "school": school, "deleted_at": None}
        known = put.on_conflict_do_nothing(index_elements=["code"])
        better = put.on_conflict_do_update(index_elements=["code"], set_=named)
        session.execute(better if name != code else known)
    found = select(Department.code, Department.id).where(Department.code.in_(semester.departments))
    return dict(session.execute(found).all())


def subjects(
    session: Session, semester: Semester, department_ids: dict[str, int]
) -> dict[str, int]:
    """Ids by code; a subject of a department's code has its name, any other its own code."""
    wanted = {subject_of(code): course.department for code, course in semester.courses.items()}
    rows = [
        {
            "code": code,
            "name": semester.departments.get(code, (code, ""))[0],
            "department_id": department_ids[department],
        }
        for code, department in wanted.items()
    ]
    session.execute(insert(Subject).on_conflict_do_nothing(index_elements=["code"]), rows)
    found = select(Subject.code, Subject.id).where(Subject.code.in_(wanted))
    return dict(session.execute(found).all())


def majors(session: Session, semester: Semester, report: Report) -> None:
    """Subjects for majors that only restrictions name, so that students can have them."""
    named = {
        value: None
        for section in semester.sections.values()
        for _, kind, value in section.restrictions
        if kind in MAJORS
    }
    known = session.execute(select(Subject.code, Subject.name)).all()
    codes = {code for code, _ in known}
    names = {name.casefold() for _, name in known}
    for name in named:
        if name.casefold() in names or name.upper() in codes:
            continue
        code = new_code(name, codes)
        codes.add(code)
        names.add(name.casefold())
        session.add(Subject(code=code, name=name))
        row = Row("restrictions.csv", 0, {"value": name})
        report.note("major_added", row, "value", f"Its code is {code}.")


def new_code(name: str, taken: set[str]) -> str:
    """A code that a name suggests and nobody has: `COMPUTER-SYSTEMS`."""
    letters = "-".join(re.findall(r"\w+", name.upper())) or "MAJOR"
    code, count = letters[:LONGEST_CODE].rstrip("-"), 1
    while code in taken:
        count += 1
        code = f"{letters[: LONGEST_CODE - len(str(count)) - 1].rstrip('-')}-{count}"
    return code


def courses(
    session: Session,
    semester: Semester,
    department_ids: dict[str, int],
    subject_ids: dict[str, int],
    report: Report,
) -> dict[str, int]:
    """Ids by code; of a course that is there already the facts of this import count."""
    note_changes(session, semester, report)
    rows = [
        {
            "code": course.code,
            "subject_id": subject_ids[subject_of(course.code)],
            "department_id": department_ids[course.department],
            **facts(course),
            "categories": list(course.categories),
        }
        for course in semester.courses.values()
    ]
    put = insert(CourseTable)
    told = {name: put.excluded[name] for name in rows[0] if name != "code"}
    put = put.on_conflict_do_update(index_elements=["code"], set_={**told, "deleted_at": None})
    session.execute(put, rows)
    found = select(CourseTable.code, CourseTable.id).where(CourseTable.code.in_(semester.courses))
    return dict(session.execute(found).all())


def facts(course: Course) -> dict[str, Any]:
    """What a course's row says of itself."""
    low, high = course.credits or (0, 0)
    return {
        "title": course.title,
        "description": course.description,
        "offered": course.offered,
        "credits_min": low,
        "credits_max": high,
    }


def note_changes(session: Session, semester: Semester, report: Report) -> None:
    """Name courses that were known with another title, text or credits."""
    known = session.scalars(select(CourseTable).where(CourseTable.code.in_(semester.courses)))
    for old in known:
        course = semester.courses[old.code]
        changed = [name for name, value in facts(course).items() if getattr(old, name) != value]
        if changed:
            report.note("course_changed", course.row, "course_id", f"New: {', '.join(changed)}.")


def rooms(session: Session, semester: Semester) -> dict[str, int]:
    """Ids by name."""
    names = {
        meeting.room
        for section in semester.sections.values()
        for meeting in section.meetings
        if meeting.room
    }
    if not names:
        return {}
    rows = [{"name": name} for name in sorted(names)]
    session.execute(insert(Room).on_conflict_do_nothing(index_elements=["name"]), rows)
    found = select(Room.name, Room.id).where(Room.name.in_(names))
    return dict(session.execute(found).all())


def teachers(
    session: Session, semester: Semester, department_ids: dict[str, int]
) -> dict[tuple[str, str], int]:
    """Ids by name and department. A row with an account is never taken: names are no proof."""
    wanted = {
        (name, section.course.department): None
        for section in semester.sections.values()
        for name in section.teachers
    }
    found = known_teachers(session)
    rows = [
        {"name": name, "department_id": department_ids[code]}
        for name, code in wanted
        if (name, code) not in found
    ]
    if rows:
        session.execute(insert(Teacher), rows)
    return found if not rows else known_teachers(session)


def known_teachers(session: Session) -> dict[tuple[str, str], int]:
    found = (
        select(Teacher.name, Department.code, Teacher.id)
        .join(Department)
        .where(Teacher.account_id.is_(None), Teacher.deleted_at.is_(None))
    )
    return {(name, code): key for name, code, key in session.execute(found)}
