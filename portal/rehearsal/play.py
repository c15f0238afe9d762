"""Plays a rehearsal from beginning to end, in whatever process was called to it."""

import logging
import secrets
import time
from collections.abc import Callable
from typing import Any

from sqlalchemy import func, select

from portal.backend import backend
from portal.core.db import transaction
from portal.people.models import Student as StudentRow
from portal.recorder.audit import audit_term
from portal.rehearsal import book, report
from portal.rehearsal import term as terms
from portal.rehearsal.crowd import Crowd, Time
from portal.rehearsal.curves import OPENS
from portal.rehearsal.models import Rehearsal
from portal.rehearsal.student import Answer, Student
from portal.rehearsal.term import Practice
from portal.running.door import not_ready
from portal.windows import warmth

EVERY = 1.0  # seconds between two looks at it
SETTLED = 10.0  # seconds for free seats to go to whoever waits and may have them

log = logging.getLogger(__name__)
Tell = Callable[[dict[str, Any]], None]


class NotPlayableError(Exception):
    """It can't be played; the message says why."""


def play(number: int, tell: Tell = lambda _standing: None) -> None:
    """Play it, unless somebody has; what comes of it is kept with it, a failure too."""
    wanted = book.take(number)
    if wanted is None:
        return
    try:
        with book.beating(number):
            found = _play(wanted, tell)
    except NotPlayableError as why:
        book.end(number, error=str(why))
        return
    except Exception as error:
        log.exception("Rehearsal %s failed", number)
        book.end(number, error=f"{type(error).__name__}: {error}"[:2000])
        raise
    except BaseException:
        book.end(number, error="It was broken off.")
        raise
    book.end(number, step="done", report=found)


def _play(wanted: Rehearsal, tell: Tell) -> dict[str, Any]:
    settings = backend().settings
    if not settings.passwords:
        raise NotPlayableError("Made-up students log in with passwords: FAIRSEAT_PASSWORDS is 0.")
    if missing := not_ready(settings.url):
        raise NotPlayableError(f"The portal is not ready at {settings.url}: {missing}.")
    password = secrets.token_urlsafe(24)
    practice = terms.make(wanted.id, wanted.students, password)
    crowd = _crowd(practice, settings.url, password, wanted.seconds)
    goes_on = book.note(wanted.id, step="playing", term_id=practice.term)
    crowd.begin()
    try:
        while goes_on and crowd.time.now() < 1:
            crowd.ended.wait(min(EVERY, crowd.time.until(1.0)))
            crowd.measure()
            standing = crowd.standing()
            goes_on = book.note(wanted.id, now=standing)
            tell(standing)
    except KeyboardInterrupt:
        goes_on = False
    finally:
        crowd.end()
    book.note(wanted.id, step="auditing", now=crowd.standing())
    return _report(crowd, practice, stopped=not goes_on)


def _crowd(practice: Practice, address: str, password: str, seconds: int) -> Crowd:
    """Its students, and the window that they wait for: it closes with the last second."""
    begun, now = Time(time.monotonic(), seconds), backend().ledger.now()
    terms.schedule(practice, now + int(1000 * OPENS * seconds), now + 1000 * (seconds + 5))
    answers: list[Answer] = []
    students = [
        Student(address, practice.term, username, answers.append) for username in practice.usernames
    ]
    return Crowd(students, password, practice.sections, begun, answers)


def _report(crowd: Crowd, practice: Practice, *, stopped: bool) -> dict[str, Any]:
    _settle(practice.term)
    seats = backend().ledger.seats(practice.term).values()
    audited = audit_term(practice.term)
    with transaction() as session:
        real = select(func.count()).select_from(StudentRow).where(StudentRow.deleted_at.is_(None))
        students = (session.scalar(real) or 0) - len(practice.numbers)
    processes = len(warmth.processes())
    answers, turns = list(crowd.answers), list(crowd.turns.values())
    seen = report.Seen(answers, turns, crowd.time, crowd.work)
    return {
        "stopped": stopped,
        "phases": report.phases(answers, crowd.time),
        "waits": report.waits(turns),
        "seats": {
            "taken": sum(each.taken for each in seats),
            "of": sum(each.capacity for each in seats),
            "waiting": sum(each.waiting for each in seats),
            "oversold": sum(each.over for each in seats),
        },
        "outcomes": dict(crowd.outcomes),
        "audit": {
            "clean": audited["clean"],
            "events": audited["events"],
            "differences": len(audited["differences"]),
        },
        "advice": report.advise(seen, processes, max(students, len(practice.numbers))),
    }


def _settle(term: int) -> None:
    """Close the window, and let the workers do what there is to do."""
    for window in backend().ledger.windows(term):
        if window.closes > backend().ledger.now():
            _shut(term, window.id, begun=window.opens <= backend().ledger.now())
    until = time.monotonic() + SETTLED
    while time.monotonic() < until:
        if not backend().redis.scard(f"{{t:{term}}}:vacant"):
            return
        time.sleep(0.2)


def _shut(term: int, window: int, *, begun: bool) -> None:
    ledger = backend().ledger
    (ledger.close_window if begun else ledger.cancel_window)(term, window, "rehearsal")
