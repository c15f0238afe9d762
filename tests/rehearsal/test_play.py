"""A rehearsal as a whole: played by a process of its own, stopped, killed, and never two."""

from threading import Thread
from typing import Any

import pytest
from sqlalchemy import func, select, update

from portal.backend import Backend
from portal.catalog.term_catalog import live_terms
from portal.core.db import transaction
from portal.people.models import AuditEntry
from portal.rehearsal import book, play, way
from portal.rehearsal import term as terms
from portal.rehearsal.models import Rehearsal
from portal.rehearsal.way import WindowInTheWay
from tests import cast as builders
from tests.live.nodes import Node
from tests.record.processes import ready, running, wait_for

STUDENTS, LONG = 3, 60 * 60  # seconds, of which only the beginning is played
LONG_AGO = func.now() - 2 * book.STILL


def begin(students: int = STUDENTS, seconds: int = LONG, *, anyway: bool = False) -> int | None:
    with transaction() as session:
        return book.begin(session, students, seconds, None, anyway=anyway)


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
        session.execute(update(Rehearsal).values(moved_at=LONG_AGO))
    assert begin()
    assert found(number).error == book.LOST
    assert live_terms() == []


def test_one_that_is_long_at_something_is_not_lost(backend: Backend) -> None:  # noqa: ARG001
    number = begun()
    book.take(number)
    with transaction() as session:
        old = session.scalar(update(Rehearsal).values(moved_at=LONG_AGO).returning(func.now()))
    with book.beating(number, every=0.01):
        wait_for(lambda: found(number).moved_at > old)
        assert begin() is None
    assert found(number).busy


@pytest.mark.parametrize(("minutes", "in_the_way"), [(30, True), (24 * 60, False)])
def test_it_is_not_begun_before_a_window_of_real_students(
    backend: Backend,  # noqa: ARG001
    minutes: float,
    in_the_way: bool,  # noqa: FBT001
) -> None:
    window = builders.a_coming_window(builders.a_term(), minutes)
    if not in_the_way:
        assert begin()
        return
    with pytest.raises(WindowInTheWay) as told:
        begin()
    assert told.value.window == window.name
    assert begin(seconds=60)  # it would be over by then


def test_it_is_begun_beside_an_open_window_only_if_that_is_meant(backend: Backend) -> None:
    term = builders.a_term()
    window = builders.an_open_window(term)
    with pytest.raises(WindowInTheWay) as told:
        begin()
    assert (told.value.window, told.value.term) == (window.name, term.name)
    assert begin(anyway=True)
    backend.ledger.close_window(term.id, window.id, "registrar")
    with transaction() as session:
        way.clear(session, LONG)


def test_a_window_for_practice_is_in_nobodys_way(backend: Backend) -> None:
    practice = terms.make(1, STUDENTS, "let us practise")
    now = backend.ledger.now()
    terms.schedule(practice, now - 1000, now + 600_000)
    assert begin()


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
