"""The records of a semester that was read: staged, except what the files leave out.

In a term that exists, a record keeps what the files do not name. The module `edits` then keeps what
admins have edited since the last import.
"""

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import Any

from portal.catalog import formatting
from portal.catalog.requisites import codes
from portal.catalog.section_fields import PLAIN
from portal.catalog.spellings import flag_of, subject_of
from portal.core.i18n import _k
from portal.exchange.importing.edits import HERE, OVERWRITTEN, STALE
from portal.exchange.importing.failures import ImportFailedError
from portal.exchange.importing.files import Files
from portal.exchange.importing.meetings import Meeting
from portal.exchange.importing.models import Options
from portal.exchange.importing.named_term import name_of
from portal.exchange.importing.report import Report
from portal.exchange.importing.section_rules import TREES
from portal.exchange.importing.semester import (
    LEVEL,
    LONGEST_CODE,
    MAJORS,
    REQUISITES_IN_WORDS,
    Course,
    Section,
    Semester,
    read_semester,
)
from portal.exchange.importing.semester_tables import MEETINGS, REQUISITES, SECTIONS
from portal.exchange.importing.staging import KnownRecords, Stage, key_of
from portal.exchange.importing.statuses import STATUS, note_not_offered, stage_status, status_of
from portal.exchange.importing.tables import Progress, Row
from portal.exchange.importing.unread import values_of
from portal.exchange.importing.values import value_text
from portal.exchange.term_records import Base


def stage_semester(
    stage: Stage, files: Files, options: Options, report: Report, progress: Progress
) -> None:
    """Stage the records of the files. Raise ImportFailedError."""
    name = name_of(options)
    here = stage.known_records(name)
    if here.dates and not options.update:
        raise ImportFailedError(
            _k(
                "The term “%(term)s” already exists. Choose another name, or update it with"
                " --update."
            ),
            term=name,
        )
    semester = read_semester(files, options, report, progress, here)
    _stage_term(stage, semester, options)
    _stage_departments(stage, semester, options)
    _stage_subjects(stage, semester, report)
    for code, course in semester.courses.items():
        revision = here.records.course_revision(code)
        stage.bases.compare("course", code, course.row["revision"], revision)
        stage.put("course", code, _known_part(course, here, options), course.row)
        if course.listed:
            _note_unchanged_course(course, here, erase=options.erase)
    _stage_statuses(stage, semester, options)
    _stage_sections(stage, semester, options, files, report)
    _note_unknown_values(semester)
    _note_unknown_courses(semester)
    stage.unnamed = _complete_kinds(semester) if options.remove else set()


def _complete_kinds(semester: Semester) -> set[str]:
    """Return the kinds whose unnamed records are removed; files without instructors remove none."""
    lists = any(section.lists_instructors for section in semester.sections.values())
    return {"section", "teaching"} if lists else {"section"}


def _stage_term(stage: Stage, semester: Semester, options: Options) -> None:
    """Stage the term, with a new code of it; an existing one keeps its credit limit."""
    name = name_of(options)
    dates = {"starts": semester.starts_on, "ends": semester.ends_on}
    facts: dict[str, Any] = {each: day.isoformat() for each, day in dates.items()}
    new = {} if semester.here.dates else {"credit_limit": options.credit_limit * 100}
    stage.put("term", name, facts | new)
    if semester.term_code:
        stage.put("source", key_of("term", semester.term_code), {"key": name})


def _stage_departments(stage: Stage, semester: Semester, options: Options) -> None:
    """Stage the departments; those of other terms' courses stay as they are."""
    here = semester.here
    for code, (title, school) in semester.departments.items():
        named = {"name": title} if title != code else {}
        erases = school is not None and (options.erase or not here.dates)
        if school or (named and erases):
            named["school"] = school or ""
        stage.put("department", code, {} if code in here.shared else named)


def _stage_subjects(stage: Stage, semester: Semester, report: Report) -> None:
    """Stage the subjects of courses, and those for majors that only restrictions name.

    A subject of a department's code has its name, any other its own code. A value that may
    be several adds no major, nor does one that an export has from the portal.
    """
    known = stage.subject_names()
    departments = {subject_of(code): each.department for code, each in semester.courses.items()}
    for code, department in departments.items():
        name = semester.departments.get(code, (code, ""))[0]
        stays = code in semester.here.shared or (code in known and code not in semester.departments)
        stage.put("subject", code, {} if stays else {"name": name, "department": department})
        known.setdefault(code, name)
    names = {name.casefold() for name in known.values()}
    listed = (rule for each in semester.sections.values() for rule in _new_restrictions(each))
    for name in dict.fromkeys(value for _rule, kind, value in listed if kind in MAJORS):
        if name.casefold() in names or name.upper() in known or name in semester.asked_about:
            continue
        code = _new_code(name, set(known))
        known[code] = name
        names.add(name.casefold())
        stage.put("subject", code, {"name": name, "department": None})
        row = Row("restrictions.csv", 0, {"value": name}, report)
        row.note("major_added", "value", _k("Its code is %(code)s."), code=code)


def _stage_statuses(stage: Stage, semester: Semester, options: Options) -> None:
    """Stage the statuses of an export that someone edited, and report those that stay."""
    name = name_of(options)
    rows = {crn: each.row for crn, each in semester.sections.items()} | semester.ended
    for crn, row in rows.items():
        stored = semester.here.records.sections.get(crn)
        unread = semester.sections[crn].refused if crn in semester.sections else ()
        if stored:
            note_not_offered(row, stored)
        overwrite = options.overwrite
        stage_status(stage, row, key_of(name, crn), stored, overwrite=overwrite, unread=unread)


def _stage_sections(
    stage: Stage, semester: Semester, options: Options, files: Files, report: Report
) -> None:
    """Stage the sections and who teaches them; refused ones are only named."""
    name, here = name_of(options), semester.here
    for crn in semester.refused & here.sections:
        stage.put("section", key_of(name, crn), {})
    unread_values = values_of(semester, report)
    for crn, section in semester.sections.items():
        key = key_of(name, crn)
        base = Base.read(section.row["revision"])
        stage.bases.compare("section", key, base.revision, here.records.section_revision(crn))
        fields = _known_fields(section, semester.listed, options, unread_values.get(crn))
        stage.put("section", key, fields, section.row)
        _stage_instructors(stage, section, key, here, options)
        if section.stored:
            names = here.records.names(crn)
            _note_unchanged_cells(section, base, names, files.names(), erase=options.erase)


def _new_restrictions(section: Section) -> list[list[str]]:
    """Return the restrictions of a section; in an export, those that the portal does not have."""
    known = section.stored.get("restrictions", ()) if section.row["revision"] else ()
    return [each for each in map(list, section.restrictions) if each not in known]


def _note_unknown_values(semester: Semester) -> None:
    """Report once each value of restrictions that no student record has, if students have any.

    Departments of the files are majors that students may have. In an export, only those that were
    edited.
    """
    here, departments = semester.here, semester.departments
    majors = {each for code, (name, _school) in departments.items() for each in (code, name)}
    known = {
        kind: {each.casefold() for each in (*values, *(majors if kind in OF_MAJORS else ()))}
        for kind, values in here.of_students.items()
    }
    unknown: dict[tuple[str, str], dict[str, Row]] = defaultdict(dict)
    for crn, section in semester.sections.items():
        for _rule, kind, value in _new_restrictions(section):
            if kind in known and value.casefold() not in known[kind]:
                unknown[kind, value][crn] = section.row
    for (kind, value), rows in unknown.items():
        text = _k("“%(value)s” (%(what)s). Sections: %(count)s. Student records have: %(known)s.")
        first, names = next(iter(rows.values())), ", ".join(here.of_students[kind][:MOST_KNOWN])
        facts = {"value": value, "what": kind.replace("_", " "), "known": names}
        first.note("value_unknown", "restrictions", text, count=f"{len(rows):,}", **facts)


def _note_unknown_courses(semester: Semester) -> None:
    """Report once each course that sections newly require and that is nowhere to be found."""
    known = semester.courses.keys() | semester.here.courses.keys()
    rows: dict[tuple[str, str], list[Row]] = defaultdict(list)
    for section in semester.sections.values():
        for name in REQUISITES_IN_WORDS:
            tree = section.fields.get(name)
            if tree != section.stored.get(name):
                for code in {*codes(tree)} - known:
                    rows[name, code].append(section.row)
    for (name, code), found in sorted(rows.items(), key=lambda each: each[0]):
        text = _k("“%(course)s”. Sections: %(count)s.")
        found[0].note("course_unknown", name, text, course=code, count=f"{len(found):,}")


def _new_code(name: str, taken: set[str]) -> str:
    """Return an unused code for a name, such as `COMPUTER-SYSTEMS`."""
    letters = "-".join(re.findall(r"\w+", name.upper())) or "MAJOR"
    code, count = letters[:LONGEST_CODE].rstrip("-"), 1
    while code in taken:
        count += 1
        code = f"{letters[: LONGEST_CODE - len(str(count)) - 1].rstrip('-')}-{count}"
    return code


def _course_fields(course: Course) -> dict[str, Any]:
    return {
        "subject": subject_of(course.code),
        "department": course.department,
        "title": course.title,
        "description": course.description,
        "offered": course.offered,
        "credits": [int(amount * 100) for amount in course.credits or (0, 0)],
        "categories": list(course.categories),
    }


def _known_part(course: Course, here: KnownRecords, options: Options) -> dict[str, Any]:
    """Return the fields of a course that the files know; none if other terms offer it too."""
    fields = _course_fields(course)
    if course.code not in here.courses:
        return fields
    if course.code in here.shared:
        title = here.courses[course.code].title
        if course.listed and course.row["title"] and course.title != title:
            course.row.note("course_shared", "title", _k("It stays “%(title)s”."), title=title)
        elif course.row["revision"] and _differs(course, fields, here):
            course.row.note("course_shared", "course_id")
        return {}
    columns = ALWAYS_OF_COURSE | OF_COURSE
    lists = course.row.values.keys() if options.erase else ()
    stated: set[str] = set()
    if course.listed:
        stated = {name for name, column in columns.items() if course.row[column] or column in lists}
        stated.add("subject")
    if course.categories or (options.erase and course.lists_categories):
        stated.add("categories")
    return {name: fields[name] for name in stated}


def _differs(course: Course, fields: dict[str, Any], here: KnownRecords) -> bool:
    """Return whether a course has other fields here than in the files of an export."""
    stored = here.records.courses.get(course.code, {})
    return any(value and value != stored.get(name, value) for name, value in fields.items())


def _kind_of(meetings: Iterable[Meeting]) -> str:
    """Return the kind of a section with these meetings, in English."""
    code = next((meeting.kind for meeting in meetings if meeting.clashes), "")
    return formatting.KINDS.get(code, code)


def _section_fields(section: Section) -> dict[str, Any]:
    trees = {"prerequisites": None, "corequisites": None}
    return {
        **trees,
        **section.fields,
        "course": section.course.code,
        "kind": section.fields["kind"] or _kind_of(section.meetings),
        "credits": [int(amount * 100) for amount in section.credits],
        "status": (status_of(section.row) or "NEW") if not section.refused else "NEW",
        "meetings": [meeting.facts() for meeting in section.meetings],
        "restrictions": sorted(map(list, section.restrictions)),
        "cross_lists": sorted(section.cross_lists),
    }


def _known_fields(
    section: Section, listed: set[str], options: Options, unread: dict[str, list[str]] | None
) -> dict[str, Any]:
    """Return the fields of a section that the files know, and the unread values of a new one."""
    fields, stored = _section_fields(section), section.stored
    if section.is_new:
        return fields | ({"unread": unread} if unread else {})
    # Spreadsheets drop the zeros of a number such as 01.
    if fields["number"].lstrip("0") == stored.get("number", "").lstrip("0"):
        del fields["number"]
    blank = _blank_fields(section)
    erased = set()
    if options.erase:  # a blank title or kind is not filled, and no section is without a number
        present = listed | _fields_with_columns(section.row)
        stays = section.refused | {"number"}
        erased = {each for each in present - stays if stored.get(each)}
        blank -= erased
    others = [each for each in stored.get("restrictions", ()) if (*each[:2],) != LEVEL]
    levels_blank = "levels" in section.row.values and not section.row["levels"]
    if section.levels_alone and not {"restrictions"} & (blank | erased):
        fields["restrictions"] = sorted(fields["restrictions"] + others)
    elif options.erase and "restrictions" in blank - section.refused and levels_blank:
        fields["restrictions"] = others
        blank.discard("restrictions")
    return {name: fields[name] for name in fields.keys() - blank}


OF_MAJORS = {*MAJORS, "program"}  # kinds whose values may be majors
MOST_KNOWN = 8  # values of student records that a finding names
COLUMNS = {each.name: each.imported_from for each in PLAIN if each.imported_from} | {
    each: each for each in ("credits", "restrictions", *REQUISITES_IN_WORDS)
}


def _fields_with_columns(row: Row) -> set[str]:
    """Return the fields of a section that its row has a cell for, blank or not.

    Nothing reads requisites out of sections.csv.
    """
    found = {name for name, column in COLUMNS.items() if column in row.values}
    return found - REQUISITES_IN_WORDS.keys() if row.file == SECTIONS else found


def _blank_fields(section: Section) -> set[str]:
    """Return the fields of a section that the files leave out."""
    row = section.row
    written = {name: row[column] for name, column in COLUMNS.items()} | {
        "status": bool(row["status"] and status_of(row)),
        "meetings": section.changes_meetings,
        "restrictions": section.restrictions,
        "cross_lists": section.cross_lists,
        "prerequisites": "prerequisites" in section.fields,
        "corequisites": "corequisites" in section.fields,
    }
    if "schedule_type" not in row.values and section.changes_meetings:
        # The kind of its meetings, if it is that already.
        kind = _kind_of(map(Meeting.of, section.stored.get("meetings", ())))
        written["kind"] = section.meetings and section.stored.get("kind", "") in {"", kind}
    unclear = {
        each.name
        for each in PLAIN
        if each.stored_as == "bool" and flag_of(row[each.imported_from]) is None
    }
    return {name for name, value in written.items() if not value} | unclear | section.refused


def _stage_instructors(
    stage: Stage, section: Section, key: str, here: KnownRecords, options: Options
) -> None:
    """Stage who teaches a section.

    A list replaces the portal's. A blank one removes all if blank cells erase.
    """
    crn, department = section.row["crn"], section.course.department
    named, known = section.instructors, here.records.instructors.get(crn, [])
    names = dict.fromkeys(name for name, _key in known)
    stale = key_of("section", key) in stage.bases.stale
    erases = options.erase and section.lists_instructors and not named
    if stale and (named or erases) and named.keys() != names.keys():
        kind = OVERWRITTEN if options.overwrite else STALE
        section.row.note(kind, "instructors", HERE, here=", ".join(names) or "–")
        named = named if options.overwrite else names
        erases = erases and options.overwrite
    for name, instructor in known:
        if name in named:
            if not instructor.startswith("@"):  # a linked account is no record of the files
                stage.put("teacher", instructor, {})
            stage.put("teaching", key_of(key, instructor), {}, section.row)
        elif erases or named:
            of_export = bool(section.row["revision"])
            instead = {} if of_export else {"instead": ", ".join(named)}
            stage.put("teaching", key_of(key, instructor), instead, section.row, removes=True)
    for name in named:
        if name in names:
            continue
        stage.put("teacher", key_of(name, department), {"name": name, "department": department})
        stage.put("teaching", key_of(key, name, department), {}, section.row)


# Cells and rows that the files leave out stay as the portal has them. Each is reported, so that no
# edit is dropped silently and the first lines of the report count them.

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
ALWAYS_OF_COURSE = {"title": "title", "department": "dept_code"}
OF_COURSE = {name: name for name in ("description", "offered", "credits")}


def _note_unchanged_cells(
    section: Section, base: Base, names: list[str], files: Collection[str], *, erase: bool
) -> None:
    """Report the blank cells, missing rows and edits of a section that change nothing.

    `names` are its instructors here. Only the files of an export tell which number of students is
    an edit.
    """
    row, stored = section.row, section.stored
    if base.enrolled and row["enrolled"] not in {"", base.enrolled}:
        row.note("enrolled_unchanged", "enrolled", EXPORTED, was=base.enrolled)
    # In other files, a section without a status is offered.
    of_export = {STATUS: STATUS} if base.revision else {}
    _note_blank(row, "never_blank", ALWAYS | of_export, stored)
    if erase:
        return
    _note_blank(row, "blank_unchanged", ERASABLE, stored)
    if names and not section.instructors and "instructors" in row.values:
        row.note("blank_unchanged", "instructors", HERE, here=", ".join(names))
    for field, file in _missing(section, files):
        if stored.get(field):
            other = Row(file, 0, {"crn": row["crn"]}, row.report)
            other.note("rows_unchanged", "", HERE, here=value_text(field, stored))


def _note_unchanged_course(course: Course, here: KnownRecords, *, erase: bool) -> None:
    """Report the blank cells of a listed course; courses of other terms stay as they are."""
    stored = here.records.courses.get(course.code)
    if stored is None or course.code in here.shared:
        return
    _note_blank(course.row, "never_blank", ALWAYS_OF_COURSE, stored)
    if not erase:
        erasable = OF_COURSE | {"categories": "attributes"}
        _note_blank(course.row, "blank_unchanged", erasable, stored)


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
