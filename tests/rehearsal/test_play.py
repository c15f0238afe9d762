"""A rehearsal as a whole: played by a process of its own, stopped, killed, and never two."""

from threading import Thread
from typing import Any

import pytest
from sqlalchemy import func, select, update

from portal.backend import Backend
from portal.catalog.terms import live_terms
from portal.db import transaction
from portal.people.models import AuditEntry
from portal.rehearsal import book, play
from portal.rehearsal import term as terms
from portal.rehearsal.models import Rehearsal
from tests.live.nodes import Node
from tests.record.processes import ready, running, wait_for

STUDENTS, LONG = 3, 60 * 60  # seconds, of which only the beginning is played


def begin(students: int = STUDENTS, seconds: int = LONG) -> int | None:
    with transaction() as session:
        return book.begin(session, students, seconds, None)


def begun() -> int:
    number = begin()
    assert number
    return number


def found(number: int) -> Any:
    with transaction() as session:
        return session.get_one(Rehearsal, number)


def stop(number: int) -> bool:
    with transaction() as session:
        return book.stop(session, number, None)


def test_it_is_played_until_it_is_stopped_and_its_report_stays(
    portal: Node, backend: Backend
) -> None:
    with running(("worker", "record"), ("worker", "promote")):
        ready("record", "promote")
        number = begun()
        playing = Thread(target=play.play, args=(number,), daemon=True)
        playing.start()
        wait_for(lambda: found(number).now.get("phase") == "lobby")
        [term] = live_terms()
        assert term.practice
        assert [each.state for each in backend.ledger.windows(term.id)] == ["scheduled"]
        assert stop(number)
        playing.join(200)
        assert not playing.is_alive()
    assert live_terms() == []
    ended = found(number)
    assert (ended.busy, ended.step, ended.error) == (None, "done", "")
    assert ended.report["stopped"]
    assert ended.report["audit"] == {
        "clean": True,
        "events": ended.report["audit"]["events"],
        "differences": 0,
    }
    assert ended.report["seats"]["oversold"] == 0
    assert [each.state for each in backend.ledger.windows(term.id)] == ["canceled"]
    assert not stop(number)
    assert portal.child.alive


def test_it_is_not_played_against_a_portal_that_is_not_ready(portal: Node) -> None:
    number = begun()
    play.play(number)
    assert f"is not ready at {portal.origin}" in found(number).error
    assert begin()


def test_there_is_one_at_a_time(backend: Backend) -> None:  # noqa: ARG001
    assert begin()
    assert begin() is None


@pytest.mark.parametrize(
    ("students", "seconds"),
    [(1, 60), (book.MOST_STUDENTS + 1, 60), (9, 1), (9, book.LONGEST + 1)],
)
def test_it_is_bounded(backend: Backend, students: int, seconds: int) -> None:  # noqa: ARG001
    with pytest.raises(ValueError, match="students"):
        begin(students, seconds)


def test_one_is_played_once(backend: Backend) -> None:  # noqa: ARG001
    number = begun()
    assert book.take(number)
    play.play(number)  # as a worker that was called twice would
    assert found(number).step == "making"


def test_one_whose_process_was_killed_stands_in_nobodys_way(backend: Backend) -> None:  # noqa: ARG001
    number = begun()
    book.take(number)
    terms.make(number, STUDENTS, "let us practise")
    with transaction() as session:
        moved = func.now() - 2 * book.STILL
        session.execute(update(Rehearsal).values(moved_at=moved))
    assert begin()
    assert found(number).error == book.LOST
    assert live_terms() == []


def test_the_trail_says_who_began_and_stopped_it(backend: Backend) -> None:  # noqa: ARG001
    number = begun()
    assert stop(number)
    with transaction() as session:
        entries = session.scalars(select(AuditEntry).order_by(AuditEntry.id)).all()
    assert [(each.action, each.subject) for each in entries] == [
        ("rehearsal.begin", f"rehearsal:{number}"),
        ("rehearsal.stop", f"rehearsal:{number}"),
    ]
    assert entries[0].after == {"students": STUDENTS, "seconds": LONG}
