"""Who is in a class and who waits for it, as last recorded."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from sqlalchemy import ColumnElement, Select, func, select

from portal.catalog.models import Subject, section_teachers
from portal.core.db import transaction
from portal.people.models import Account, Student, StudentSubject
from portal.people.privacy import withheld
from portal.recorder.models import Enrollment, WaitlistEntry


@dataclass(frozen=True)
class Person:
    """A student on a roster or a waitlist, as far as the visitor may see; credits in hundredths.

    `place` counts from 1 on a waitlist, and `passed` is for who was passed over there.
    """

    id: int
    name: str
    number: str
    year: str
    majors: tuple[str, ...]
    email: str
    private: bool
    credits: int
    since: datetime
    place: int = 0
    passed: bool = False


@dataclass(frozen=True)
class Roster:
    """Who is in, by name, and who waits, by turn."""

    enrolled: list[Person]
    waiting: list[Person]

    @property
    def withheld(self) -> int:
        """How many have asked for privacy."""
        return sum(each.private for each in (*self.enrolled, *self.waiting))


def roster(term_id: int, section_id: int, roles: frozenset[str]) -> Roster:
    """The people of one section, as a visitor of these roles may see them."""
    with transaction() as session:
        enrolled = session.execute(_enrolled(term_id, section_id)).all()
        waiting = session.execute(_waiting(term_id, section_id)).all()
    return Roster(
        enrolled=[_person(row, roles) for row in enrolled],
        waiting=[_person(row, roles, place) for place, row in enumerate(waiting, 1)],
    )


def known(teachers: Iterable[int], students: Iterable[int | None]) -> set[int]:
    """Those of the students who are in a class of one of these teachers, or wait for one."""
    taught = select(section_teachers.c.section_id).where(
        section_teachers.c.teacher_id.in_(teachers)
    )
    named = {each for each in students if each}
    enrolled = select(Enrollment.student_id).where(
        Enrollment.section_id.in_(taught),
        Enrollment.student_id.in_(named),
        Enrollment.state == "enrolled",
    )
    waiting = select(WaitlistEntry.student_id).where(
        WaitlistEntry.section_id.in_(taught),
        WaitlistEntry.student_id.in_(named),
        WaitlistEntry.state.in_(("waiting", "passed")),
    )
    with transaction() as session:
        return set(session.scalars(enrolled.union(waiting)))


def _enrolled(term_id: int, section_id: int) -> Select[Any]:
    return (
        _people(Enrollment)
        .where(Enrollment.term_id == term_id, Enrollment.section_id == section_id)
        .where(Enrollment.state == "enrolled")
        .order_by(Account.name, Student.number)
    )


def _waiting(term_id: int, section_id: int) -> Select[Any]:
    return (
        _people(WaitlistEntry)
        .where(WaitlistEntry.term_id == term_id, WaitlistEntry.section_id == section_id)
        .where(WaitlistEntry.state.in_(("waiting", "passed")))
        .order_by(WaitlistEntry.ticket)
    )


def _people(place: type[Enrollment] | type[WaitlistEntry]) -> Select[Any]:
    return (
        select(
            Student.id,
            Account.name,
            Student.number,
            Student.year,
            Account.email,
            Student.private,
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


def _person(row: Any, roles: frozenset[str], place: int = 0) -> Person:
    hidden = withheld(roles, private=row.private)
    return Person(
        id=row.id,
        name=row.name,
        number=row.number,
        year="" if hidden else row.year,
        majors=() if hidden else tuple(sorted(row.majors or ())),
        email="" if hidden else row.email,
        private=row.private,
        credits=row.credits,
        since=row.since,
        place=place,
        passed=row.state == "passed",
    )
