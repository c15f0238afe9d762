"""A term in the layout that imports of a semester read, to edit in a spreadsheet.

It is a zip of files, or one workbook with a sheet for each. The files of the same content are the
same, byte for byte. Importing either again changes nothing.
"""

import json
import re
import zipfile
from collections.abc import Iterator
from datetime import time
from decimal import Decimal
from typing import Any, BinaryIO

from sqlalchemy import text
from sqlalchemy.orm import Session

from portal.catalog import formatting, requisites
from portal.catalog.requisites import Tree
from portal.catalog.section_fields import PLAIN
from portal.catalog.spellings import DAY_LETTERS, DAY_NAMES, days_of
from portal.core.db import Sessions
from portal.exchange.importing.meetings import NO_INSTRUCTOR, is_exam_block
from portal.exchange.importing.runs import NO_TIMEOUTS
from portal.exchange.importing.section_rules import TREES
from portal.exchange.spreadsheets import csv_pieces, listed, write_sheets
from portal.exchange.term_records import STATUS_WORDS, Base, TermRecords, read_term_records

Rows = Iterator[tuple[object, ...]]
BEGINNING = (1980, 1, 1, 0, 0, 0)  # a zip's earliest time: equal files make an equal zip
DEPARTMENTS = """
    SELECT code, name, school FROM departments
    WHERE code = ANY(:codes) AND deleted_at IS NULL ORDER BY code COLLATE "C"
"""
# Seats taken in the source before the first import count too.
TAKEN = """
    SELECT crn, prior_enrolled + coalesce(enrolled, 0) FROM sections
    JOIN terms ON terms.id = sections.term_id
    LEFT JOIN section_seats ON section_id = sections.id
    WHERE terms.name = :term AND terms.deleted_at IS NULL AND sections.deleted_at IS NULL
"""
# Signs that separate instructors where files are read, and names that mean no instructor there.
NOBODY = "|".join(filter(None, sorted(NO_INSTRUCTOR)))
SEPARATORS = re.compile(rf"[,/;&\n|\\]| and |\(P\)|^[* ]*(?:{NOBODY})[* ]*$", re.IGNORECASE)
IMPORTED = [each for each in PLAIN if each.imported_from]
SECTION = (
    *("term", "crn", "course_id"),
    *(each.imported_from for each in IMPORTED if each.name != "note"),
    *("credits", "capacity", "enrolled", "wait_capacity", "status", "instructors", "note"),
    "revision",
)


def write_semester(term: str, out: BinaryIO) -> None:
    """Write the files of the term of that name as a zip."""
    with zipfile.ZipFile(out, "w") as packed:
        for name, content in semester_files(term).items():
            entry = zipfile.ZipInfo(name, BEGINNING)
            packed.writestr(entry, content, zipfile.ZIP_DEFLATED)


def write_workbook(term: str, out: BinaryIO) -> None:
    """Write the term of that name as a workbook."""
    tables, found, order = _read(term)
    write_sheets({**tables, "prerequisites": list(_in_words(found, order))}, out)


def semester_files(term: str) -> dict[str, bytes]:
    tables, found, order = _read(term)
    files = {f"{name}.csv": b"".join(csv_pieces(rows)) for name, rows in tables.items()}
    return files | {TREES: _requisites(found, order).encode()}


def _read(term: str) -> tuple[dict[str, list[tuple[object, ...]]], TermRecords, list[str]]:
    """Return the tables of a term by name, its records, and the order of its sections.

    All is as of one moment. Canceled sections are out. One term is in memory, as for pages.
    """
    with Sessions.begin() as session:
        session.connection(execution_options={"isolation_level": "REPEATABLE READ"})
        session.execute(text(NO_TIMEOUTS))
        found = read_term_records(session, term)
        for crn in [
            crn for crn, each in found.sections.items() if each["status"] not in STATUS_WORDS
        ]:
            del found.sections[crn]
        taken: dict[str, int] = dict(session.execute(text(TAKEN), {"term": term}).all())
        order = sorted(found.sections, key=lambda crn: _place(found, crn))
        tables = {
            "departments": _departments(session, found),
            "courses": _courses(found),
            "sections": _sections(found, order, term, taken),
            "meetings": _meetings(found, order),
            "restrictions": _restrictions(found, order),
            "cross_lists": _cross_lists(found, order),
        }
        return {name: list(rows) for name, rows in tables.items()}, found, order


def _place(found: TermRecords, crn: str) -> tuple[str, str, str]:
    fields = found.sections[crn]
    return fields["course"], fields["number"], crn


def _offered(found: TermRecords) -> list[str]:
    """Return the codes of the courses that have a section in the files."""
    codes = {each["course"] for each in found.sections.values()}
    return [code for code in found.courses if code in codes]


def _departments(session: Session, found: TermRecords) -> Rows:
    codes = {found.courses[code]["department"] for code in _offered(found)}
    yield "dept_code", "dept_name", "school"
    for row in session.execute(text(DEPARTMENTS), {"codes": sorted(codes)}):
        yield tuple(row)


def _courses(found: TermRecords) -> Rows:
    columns = "course_id", "dept_code", "title", "credits", "attributes", "offered", "description"
    yield *columns, "revision"
    for code in _offered(found):
        course = found.courses[code]
        yield (
            *(code, course["department"], course["title"], _credits(course["credits"])),
            *(listed(course["categories"], SEPARATORS), course["offered"], course["description"]),
            found.course_revision(code),
        )


def _sections(found: TermRecords, order: list[str], term: str, taken: dict[str, int]) -> Rows:
    yield SECTION
    for crn in order:
        fields = found.sections[crn]
        status = STATUS_WORDS[fields["status"]]
        values = {
            "term": term,
            "crn": crn,
            "course_id": fields["course"],
            **{each.imported_from: _cell(fields[each.name]) for each in IMPORTED},
            "credits": _credits(fields["credits"]),
            "capacity": fields["capacity"],
            "enrolled": taken[crn],
            "wait_capacity": fields["waitlist"],
            "status": status,
            "instructors": listed(found.names(crn), SEPARATORS),
            "revision": str(Base(found.section_revision(crn), status, str(taken[crn]))),
        }
        yield tuple(values[column] for column in SECTION)


def _cell(value: Any) -> Any:
    """Return a plain value as the file has it."""
    return ("Y" if value else "N") if isinstance(value, bool) else value


def _meetings(found: TermRecords, order: list[str]) -> Rows:
    columns = "meeting_type", "days", "start_time", "end_time", "location", "date_start", "date_end"
    yield "crn", "meeting_no", *columns, "conflicts"
    for crn in order:
        for number, meeting in enumerate(found.sections[crn]["meetings"], 1):
            kind, days, starts, ends, first, last, room, clashes = meeting
            usual = not is_exam_block(kind, _time(starts), _time(ends))
            yield (
                *(crn, number, kind, write_days(days), _clock(starts), _clock(ends)),
                *(room, first, last, "" if clashes == usual else "Y" if clashes else "N"),
            )


def _restrictions(found: TermRecords, order: list[str]) -> Rows:
    yield "crn", "rule", "kind", "value"
    for crn in order:
        for restriction in found.sections[crn]["restrictions"]:
            yield crn, *restriction


def _cross_lists(found: TermRecords, order: list[str]) -> Rows:
    yield "crn", "course_id"
    for crn in order:
        for code in found.sections[crn]["cross_lists"]:
            yield crn, code


def _in_words(found: TermRecords, order: list[str]) -> Rows:
    """Yield prerequisites and corequisites as registrars write them; too long ones are blank."""
    names = ("prerequisites", "corequisites")
    yield "crn", *names
    for crn in order:
        written = [requisites.write(found.sections[crn][name]) for name in names]
        if any(written):
            yield crn, *(text if len(text) <= requisites.LONGEST else "" for text in written)


def _requisites(found: TermRecords, order: list[str]) -> str:
    """Return prerequisites.json, with a line for each section."""
    entries = []
    for crn in order:
        fields = found.sections[crn]
        if fields["prerequisites"] or fields["corequisites"]:
            names = ("prerequisites", "corequisites")
            entry = {name: _node(fields[name]) for name in names if fields[name]}
            entries.append(f"{json.dumps(crn)}: {json.dumps(entry, ensure_ascii=False)}")
    return "{" + ",".join(f"\n{each}" for each in entries) + "\n}\n"


def _node(tree: Tree) -> dict[str, Any]:
    """Return a tree as the file has it; courses and groups that alternate keep their order."""
    if "course" in tree:
        return {"type": "solo", "solo": [requisites.write(tree)], "nested": []}
    joint = "any" if "any" in tree else "all"
    parts = [requisites.write(each) if "course" in each else _node(each) for each in tree[joint]]
    alone = next((at for at, each in enumerate(parts) if isinstance(each, dict)), len(parts))
    kind = "or" if joint == "any" else "and"
    return {"type": kind, "solo": parts[:alone], "nested": parts[alone:]}


def write_days(mask: int) -> str:
    """Return the days of a mask in letters, or as names where the letters could mean others."""
    days = [at for at in range(len(DAY_LETTERS)) if mask >> at & 1]
    letters = "".join(DAY_LETTERS[at] for at in days)
    names = " ".join(DAY_NAMES[at][:3].title() for at in days)
    return letters if days_of(letters) == mask else names


def _time(iso: str | None) -> time | None:
    return time.fromisoformat(iso) if iso else None


def _clock(iso: str | None) -> str:
    moment = _time(iso)
    return f"{(moment.hour - 1) % 12 + 1}:{moment:%M%p}" if moment else ""


def _credits(hundredths: list[int]) -> str:
    """Return credits such as `4` or `1 to 4`, which no spreadsheet takes for a date."""
    least, most = (formatting.plain_number(Decimal(each) / 100) for each in hundredths)
    return least if least == most else f"{least} to {most}"
