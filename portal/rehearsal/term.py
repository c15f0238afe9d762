"""A practice term: the demo's courses under names of their own, for students who don't exist.

Nobody else can pick in it, and its students have no address, so that nobody is sent a mail.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import islice
from random import Random

from sqlalchemy import func, insert, select, update
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog.demo import offer, people, university, write
from portal.catalog.demo.timetable import Timetable
from portal.catalog.models import Course, Department, Meeting, Room, Section, Subject, Term
from portal.core.db import transaction
from portal.people.models import Account, Student, Teacher
from portal.people.passwords import hash_password
from portal.windows.lists import with_list
from portal.windows.models import window_ids
from portal.windows.warmup import warm_up

SEATS_EACH = 4  # seats for each student: as many as keep five adds after their drops
FEWEST_SECTIONS, FEWEST_SEATS = 8, 2
PLACES = 10  # of a waitlist


class NotForPractice(Exception):  # noqa: N818  a state of the world, not a mistake
    """The term is one of real students."""


@dataclass(frozen=True)
class Practice:
    """A practice term and who is in it."""

    term: int
    usernames: list[str]
    numbers: list[str]
    sections: list[int]


def make(rehearsal: int, students: int, password: str) -> Practice:
    """Make a practice term with so many students, who can all log in with the password."""
    tag, chance = _tag(rehearsal), Random(rehearsal)  # noqa: S311  no secret
    hashed = hash_password(password)
    with transaction() as session:
        term = _term(session, tag)
        departments = _departments(session, tag)
        courses = _courses(tag, departments)
        sections = _sections(term, courses, chance, students)
        session.add_all(sections)
        crowd = list(_people(tag, students, chance))
        numbers = _admit(session, crowd, hashed, departments)
        session.flush()
        made = Practice(
            term.id,
            [person.username for person in crowd],
            numbers,
            [section.id for section in sections],
        )
    warm_up(made.term)
    return made


def schedule(practice: Practice, opens: int, closes: int) -> int:
    """A window for its students alone (`opens`, `closes` in ms); gives its id.

    Raises NotForPractice.
    """
    guard(practice.term)
    cohort = with_list({"students": practice.numbers})
    with transaction() as session:
        window = session.scalars(select(window_ids.next_value())).one()
    backend().ledger.put_window(
        practice.term, window, "Rehearsal", opens, closes, cohort, "rehearsal"
    )
    return window


def guard(term: int) -> None:
    """Raises NotForPractice unless the term is for practice, and there still."""
    with transaction() as session:
        found = session.get(Term, term)
        if found is None or not found.practice or found.deleted_at:
            raise NotForPractice(term)


def retire(session: Session, rehearsal: int) -> None:
    """Delete the term with all that was made for it, as far as rows are deleted here.

    Its accounts can't log in any more, and no page lists any of it. Who was moved into one of its
    departments by mistake is left as they were: made-up ones have its name, and no address.
    """
    named = f"{_tag(rehearsal)}-"
    mine = Department.code.startswith(named, autoescape=True)
    departments = select(Department.id).where(mine)
    sections = select(Section.id).join(Course).where(Course.department_id.in_(departments))
    terms = select(Section.term_id).where(Section.id.in_(sections))
    theirs = select(Student.account_id).where(Student.department_id.in_(departments))
    made_up = Account.username.startswith(named.lower(), autoescape=True)
    accounts = select(Account.id).where(Account.id.in_(theirs), made_up, Account.email == "")
    rooms = select(Meeting.room_id).where(Meeting.section_id.in_(sections))
    gone = {"deleted_at": func.now()}
    shut = gone | {"password_hash": "", "session_epoch": Account.session_epoch + 1}
    for changed in (
        update(Student).where(Student.account_id.in_(accounts)).values(gone),
        update(Account).where(Account.id.in_(accounts)).values(shut),
        update(Room).where(Room.id.in_(rooms)).values(gone),
        update(Term).where(Term.id.in_(terms), Term.practice).values(gone),
        update(Course).where(Course.department_id.in_(departments)).values(gone),
        update(Subject).where(Subject.department_id.in_(departments)).values(gone),
        update(Department).where(mine).values(gone),
    ):
        session.execute(changed.execution_options(synchronize_session=False))


def _tag(rehearsal: int) -> str:
    """What the codes of a rehearsal begin with, and nobody else's."""
    return f"PRACTICE{rehearsal}"


def _term(session: Session, tag: str) -> Term:
    today = datetime.fromtimestamp(backend().ledger.now() / 1000, UTC)
    _, first, last = university.coming_term(today.astimezone(backend().settings.zone).date())
    name = f"Practice {tag.removeprefix('PRACTICE')}"
    term = Term(name=name, starts_on=first, ends_on=last, practice=True)
    session.add(term)
    session.flush()
    return term


def _departments(session: Session, tag: str) -> offer.Departments:
    """By the demo's codes."""
    made = {department.code: (department, subject) for department, subject in _named(tag)}
    session.add_all(each for pair in made.values() for each in pair)
    for code, (department, subject) in made.items():
        department.code = subject.code = f"{tag}-{code}"
    session.flush()
    for department, subject in made.values():
        subject.department_id = department.id
    return made


def _named(tag: str) -> Iterator[tuple[Department, Subject]]:
    for department, subject in university.departments():
        department.name = subject.name = f"{subject.name} ({tag.title()})"
        yield department, subject


def _courses(tag: str, departments: offer.Departments) -> dict[str, Course]:
    """By the demo's codes; open to everyone, so that what refuses is seats, times and credits."""
    made = offer.courses(departments)
    for code, course in made.items():
        course.code, course.public, course.restricted_to = f"{tag}-{code}", True, []
        course.levels, course.years = [], []
    return made


def _sections(
    term: Term, courses: dict[str, Course], chance: Random, students: int
) -> list[Section]:
    """As many as the students fill, with seats for them all."""
    teachers = {  # of whom nobody hears: they keep the timetable from crowding
        code: [Teacher(name=f"{code} {number}") for number in range(count)]
        for code, count in people.TEACHERS.items()
    }
    timetable = Timetable((term.starts_on, term.ends_on), university.rooms(), chance)
    for room in timetable.rooms:
        room.name = f"{room.name} ({term.name})"
    seats = SEATS_EACH * students
    found = [each for each in offer.sections(term, courses, teachers, timetable) if each.capacity]
    kept = chance.sample(found, min(len(found), max(FEWEST_SECTIONS, seats // 5)))
    usual = sum(each.capacity for each in kept)
    for section in kept:
        section.capacity = max(FEWEST_SEATS, round(section.capacity * seats / usual))
        section.prior_enrolled, section.waitlist_capacity = 0, PLACES
        section.status = "OPEN"
        section.prerequisites = section.corequisites = None
        section.restrictions, section.cross_lists = [], []
    return kept


def _people(tag: str, students: int, chance: Random) -> Iterator[people.Person]:
    for number, person in enumerate(islice(people.students(chance), students), 1):
        name, who = f"{person.name} ({tag.title()})", f"{tag}-{number:04}"
        yield replace(person, username=who.lower(), number=who, name=name, completed=(), hold=None)


def _admit(
    session: Session, crowd: list[people.Person], hashed: str, departments: offer.Departments
) -> list[str]:
    """Accounts and students, who belong to no field; gives the students' numbers."""
    accounts = [write.account(person, hashed) | {"email": ""} for person in crowd]
    put = insert(Account).returning(Account.username, Account.id)
    ids = dict(session.execute(put, accounts).all())
    rows = [write.student(person, ids[person.username], departments) for person in crowd]
    session.execute(insert(Student), rows)
    return [person.number for person in crowd]
