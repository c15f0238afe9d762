"""Enrolled and waiting students for tests of rosters."""

from datetime import UTC, datetime

from portal.catalog.models import Section
from portal.core.db import transaction
from portal.people.models import Account, Student
from portal.recorder.models import Enrollment, WaitlistEntry

SINCE = datetime(2030, 3, 1, 14, 0, 5, tzinfo=UTC)


def enrolled(section: Section, student: Student, seq: int = 1, state: str = "enrolled") -> None:
    """Record a seat."""
    at = {"state": state, "credits": 400, "registration": seq, "since": SINCE, "seq": seq}
    position = {"term_id": section.term_id, "section_id": section.id, "student_id": student.id}
    with transaction() as session:
        session.add(Enrollment(**position, **at))


def waiting(section: Section, student: Student, ticket: int, state: str = "waiting") -> None:
    """Record a waitlist position."""
    at = {"state": state, "credits": 400, "ticket": ticket, "since": SINCE, "seq": ticket}
    position = {"term_id": section.term_id, "section_id": section.id, "student_id": student.id}
    with transaction() as session:
        session.add(WaitlistEntry(**position, **at))


def reached_at(student: Student, email: str) -> None:
    """Set the student's email address."""
    with transaction() as session:
        session.get_one(Account, student.account_id).email = email


def private(student: Student) -> None:
    """Set the student's privacy."""
    with transaction() as session:
        session.get_one(Student, student.id).private = True
