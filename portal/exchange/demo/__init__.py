"""The demo: a semester of an invented university, to look at, to race in, and for tests.

Its files are OneRoster 1.1. The importer reads them, with their dates moved to the coming term.
This module adds what an import does not bring: passwords, staff, holds, titles, audiences of
courses, seats of rooms, days off, and the window. Some of it is in files and columns of its own.
"""

import csv
import json
import re
import time
from collections.abc import Iterator
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory

from sqlalchemy import delete, select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.calendar.models import DayOff
from portal.catalog.models import Course, Department, Instructor, Room, Subject, Term
from portal.core.db import transaction
from portal.exchange.importing.import_jobs import Busy
from portal.exchange.importing.models import Import, Options, SourcedId
from portal.exchange.importing.report import Report
from portal.exchange.importing.runs import import_files
from portal.people.models import Account, Hold, Student
from portal.people.passwords import hash_password
from portal.people.roles import STAFF_ROLES
from portal.windows.models import window_ids
from portal.windows.warmup import warm_up

NAME = "fairseat-demo"  # of the import; no folder of real files should have it
FILES = Path(__file__).parent
WRITTEN_FOR = "Spring 2027", date(2027, 1, 11)  # the term of the files, and its first day
DAY = re.compile(r"\b\d{4}-\d\d-\d\d\b")
MON, THU = 0, 3
WEEKS = 16
JULY = 7  # from here on students register for spring
OPEN_FOR = timedelta(days=14)
LOOK_AGAIN = 0.5  # seconds
# PostgreSQL would plan for empty tables until its next automatic ANALYZE.
ANALYZE = text(
    "ANALYZE accounts, students, student_subjects, completed_courses, instructors, holds, days_off"
)


def coming_term(today: date) -> tuple[str, date, date]:
    """Return the name, first and last day of the term for which students register today."""
    if today.month >= JULY:
        name, first = f"Spring {today.year + 1}", date(today.year + 1, 1, 11)
    else:
        name, first = f"Fall {today.year}", date(today.year, 8, 24)
    monday = first + timedelta(days=-first.weekday() % 7)
    return name, monday, monday + timedelta(days=7 * WEEKS - 3)


def days_off(first: date, last: date) -> Iterator[tuple[date, str]]:
    """Yield the days without classes in a term, as calendars of American universities have them."""
    for name, start, length in _breaks(first):
        for number in range(length):
            day = start + timedelta(days=number)
            if first <= day <= last:
                yield day, name


def _breaks(first: date) -> Iterator[tuple[str, date, int]]:
    """Yield names, first days and numbers of days."""
    year, eighth_week = first.year, first + timedelta(weeks=7)
    if first.month >= JULY:
        yield "Labor Day", _nth(MON, 1, year, 9), 1
        yield "Fall break", eighth_week, 2
        yield "Thanksgiving break", _nth(THU, 4, year, 11) - timedelta(days=1), 3
    else:
        yield "Martin Luther King Jr. Day", _nth(MON, 3, year, 1), 1
        yield "Presidents’ Day", _nth(MON, 3, year, 2), 1
        yield "Spring break", eighth_week, 5


def _nth(weekday: int, number: int, year: int, month: int) -> date:
    """Return a day such as the fourth Thursday of a November."""
    first = date(year, month, 1)
    return first + timedelta(days=(weekday - first.weekday()) % 7 + 7 * (number - 1))


def exists() -> bool:
    """Return whether there are accounts, other than those of a demo that was interrupted."""
    with transaction() as session:
        imported = session.scalar(select(Import.id).where(Import.name == NAME).limit(1))
        accounts = select(Account.id).limit(1)
        if imported is not None:  # the passwords come last
            accounts = accounts.where(Account.password_hash != "")
        return session.scalar(accounts) is not None


def create(password: str, opens_in: timedelta) -> int | None:
    """Create the semester and return the term's id, None if there are accounts already."""
    if exists():
        return None
    now = backend().ledger.now()
    today = datetime.fromtimestamp(now / 1000, UTC).astimezone(backend().settings.zone).date()
    name, first, last = coming_term(today)
    _import_files(name, first)
    with transaction() as session:
        term = session.scalars(select(Term).where(Term.name == name)).one()
        session.add_all(
            DayOff(term_id=term.id, day=day, name=off) for day, off in days_off(first, last)
        )
        _complete(session, hash_password(password))
        term.state = "published"
        term.catalog_version += 1
        session.flush()
        session.execute(ANALYZE)
        # Before the commit, so that no term is ever left without its window.
        _put_window(session, term.id, _whole_minute(now + _ms(opens_in), opens_in))
    warm_up(term.id)
    return term.id


def _import_files(term: str, first: date) -> None:
    """Import the files, moved to a term."""
    name, monday = WRITTEN_FOR
    with TemporaryDirectory(prefix="fairseat-demo-") as above:
        folder = Path(above) / NAME
        folder.mkdir()
        for path in FILES.glob("*.csv"):
            written = path.read_text("utf-8").replace(name, term)
            moved = DAY.sub(lambda day: str(date.fromisoformat(day[0]) + (first - monday)), written)
            (folder / path.name).write_text(moved, "utf-8")
        _import(folder)


def _import(folder: Path) -> None:
    while True:
        try:
            import_files(folder, Options(layout="oneroster"), Report(), lambda *_progress: None)
        except Busy:  # the process before this one was killed: imports wait a few seconds for it
            time.sleep(LOOK_AGAIN)
        else:
            return


def _complete(session: Session, hashed: str) -> None:
    """Add what the importer does not read. All accounts share a hash: 2,000 would take minutes."""
    session.execute(delete(SourcedId))  # the institution's own files may use the same IDs
    session.execute(update(Account).values(password_hash=hashed))
    _add_staff(session, hashed)
    _set_audiences(session)
    _set_titles_and_holds(session)
    seats = [{"name": row["name"], "seats": int(row["seats"])} for row in rows("rooms")]
    rooms = insert(Room).values(seats)
    session.execute(
        rooms.on_conflict_do_update(index_elements=["name"], set_={"seats": rooms.excluded.seats})
    )


def _add_staff(session: Session, hashed: str) -> None:
    for row in rows("staff"):
        schedules = select(Department.id).where(Department.code == row["schedules"])
        session.add(
            Account(
                username=row["username"],
                name=row["name"],
                email=row["email"],
                password_hash=hashed,
                is_admin=row["role"] == "admin",
                staff_roles=[row["role"]] if row["role"] in STAFF_ROLES else [],
                schedules_for=list(session.scalars(schedules)),
            )
        )


def _set_audiences(session: Session) -> None:
    """Limit courses that are not for everyone to their students."""
    subjects = {each.code: each for each in session.scalars(select(Subject))}
    for row in rows("courses"):
        if row["metadata.audience"]:
            course = session.scalars(select(Course).where(Course.code == row["sourcedId"])).one()
            audience = json.loads(row["metadata.audience"])
            course.public = False
            course.levels, course.years = audience.get("levels", []), audience.get("years", [])
            course.restricted_to = [subjects[code] for code in audience.get("majors", [])]


def _set_titles_and_holds(session: Session) -> None:
    """Give instructors titles, and students holds; one that an adviser lifts needs an adviser."""
    adviser = session.scalars(select(Account.id).where(Account.username == "adviser")).one()
    holds = {row["kind"]: row for row in rows("holds")}
    for row in rows("users"):
        account = select(Account.id).where(Account.username == row["username"]).scalar_subquery()
        if title := row["metadata.title"]:
            instructor = update(Instructor).where(Instructor.account_id == account)
            session.execute(instructor.values(title=title))
        if kind := row["metadata.hold"]:
            student = session.scalars(select(Student).where(Student.account_id == account)).one()
            advising = kind == "Advising"
            session.add(Hold(student_id=student.id, adviser_lifts=advising, **holds[kind]))
            if advising:
                student.adviser_id = adviser


def rows(name: str) -> Iterator[dict[str, str]]:
    """Yield the rows of a file of the demo."""
    with (FILES / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def _put_window(session: Session, term: int, opens: int) -> None:
    """Set one window for everyone, from `opens` (ms) on."""
    window = session.scalars(select(window_ids.next_value())).one()
    closes = opens + _ms(OPEN_FOR)
    backend().ledger.put_window(term, window, "All students", opens, closes, {}, "demo")


def _whole_minute(opens: int, after: timedelta) -> int:
    """Return the next whole minute (ms), as real windows open at one; not if it is opening soon."""
    minute = _ms(timedelta(minutes=1))
    return opens if after < timedelta(minutes=1) else -(-opens // minute) * minute


def _ms(span: timedelta) -> int:
    return span // timedelta(milliseconds=1)
