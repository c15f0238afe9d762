"""Stores a semester that was read: one transaction, bulk inserts, all of it or nothing."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from sqlalchemy import func, insert, select, text, update
from sqlalchemy.orm import Session

from portal.catalog import present
from portal.catalog.imports import shared
from portal.catalog.imports.files import ImportFailed
from portal.catalog.imports.read import Options, Progress
from portal.catalog.imports.report import Report
from portal.catalog.imports.semester import Section, Semester
from portal.catalog.models import (
    CrossList,
    Meeting,
    Restriction,
    Term,
    section_teachers,
)
from portal.catalog.models import Section as SectionTable
from portal.db import transaction

ONE_AT_A_TIME = 7_305_001  # key of the lock that imports take
BATCH = 1000
FILLED = ("courses", "sections", "meetings", "restrictions", "cross_lists", "section_teachers")
Rows = list[dict[str, Any]]


def store(
    semester: Semester, name: str, options: Options, report: Report, progress: Progress
) -> int:
    """The id of the new term; raises ImportFailed where the name is taken."""
    with transaction() as session:
        session.execute(select(func.pg_advisory_xact_lock(ONE_AT_A_TIME)))
        if session.scalar(select(Term.id).where(Term.name == name)):
            raise ImportFailed(f"There is a term “{name}” already: choose another --term.")
        # Courses are shared by all terms, whose boards must therefore be read anew.
        session.execute(update(Term).values(catalog_version=Term.catalog_version + 1))
        term = Term(
            name=name,
            starts_on=semester.starts_on,
            ends_on=semester.ends_on,
            credit_limit=Decimal(options.credit_limit),
        )
        session.add(term)
        session.flush()
        Writer(session, semester, report, progress, term.id).write()
        # PostgreSQL would plan for empty tables until it comes to look by itself.
        session.execute(text(f"ANALYZE {', '.join(FILLED)}"))
        return term.id


@dataclass
class Writer:
    """Writes the rows of one term, remembering the ids that they got."""

    session: Session
    semester: Semester
    report: Report
    progress: Progress
    term: int
    departments: dict[str, int] = field(default_factory=dict)
    sections: dict[str, int] = field(default_factory=dict)

    def write(self) -> None:
        """Everything, in an order in which nothing refers to what isn't there yet."""
        self.departments = shared.departments(self.session, self.semester)
        subjects = shared.subjects(self.session, self.semester, self.departments)
        shared.majors(self.session, self.semester, self.report)
        courses = shared.courses(
            self.session, self.semester, self.departments, subjects, self.report
        )
        rooms = shared.rooms(self.session, self.semester)
        self.write_sections(courses)
        self.bulk("meetings", Meeting, self.meetings(rooms))
        self.bulk("restrictions", Restriction, self.restrictions())
        self.bulk("cross-lists", CrossList, self.cross_lists())
        self.bulk("teachers", section_teachers, self.taught())

    def write_sections(self, courses: dict[str, int]) -> None:
        """The sections, with the ids that they get."""
        rows = [
            self.section(section, courses[section.course.code])
            for section in self.semester.sections.values()
        ]
        statement = insert(SectionTable).returning(SectionTable.crn, SectionTable.id)
        for batch, done in batches(rows):
            self.sections |= dict(self.session.execute(statement, batch).all())
            self.progress("storing sections", done, len(rows))

    def bulk(self, what: str, table: Any, rows: Rows) -> None:
        """Insert rows in batches, telling how far it is."""
        for batch, done in batches(rows):
            self.session.execute(insert(table), batch)
            self.progress(f"storing {what}", done, len(rows))

    def section(self, section: Section, course: int) -> dict[str, Any]:
        """A row of the table of sections."""
        kinds = [meeting.kind for meeting in section.meetings if meeting.clashes]
        return {
            "term_id": self.term,
            "course_id": course,
            "crn": section.crn,
            "number": section.number,
            "title": section.title,
            "kind": section.kind or present.kind(kinds[0] if kinds else ""),
            "credits_min": section.credits[0],
            "credits_max": section.credits[1],
            "capacity": section.capacity,
            "waitlist_capacity": section.waitlist,
            "prior_enrolled": section.prior,
            "status": "OPEN",
            "campus": section.campus,
            "method": section.method,
            "note": section.note,
            "prerequisites": section.prerequisites,
            "corequisites": section.corequisites,
        }

    def meetings(self, rooms: dict[str, int]) -> Rows:
        """Rows of all meetings, numbered within their sections."""
        return [
            {
                "section_id": key,
                "position": position,
                "kind": meeting.kind,
                "days": meeting.days,
                "starts_at": meeting.starts_at,
                "ends_at": meeting.ends_at,
                "date_start": meeting.first,
                "date_end": meeting.last,
                "room_id": rooms.get(meeting.room),
                "clashes": meeting.clashes,
            }
            for key, section in self.each()
            for position, meeting in enumerate(section.meetings, 1)
        ]

    def restrictions(self) -> Rows:
        """Rows of all restrictions."""
        return [
            {"section_id": key, "rule": rule, "kind": kind, "value": value}
            for key, section in self.each()
            for rule, kind, value in section.restrictions
        ]

    def cross_lists(self) -> Rows:
        """Rows of all cross-lists."""
        return [
            {"section_id": key, "course_code": code}
            for key, section in self.each()
            for code in section.cross_lists
        ]

    def taught(self) -> Rows:
        """Who teaches what."""
        teachers = shared.teachers(self.session, self.semester, self.departments)
        return [
            {"section_id": key, "teacher_id": teachers[name, section.course.department]}
            for key, section in self.each()
            for name in section.teachers
        ]

    def each(self) -> Iterator[tuple[int, Section]]:
        """Every section with its id."""
        for section in self.semester.sections.values():
            yield self.sections[section.crn], section


def batches(rows: Rows) -> Iterator[tuple[Rows, int]]:
    """Rows in batches, each with how many there are up to its end."""
    for start in range(0, len(rows), BATCH):
        batch = rows[start : start + BATCH]
        yield batch, start + len(batch)
