"""Play a rehearsal: one at a time, in this process, against the portal at its own address."""

import secrets
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import Any

from sqlalchemy import func, select, text
from sqlalchemy.exc import SQLAlchemyError

from portal.backend import backend
from portal.catalog.models import Term
from portal.core.audit_trail import add_audit_entry
from portal.core.db import read_only, transaction
from portal.core.errors import CommandError
from portal.operations.rehearsal import practice_term, report
from portal.operations.rehearsal.behavior import RUSH
from portal.operations.rehearsal.crowd import Crowd, Timeline
from portal.operations.rehearsal.practice_term import PracticeTerm
from portal.operations.rehearsal.student import Answer, Student
from portal.people.models import Student as StudentRow
from portal.recorder.consistency.audit import audit_term
from portal.windows import readiness

MIN_STUDENTS, MAX_STUDENTS = 2, 500
MIN_SECONDS, MAX_SECONDS = 20, 120 * 60
PREPARATION = 10 * 60  # seconds for what comes before and after
PROMOTION = 10.0  # seconds for free seats to go to the waitlists
LOCK = "hashtext('fairseat rehearsal')"

Tell = Callable[[dict[str, Any]], None]


class RefusedError(CommandError):
    """The rehearsal cannot be played; the message says why."""


def play(students: int, seconds: int, tell: Tell, *, anyway: bool = False) -> dict[str, Any]:
    """Play a rehearsal and return its report; `tell` receives the progress each second.

    KeyboardInterrupt ends it early. Raise RefusedError if another rehearsal runs, or, without
    `anyway`, if real students register before its end.
    """
    if not backend().settings.passwords:
        raise RefusedError("Made-up students log in with passwords: FAIRSEAT_PASSWORDS is 0.")
    if not anyway:
        _check_windows(seconds + PREPARATION)
    with _the_only_one():
        try:
            return _play(students, seconds, tell)
        finally:
            with transaction() as session:
                practice_term.delete_all(session)


def delete_leftovers() -> None:
    """Delete what a killed rehearsal has left behind."""
    with suppress(RefusedError), _the_only_one(), transaction() as session:
        practice_term.delete_all(session)


@contextmanager
def _the_only_one() -> Iterator[None]:
    """Hold the lock of rehearsals; PostgreSQL frees it if this process dies."""
    with read_only() as session:
        if not session.scalar(text(f"SELECT pg_try_advisory_lock({LOCK})")):
            raise RefusedError("Another rehearsal is running. Wait until it has ended.")
        try:
            yield
        finally:
            with suppress(SQLAlchemyError):  # the connection was lost, and the lock with it
                session.execute(text(f"SELECT pg_advisory_unlock({LOCK})"))


def _check_windows(seconds: int) -> None:
    """Raise RefusedError if a window of real students is open, or opens within the time."""
    ledger, now = backend().ledger, backend().ledger.now()
    with transaction() as session:
        real = select(Term).where(Term.deleted_at.is_(None), ~Term.practice)
        terms = session.scalars(real.order_by(Term.id)).all()
    for term in terms:
        for window in ledger.windows(term.id):
            soon = window.opens < now + 1000 * seconds and now < window.closes
            if soon and window.state == "scheduled":
                raise RefusedError(
                    f"“{window.name}” of {term.name} is open, or opens before the rehearsal ends."
                    " Rehearse when no window is open, or use --anyway."
                )


def _play(students: int, seconds: int, tell: Tell) -> dict[str, Any]:
    password, address = secrets.token_urlsafe(24), backend().settings.url
    practice = practice_term.make(students, password)
    _note("rehearsal.begin", practice.id, {"students": students, "seconds": seconds})
    timeline, now = Timeline(time.monotonic(), seconds), backend().ledger.now()
    # The window closes with the last second.
    opens, closes = now + int(1000 * RUSH.begin * seconds), now + 1000 * (seconds + 5)
    practice_term.open_window(practice, opens, closes)
    answers: list[Answer] = []
    people = [Student(address, practice.id, name, answers.append) for name in practice.usernames]
    crowd = Crowd(people, password, practice.sections, timeline, answers)
    stopped = False
    crowd.start()
    try:
        while time.monotonic() < timeline.time_of(1):
            time.sleep(min(1.0, timeline.seconds_until(1)))
            crowd.measure_cpu()
            tell(crowd.progress())
    except KeyboardInterrupt:
        stopped = True
    finally:
        crowd.end()
    found = {"students": students, "seconds": seconds, "stopped": stopped}
    found |= {"machine": report.machine()} | _report(crowd, practice)
    _note(report.ENDED, practice.id, found)
    return found


def _report(crowd: Crowd, practice: PracticeTerm) -> dict[str, Any]:
    _close_windows(practice.id)
    seats = backend().ledger.seats(practice.id).values()
    audited = audit_term(practice.id)
    with transaction() as session:
        everyone = select(func.count()).where(StudentRow.deleted_at.is_(None))
        real = (session.scalar(everyone) or 0) - len(practice.numbers)
    processes = len(readiness.processes())
    return {
        "phases": report.phases(crowd.answers, crowd.timeline),
        "waits": report.waits(crowd.visits),
        "seats": {
            "taken": sum(each.taken for each in seats),
            "of": sum(each.capacity for each in seats),
            "waiting": sum(each.waiting for each in seats),
            "oversold": sum(each.over for each in seats),
        },
        "audit": {"events": audited["events"], "differences": len(audited["differences"])},
        "advice": report.advise(crowd, processes, max(real, len(practice.numbers))),
    }


def _close_windows(term: int) -> None:
    """Close or cancel all windows, and give the workers time to promote."""
    ledger = backend().ledger
    for window in ledger.windows(term):
        now = ledger.now()
        if window.closes > now:
            end = ledger.close_window if window.opens <= now else ledger.cancel_window
            end(term, window.id, "rehearsal")
    deadline = time.monotonic() + PROMOTION
    while time.monotonic() < deadline and ledger.redis(term).scard(f"{{t:{term}}}:vacant"):
        time.sleep(0.2)


def _note(action: str, term: int, after: dict[str, Any]) -> None:
    with transaction() as session:
        add_audit_entry(session, action, f"term:{term}", after=after, reason="command line")
