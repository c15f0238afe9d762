"""Abandoned places: skipped, kept for a while, or left on purpose."""

from typing import Any

from portal.backend import Backend
from portal.waiting_room import room
from tests import cast as builders
from tests.waiting_room.conftest import Enter
from tests.waiting_room.rooms import asleep, key, limits, visit_over


def test_silent_student_is_skipped_and_returns_to_the_front(
    term: Any, enter: Enter, backend: Backend
) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=0)
    sleeper = enter(window, 1).request
    for student in (2, 3):
        enter(window, student)
    asleep(backend, term, window, sleeper)
    limits(term, window, at_once=1)
    assert room.queue_entry(term.id, window.id, 2).kind == "called"
    back = room.queue_entry(term.id, window.id, 1)
    assert (back.kind, back.ahead, back.request) == ("waiting", 0, sleeper)
    assert room.queue_entry(term.id, window.id, 3).ahead == 1
    room.leave(term.id, window.id, 2)
    assert room.queue_entry(term.id, window.id, 1).kind == "called"


def test_student_who_is_away_too_long_loses_the_place(
    term: Any, enter: Enter, backend: Backend
) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=0)
    sleeper = enter(window, 1).request
    asleep(backend, term, window, sleeper)
    limits(term, window)
    backend.redis.zadd(key(term, window, "away"), {sleeper: 1})
    assert room.queue_entry(term.id, window.id, 1).kind == "gone"
    again = enter(window, 1)
    assert (again.kind, again.number) == ("called", 2)
    assert again.request != sleeper


def test_admitted_student_who_does_not_come_frees_the_space(
    term: Any, enter: Enter, backend: Backend
) -> None:
    window = builders.an_open_window(term)
    limits(term, window, at_once=1)
    assert [enter(window, student).kind for student in (1, 2)] == ["called", "waiting"]
    visit_over(backend, term, window, 1)
    assert room.queue_entry(term.id, window.id, 2).kind == "called"
    assert room.queue_entry(term.id, window.id, 1).ahead == 0


def test_no_student_is_skipped_while_no_page_answers(
    term: Any, enter: Enter, backend: Backend
) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=0)
    requests = [enter(window, student).request for student in range(5)]
    for request in requests:
        asleep(backend, term, window, request)
    long_ago = room.state(term.id, window.id).at - 300_000
    backend.redis.hset(key(term, window), "heard", str(long_ago))
    limits(term, window)
    assert room.advance(term.id, window.id).called == 0
    assert room.queue_entry(term.id, window.id, 4).kind == "called"
    kinds = [room.queue_entry(term.id, window.id, student).kind for student in range(5)]
    assert kinds == ["called"] * 5


def test_student_who_leaves_and_rejoins_has_the_same_place(term: Any, enter: Enter) -> None:
    early, late = builders.a_coming_window(term), builders.an_open_window(term)
    limits(term, late, per_minute=0)
    for window in (early, late):
        taken = [enter(window, student).request for student in (1, 2)]
        room.leave(term.id, window.id, 1)
        assert room.queue_entry(term.id, window.id, 1).kind == "none"
        assert enter(window, 1).request == taken[0]
        assert room.state(term.id, window.id).line == 2


def test_student_who_left_is_not_admitted(term: Any, enter: Enter) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=0)
    enter(window, 1)
    enter(window, 2)
    room.leave(term.id, window.id, 1)
    limits(term, window, at_once=1)
    assert room.queue_entry(term.id, window.id, 2).kind == "called"
    assert enter(window, 1).number == 3
