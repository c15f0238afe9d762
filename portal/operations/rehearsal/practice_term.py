"""A practice term: generated courses for generated students, deleted after the rehearsal.

No other student can register in it. Its students have no address, so no mail is sent.
"""

from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from decimal import Decimal
from random import Random

from sqlalchemy import func, select, update
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog.models import Course, Department, Meeting, Section, Subject, Term
from portal.core.db import transaction
from portal.people.models import Account, Student
from portal.people.passwords import hash_password
from portal.windows.cohorts import with_student_list
from portal.windows.models import window_ids
from portal.windows.warmup import warm_up

SEATS_PER_STUDENT = 4  # as many as keep five adds after their drops
SEATS_PER_SECTION = 5
MIN_SECTIONS, MIN_SEATS = 8, 2
WAITLIST = 10
CREDITS = Decimal(3)
SLOTS = [(days, time(hour), time(hour, 50)) for days in (0b10101, 0b01010) for hour in range(8, 18)]


class NotForPractice(Exception):
    """The term is a term of real students."""


@dataclass(frozen=True)
class PracticeTerm:
    id: int
    usernames: list[str]
    numbers: list[str]
    sections: list[int]


def make(students: int, password: str) -> PracticeTerm:
    """Make a practice term with so many students, who can all log in with the password."""
    hashed = hash_password(password)
    today = datetime.fromtimestamp(backend().ledger.now() / 1000, UTC)
    first = today.astimezone(backend().settings.zone).date() + timedelta(days=30)
    name, last = f"Practice of {today:%Y-%m-%d %H:%M:%S.%f}", first + timedelta(days=110)
    with transaction() as session:
        term = Term(name=name, starts_on=first, ends_on=last, state="published", practice=True)
        session.add(term)
        session.flush()
        code = _code(term.id)
        department = Department(code=code, name=name)
        session.add(department)
        session.flush()
        subject = Subject(code=code, name=name, department_id=department.id)
        sections = _sections(term, department, subject, students)
        numbers = [f"{code}-{number:04}" for number in range(1, students + 1)]
        accounts = [
            Account(username=number.lower(), name=number, email="", password_hash=hashed)
            for number in numbers
        ]
        session.add_all([subject, *sections, *accounts])
        session.flush()
        session.add_all(
            Student(account_id=each.id, number=each.name, department_id=department.id)
            for each in accounts
        )
        ids = [section.id for section in sections]
        made = PracticeTerm(term.id, [each.username for each in accounts], numbers, ids)
    warm_up(made.id)
    return made


def open_window(practice: PracticeTerm, opens: int, closes: int) -> int:
    """Schedule a window (times in ms) for the students of the practice term; return its id.

    Raise NotForPractice if the term is not a practice term.
    """
    cohort = with_student_list({"students": practice.numbers})
    with transaction() as session:
        term = session.get(Term, practice.id)
        if term is None or not term.practice or term.deleted_at:
            raise NotForPractice(practice.id)
        window = session.scalars(select(window_ids.next_value())).one()
    backend().ledger.put_window(
        practice.id, window, "Rehearsal", opens, closes, cohort, "rehearsal"
    )
    return window


def delete_all(session: Session) -> None:
    """Mark every practice term, and everything made for it, as deleted.

    A real student who was moved into its department keeps their account.
    """
    left = select(Term.id).where(Term.practice, Term.deleted_at.is_(None))
    for term in session.scalars(left).all():
        code, gone = _code(term), {"deleted_at": func.now()}
        departments = select(Department.id).where(Department.code == code)
        generated = Account.username.startswith(f"{code.lower()}-", autoescape=True)
        accounts = select(Account.id).where(generated, Account.email == "")
        locked = gone | {"password_hash": "", "session_epoch": Account.session_epoch + 1}
        for change in (
            update(Student).where(Student.account_id.in_(accounts)).values(gone),
            update(Account).where(Account.id.in_(accounts)).values(locked),
            update(Course).where(Course.department_id.in_(departments)).values(gone),
            update(Subject).where(Subject.code == code).values(gone),
            update(Department).where(Department.code == code).values(gone),
            update(Term).where(Term.id == term).values(gone),
        ):
            session.execute(change.execution_options(synchronize_session=False))


def _code(term: int) -> str:
    """Return the prefix of a practice term's codes and usernames."""
    return f"PRACTICE{term}"


def _sections(term: Term, department: Department, subject: Subject, students: int) -> list[Section]:
    """Return sections with seats for all the students; each is the one section of its course."""
    chance, seats = Random(term.id), SEATS_PER_STUDENT * students  # noqa: S311  no secret
    count = max(MIN_SECTIONS, seats // SEATS_PER_SECTION)
    sizes = [chance.uniform(0.4, 1.6) for _ in range(count)]
    found = []
    for number, size in enumerate(sizes, 101):
        days, starts_at, ends_at = chance.choice(SLOTS)
        title = f"Practice course {number}"
        shared = {"title": title, "credits_min": CREDITS, "credits_max": CREDITS}
        found.append(
            Section(
                term=term,
                course=Course(
                    code=f"{department.code}-{number}",
                    subject=subject,
                    department=department,
                    **shared,
                ),
                crn=str(number),
                number="01",
                capacity=max(MIN_SEATS, round(size * seats / sum(sizes))),
                waitlist_capacity=WAITLIST,
                status="OPEN",
                meetings=[
                    Meeting(
                        position=1,
                        days=days,
                        starts_at=starts_at,
                        ends_at=ends_at,
                        date_start=term.starts_on,
                        date_end=term.ends_on,
                    )
                ],
                **shared,
            )
        )
    return found
