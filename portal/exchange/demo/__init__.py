"""A semester of an invented university, to look at, to race in, and for tests."""

from datetime import UTC, datetime, timedelta
from random import Random

from sqlalchemy import select, text
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog.models import Term
from portal.core.db import transaction
from portal.exchange.demo import holidays, offer, people, university, write
from portal.exchange.demo.timetable import Timetable
from portal.people.models import Account
from portal.people.passwords import hash_password
from portal.windows.models import window_ids
from portal.windows.warmup import warm_up

SEED = 20_260
OPEN_FOR = timedelta(days=14)
FILLED = (
    *("courses", "sections", "meetings", "restrictions", "section_teachers", "teachers"),
    *("accounts", "students", "student_subjects", "completed_courses", "holds", "days_off"),
)


def exists() -> bool:
    """Whether the demo, or anyone else, is here already."""
    with transaction() as session:
        return session.scalar(select(Account.id).limit(1)) is not None


def create(password: str, opens_in: timedelta) -> int | None:
    """Make the semester and its window; the term's id, None where there are accounts already."""
    if exists():
        return None
    hashed = hash_password(password)  # one hash for all: two thousand would take minutes
    now = backend().ledger.now()
    with transaction() as session:
        term = fill(session, hashed, datetime.fromtimestamp(now / 1000, UTC))
        # PostgreSQL would plan for empty tables until it comes to look by itself.
        session.execute(text(f"ANALYZE {', '.join(FILLED)}"))
        # Before the commit, so that no term is ever left without its window.
        schedule(session, term.id, now + ms(opens_in))
    warm_up(term.id)
    return term.id


def fill(session: Session, hashed: str, now: datetime) -> Term:
    """Every row of the semester."""
    chance = Random(SEED)  # noqa: S311  the same semester every time, not a secret
    name, first, last = university.coming_term(now.astimezone(backend().settings.zone).date())
    term = Term(name=name, starts_on=first, ends_on=last)
    departments = university.departments()
    by_code = {department.code: (department, subject) for department, subject in departments}
    session.add_all([term, *(each for pair in departments for each in pair)])
    session.flush()
    session.add_all(holidays.days_off(term.id, first, last))
    for department, subject in departments:
        subject.department_id = department.id
    courses = offer.courses(by_code)
    teachers = write.teachers(session, chance, hashed, by_code)
    timetable = Timetable((first, last), university.rooms(), chance)
    session.add_all(timetable.rooms)
    session.add_all(offer.sections(term, courses, teachers, timetable))
    session.add(Account(username="admin", name="Registrar", password_hash=hashed, is_admin=True))
    session.flush()
    write.students(session, people.students(chance), hashed, by_code)
    return term


def schedule(session: Session, term: int, opens: int) -> None:
    """One window for everyone, from `opens` (ms) on."""
    window = session.scalars(select(window_ids.next_value())).one()
    closes = opens + ms(OPEN_FOR)
    backend().ledger.put_window(term, window, "Open selection", opens, closes, {}, "demo")


def ms(span: timedelta) -> int:
    return span // timedelta(milliseconds=1)
