"""The fixed cast of the tests, and builders that need to be told only what matters.

Students ada, ben, cleo and dan; iris, who teaches what she is given, and otto, who teaches
nothing here; max, the admin. Everyone's password is PASSWORD. Build a term's sections before
its first page is asked for: a process reloads what is offered every two seconds at most.
"""

from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from functools import cache
from typing import Any, NamedTuple

from argon2 import PasswordHasher
from sqlalchemy import func, insert, select, update
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog import term_catalog
from portal.catalog.models import (
    Course,
    Department,
    Instructor,
    Meeting,
    Room,
    Section,
    Subject,
    Term,
    section_instructors,
)
from portal.core.db import transaction
from portal.ledger.types import WindowView
from portal.people.models import Account, Student, StudentSubject
from portal.windows import deadlines
from portal.windows.models import window_ids
from portal.windows.warmup import section_specs

PASSWORD = "a seat for everyone"
MINUTE = 60_000
DAYS = "MTWRFSU"


class Meets(NamedTuple):
    """When a section meets; `days` of MTWRFSU, "" = none; no times = TBA; no dates = all term."""

    days: str = "MR"
    starts: str | None = "10:00"
    ends: str | None = "11:50"
    clashes: bool = True
    dates: tuple[str, str] | None = None
    kind: str = "CLASS"
    room: str = ""


@dataclass(frozen=True)
class Cast:
    ada: Student
    ben: Student
    cleo: Student
    dan: Student
    iris: Instructor
    otto: Instructor
    max: Account


def assemble() -> Cast:
    """Everyone, in an empty database."""
    accounts = [_account(name) for name in ("ada", "ben", "cleo", "dan", "iris", "otto")]
    admin = _account("max", is_admin=True)
    with transaction() as session:
        session.add_all([*accounts, admin])
        session.flush()
        students = [_student(account) for account in accounts[:4]]
        instructors = [_instructor(account) for account in accounts[4:]]
        session.add_all([*students, *instructors])
    return Cast(*students, *instructors, admin)


def an_account(username: str, **fields: Any) -> Account:
    """An account whose password is PASSWORD."""
    return added(_account(username, **fields))


def a_student(username: str, majors: tuple[str, ...] = (), **fields: Any) -> Student:
    """A student with an account; `majors` are codes of subjects."""
    student = added(_student(an_account(username), **fields))
    for code in majors:
        subject = a_subject(code)
        added(StudentSubject(student_id=student.id, subject_id=subject.id, kind="major"))
    return student


def an_instructor(username: str) -> Instructor:
    """A teacher with an account."""
    return added(_instructor(an_account(username)))


def _account(username: str, **fields: Any) -> Account:
    return Account(username=username, name=username.title(), password_hash=_hashed(), **fields)


def _student(account: Account, **fields: Any) -> Student:
    return Student(account_id=account.id, number=f"N{account.id:06}", **fields)


def _instructor(account: Account) -> Instructor:
    return Instructor(account_id=account.id, name=account.name)


def a_term(name: str = "Fall 2030", **fields: Any) -> Term:
    """A published term of four months."""
    dates = {"starts_on": date(2030, 8, 26), "ends_on": date(2030, 12, 20)}
    return added(Term(**{"name": name, "state": "published", **dates, **fields}))


def set_rules(term: Term, **values: Any) -> None:
    """Set rules of a term, or its bands."""
    newer = {"catalog_version": Term.catalog_version + 1}
    with transaction() as session:
        session.execute(update(Term).where(Term.id == term.id).values(**values, **newer))
    term_catalog.forget()


def set_deadlines(term: Term, **days: int | None) -> None:
    """Set deadlines of a term so many days from today, or remove them."""
    today = datetime.now(backend().settings.zone).date()
    values = {
        name: None if each is None else today + timedelta(each) for name, each in days.items()
    }
    set_rules(term, **values)
    deadlines.send(term.id)


def a_department(code: str = "SCI") -> Department:
    """The department of that code, made at its first use."""
    with transaction() as session:
        return _department(session, code)


def _department(session: Session, code: str) -> Department:
    found = session.scalar(select(Department).where(Department.code == code))
    return found or _flushed(session, Department(code=code, name=f"Department of {code}"))


def a_subject(code: str = "CSC") -> Subject:
    """The subject of that code, made at its first use."""
    with transaction() as session:
        return _subject(session, code)


def _subject(session: Session, code: str) -> Subject:
    found = session.scalar(select(Subject).where(Subject.code == code))
    return found or _flushed(session, Subject(code=code, name=f"Field of {code}"))


def a_course(code: str = "CSC-1100", credits: int = 4, **fields: Any) -> Course:  # noqa: A002
    """A public course of so many credits."""
    with transaction() as session:
        settings = {
            "title": f"Course {code}",
            "subject_id": _subject(session, code.partition("-")[0]).id,
            "department_id": _department(session, "SCI").id,
            "credits_min": Decimal(credits),
            "credits_max": Decimal(credits),
        }
        return _flushed(session, Course(**{"code": code, **settings, **fields}))


def a_section(
    course: Course,
    term: Term,
    *,
    capacity: int = 2,
    waitlist: int = 5,
    meetings: tuple[Meets, ...] = (),
    instructor: Instructor | None = None,
    **fields: Any,
) -> Section:
    """An open section of the course, known to the ledger too; no meetings = TBA."""
    with transaction() as session:
        others = session.scalar(select(func.count()).where(Section.term_id == term.id)) or 0
        crn = fields.pop("crn", None) or f"{1000 + others}"
        settings = {
            "number": f"{others + 1:02}",
            "title": course.title,
            "credits_min": course.credits_min,
            "credits_max": course.credits_max,
            "prior_enrolled": 0,
            "status": "OPEN",
        }
        section = _flushed(
            session,
            Section(
                term_id=term.id,
                course_id=course.id,
                crn=crn,
                capacity=capacity,
                waitlist_capacity=waitlist,
                **{**settings, **fields},
            ),
        )
        for position, meets in enumerate(meetings):
            session.add(_meeting(session, section, term, position, meets))
        if instructor:
            taught = {"section_id": section.id, "instructor_id": instructor.id}
            session.execute(insert(section_instructors).values(taught))
        bump = {"catalog_version": Term.catalog_version + 1}
        session.execute(update(Term).where(Term.id == term.id).values(bump))
        specs = section_specs(session, term.id, section.id)
    backend().ledger.put_sections(term.id, specs)
    return section


def an_open_window(term: Term, minutes: float = 60, cohort: Any = None) -> WindowView:
    """A window that opened a minute ago and closes in so many minutes."""
    now = backend().ledger.now()
    return _window(term, now - MINUTE, now + int(minutes * MINUTE), cohort)


def a_coming_window(
    term: Term, minutes: float = 10, cohort: Any = None, *, name: str = "Selection", lasts: int = 60
) -> WindowView:
    """A window that opens in so many minutes, and lasts so many."""
    opens = backend().ledger.now() + int(minutes * MINUTE)
    return _window(term, opens, opens + lasts * MINUTE, cohort, name)


def open_soon(term: Term, window: WindowView, seconds: float = 5, *, lasts: int = 60) -> None:
    """Move a coming window, once all that a story needs before its opening is done."""
    ledger = backend().ledger
    opens = ledger.now() + int(seconds * 1000)
    ledger.move_window(term.id, window.id, opens, opens + lasts * MINUTE, "tests")


def an_ended_window(term: Term) -> WindowView:
    """A window that was open and has been closed."""
    window = an_open_window(term)
    backend().ledger.close_window(term.id, window.id, "tests")
    return next(each for each in backend().ledger.windows(term.id) if each.id == window.id)


def _window(
    term: Term, opens: int, closes: int, cohort: Any, name: str = "Selection"
) -> WindowView:
    with transaction() as session:
        window = session.scalar(window_ids)
    ledger = backend().ledger
    ledger.put_window(term.id, window, name, opens, closes, cohort or {}, "tests")
    return next(each for each in ledger.windows(term.id) if each.id == window)


def a_room(name: str) -> Room:
    """The room of that name, made at its first use."""
    with transaction() as session:
        return _room(session, name)


def _room(session: Session, name: str) -> Room:
    found = session.scalar(select(Room).where(Room.name == name))
    return found or _flushed(session, Room(name=name))


def _meeting(
    session: Session, section: Section, term: Term, position: int, meets: Meets
) -> Meeting:
    first, last = meets.dates or (term.starts_on.isoformat(), term.ends_on.isoformat())
    return Meeting(
        section_id=section.id,
        position=position,
        kind=meets.kind,
        days=_mask(meets.days),
        starts_at=time.fromisoformat(meets.starts) if meets.starts else None,
        ends_at=time.fromisoformat(meets.ends) if meets.ends else None,
        date_start=date.fromisoformat(first),
        date_end=date.fromisoformat(last),
        room_id=_room(session, meets.room).id if meets.room else None,
        clashes=meets.clashes,
    )


def _mask(days: str) -> int:
    return sum(1 << DAYS.index(day) for day in days)


def added(row: Any) -> Any:
    """The row, stored."""
    with transaction() as session:
        return _flushed(session, row)


def _flushed(session: Session, row: Any) -> Any:
    session.add(row)
    session.flush()
    return row


@cache
def _hashed() -> str:
    """The hash of PASSWORD, made with little work: the tests log in often."""
    return PasswordHasher(time_cost=1, memory_cost=8, parallelism=1).hash(PASSWORD)
