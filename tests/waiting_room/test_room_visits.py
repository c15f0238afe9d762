"""Visits after the admission: who may stay, how long, and what happens to the place."""

from typing import Any

from portal.backend import Backend
from portal.waiting_room import room
from portal.waiting_room.room import RULES
from tests import cast as builders
from tests.waiting_room.conftest import Enter
from tests.waiting_room.rooms import key, limits, visit_over


def test_only_admitted_students_may_stay(term: Any, enter: Enter) -> None:
    window = builders.an_open_window(term)
    limits(term, window, at_once=1)
    enter(window, 1)
    enter(window, 2)
    assert room.extend_stay(term.id, window.id, 1)
    assert room.extend_stay(term.id, window.id, 2) is None
    assert room.extend_stay(term.id, window.id, 3) is None


def test_ended_visit_gives_no_place_back(term: Any, enter: Enter, backend: Backend) -> None:
    window = builders.an_open_window(term)
    limits(term, window, at_once=1)
    enter(window, 1)
    assert room.extend_stay(term.id, window.id, 1)
    enter(window, 2)
    visit_over(backend, term, window, 1)
    assert room.queue_entry(term.id, window.id, 1).kind == "gone"
    assert room.extend_stay(term.id, window.id, 1) is None
    assert enter(window, 1).number == 3


def test_busy_visit_is_limited_while_others_wait(term: Any, enter: Enter, backend: Backend) -> None:
    window = builders.an_open_window(term)
    limits(term, window, at_once=1)
    began = enter(window, 1).room.at
    first = room.extend_stay(term.id, window.id, 1) or 0
    assert (room.extend_stay(term.id, window.id, 1) or 0) >= first
    enter(window, 2)
    backend.redis.hset(key(term, window, "came"), "1", str(began - 14 * 60_000))
    backend.redis.zadd(key(term, window, "in"), {"1": began + 2000})
    ends = room.extend_stay(term.id, window.id, 1) or 0
    assert began + 60_000 <= ends <= began + 61_000


def test_turn_is_as_long_before_the_first_page_as_after_it(
    term: Any, enter: Enter, backend: Backend
) -> None:
    window = builders.an_open_window(term)
    limits(term, window, at_once=1)
    for _ in range(2):  # the second turn after a visit that is over
        called = enter(window, 1)
        enter(window, 2)
        room.extend_stay(term.id, window.id, 1)
        begun = room.queue_entry(term.id, window.id, 1)
        assert called.last == called.room.at + RULES["LONGEST"]
        assert called.last <= begun.last <= begun.room.at + RULES["LONGEST"]
        room.leave(term.id, window.id, 2)
        backend.redis.hincrby(key(term, window, "came"), "1", -60_000)
        visit_over(backend, term, window, 1)
        enter(window, 1)
