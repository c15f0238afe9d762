"""Who is in a class and who waits for it, as last recorded."""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select

from portal.catalog.models import Subject
from portal.db import transaction
from portal.people.models import Account, Student, StudentSubject
from portal.record.models import Enrollment, WaitlistPlace


@dataclass(frozen=True)
class Person:
    """A student on a roster or a waitlist; credits in hundredths, `passed` where passed over."""

    name: str
    number: str
    year: str
    majors: tuple[str, ...]
    credits: int
    since: datetime
    passed: bool = False


@dataclass(frozen=True)
class Roster:
    """Who is in, by name, and who waits, by turn."""

    enrolled: list[Person]
    waiting: list[Person]


def roster(term_id: int, section_id: int) -> Roster:
    """The people of one section."""
    with transaction() as session:
        enrolled = session.execute(_enrolled(term_id, section_id)).all()
        waiting = session.execute(_waiting(term_id, section_id)).all()
    return Roster(
        enrolled=[_person(row) for row in enrolled],
        waiting=[_person(row, passed=row.state == "passed") for row in waiting],
    )


def _enrolled(term_id: int, section_id: int) -> Select[Any]:
    return (
        _people(Enrollment)
        .where(Enrollment.term_id == term_id, Enrollment.section_id == section_id)
        .where(Enrollment.state == "enrolled")
        .order_by(Account.name, Student.number)
    )


def _waiting(term_id: int, section_id: int) -> Select[Any]:
    return (
        _people(WaitlistPlace)
        .where(WaitlistPlace.term_id == term_id, WaitlistPlace.section_id == section_id)
        .where(WaitlistPlace.state.in_(("waiting", "passed")))
        .order_by(WaitlistPlace.ticket)
    )


def _people(place: type[Enrollment] | type[WaitlistPlace]) -> Select[Any]:
    return (
        select(
            Account.name,
            Student.number,
            Student.year,
            _majors().label("majors"),
            place.credits,
            place.since,
            place.state,
        )
        .join(Student, Student.id == place.student_id)
        .join(Account, Account.id == Student.account_id)
    )


def _majors() -> ColumnElement[Any]:
    return (
        select(func.array_agg(Subject.code))
        .join(StudentSubject, StudentSubject.subject_id == Subject.id)
        .where(StudentSubject.student_id == Student.id, StudentSubject.kind == "major")
        .correlate(Student)
        .scalar_subquery()
    )


def _person(row: Any, *, passed: bool = False) -> Person:
    majors = tuple(sorted(row.majors or ()))
    return Person(row.name, row.number, row.year, majors, row.credits, row.since, passed)
