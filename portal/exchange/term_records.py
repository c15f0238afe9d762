"""The records of one term, as imports compare them, with a revision of each course and section.

An export writes the revisions into its files. An import of the edited files reads them: if a record
still has that revision, all differences were made in the files. Otherwise the portal's are newer.
"""

import hashlib
import json
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import text
from sqlalchemy.orm import Session

from portal.exchange.record_sql import instructor_part, part
from portal.exchange.records import KINDS, read_keys

Fields = dict[str, Any]
# Statuses as exported files write them; canceled sections are not in files.
STATUS_WORDS = {"NEW": "Draft", "OPEN": "Open", "CONFIRMED": "Confirmed"}
# Fields of a section that the files of a semester don't have, or that only new sections get.
NOT_IN_FILES = {"pool", "reserves", "prior", "status"}
OF_TERM = f"""
    SELECT key, fields FROM ({{records}}) AS here
    WHERE {part(1)} = :term ORDER BY key COLLATE "C"
"""
COURSES = """
    SELECT key, fields FROM ({records}) AS here WHERE key IN (
        SELECT code FROM courses JOIN sections ON course_id = courses.id
        JOIN terms ON terms.id = term_id
        WHERE terms.name = :term AND terms.deleted_at IS NULL AND sections.deleted_at IS NULL
    ) ORDER BY key COLLATE "C"
"""
INSTRUCTORS = f"""
    SELECT here.key, instructors.name FROM ({{records}}) AS here
    JOIN instructor_keys AS keys ON keys.key = {instructor_part("here.key")}
    JOIN instructors USING (id)
    WHERE {part(1, "here.key")} = :term ORDER BY instructors.name COLLATE "C", here.key COLLATE "C"
"""


@dataclass
class TermRecords:
    """Courses by code, sections by registration number, and the instructors of each section."""

    courses: dict[str, Fields] = field(default_factory=dict)
    sections: dict[str, Fields] = field(default_factory=dict)
    # By registration number: names, and the part of the record's key that names the instructor.
    instructors: dict[str, list[tuple[str, str]]] = field(default_factory=lambda: defaultdict(list))

    def names(self, crn: str) -> list[str]:
        """Return the names of a section's instructors, sorted."""
        return [name for name, _key in self.instructors.get(crn, ())]

    def course_revision(self, code: str) -> str:
        """Return the revision of a course; blank if the term does not offer it."""
        return _revision(self.courses[code]) if code in self.courses else ""

    def section_revision(self, crn: str) -> str:
        """Return the revision of a section; blank if there is none."""
        found = self.sections.get(crn)
        if found is None:
            return ""
        stored = {name: value for name, value in found.items() if name not in NOT_IN_FILES}
        return _revision(stored, self.names(crn))


@dataclass(frozen=True)
class Base:
    """What the column `revision` of an exported section says.

    Its revision, and the cells that no import changes as they were: the status, as a word, and the
    number of seats taken. Files of earlier versions lack both.
    """

    revision: str
    status: str = ""
    enrolled: str = ""

    def __str__(self) -> str:
        return f"{self.revision}/{self.status}/{self.enrolled}"

    @classmethod
    def read(cls, cell: str) -> "Base":
        """Return what a cell says; parts that it lacks are blank."""
        return cls(*cell.split("/")[:3])


def read_term_records(session: Session, term: str) -> TermRecords:
    def rows(query: str, kind: str) -> Any:
        statement = text(query.format(records=KINDS[kind].select))
        return session.execute(statement, {"term": term})

    read_keys(session)
    found = TermRecords(dict(rows(COURSES, "course").all()))
    for key, fields in rows(OF_TERM, "section"):
        found.sections[key.split("\t")[1]] = fields
    for key, name in rows(INSTRUCTORS, "teaching"):
        _term, crn, instructor = key.split("\t", 2)
        found.instructors[crn].append((name, instructor))
    return found


def _revision(fields: Fields, names: Iterable[str] = ()) -> str:
    """Return a short digest of a record's content."""
    content = json.dumps([fields, list(names)], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()[:12]
