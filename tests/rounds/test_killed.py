"""Giving the seats of a round while its process is killed with SIGKILL again and again."""

import signal
import subprocess
import sys
import time
from typing import Any

from sqlalchemy import func, select

from portal.backend import backend
from portal.core.db import transaction
from portal.notifications.models import Notification
from portal.recorder.consistency import audit
from portal.recorder.models import LoggedEvent
from portal.recorder.recorder import drain
from portal.rounds import steps
from tests.cast import Cast, a_course, a_section, a_student, a_term
from tests.rounds.builders import a_round, again, choice, published, ranks

STUDENTS, SEATS = 30, 12
WORKER = """
import sys
from portal import backend, subscribers
from portal.core.settings import Settings
from portal.rounds import giving, steps
backend.connect(Settings.read())
subscribers.connect()
giving.AT_ONCE, giving.NOTED = 1, 4
steps.work(int(sys.argv[1]))
"""


def test_killed_process_leaves_nothing_half_done(cast: Cast) -> None:  # noqa: ARG001
    fall = a_term()
    few, many = (
        a_section(a_course(code), fall, capacity=seats, waitlist=STUDENTS)
        for code, seats in (("CSC-1", SEATS), ("MTH-1", STUDENTS))
    )
    found = a_round(fall)
    for number in range(STUDENTS):
        ranks(found, a_student(f"s{number}"), choice(few), choice(many))
    published(found)
    moves = STUDENTS + SEATS + (STUDENTS - SEATS)
    for kill_at in (3, 20, 45):
        _work_and_kill(fall.id, kill_at)
        assert again(found.id).state == "published"
    steps.work(fall.id)
    assert again(found.id).state == "applied"
    drain(fall.id)
    counts = backend().ledger.seats(fall.id)
    assert (counts[few.id].taken, counts[few.id].waiting) == (SEATS, STUDENTS - SEATS)
    assert counts[many.id].taken == STUDENTS
    with transaction() as session:
        names = LoggedEvent.name.in_(("enrolled", "waitlisted"))
        assert session.scalar(select(func.count()).where(names)) == moves
        told = select(func.count()).where(Notification.kind == "round")
        assert session.scalar(told) == STUDENTS
    assert audit.audit_term(fall.id)["clean"]


def _work_and_kill(term: int, events: int) -> None:
    """Give seats in a process of its own, and kill it once so many events have happened."""
    process = subprocess.Popen([sys.executable, "-c", WORKER, str(term)])
    deadline = time.monotonic() + 60
    while _given(term) < events and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.002)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL, "it had ended before"


def _given(term: int) -> int:
    counts: Any = backend().ledger.seats(term).values()
    return sum(each.taken + each.waiting for each in counts)
