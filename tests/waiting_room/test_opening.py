"""Rooms open at their time without requests, and are removed afterwards."""

import time
from dataclasses import replace
from typing import Any

import pytest

from portal.backend import Backend
from portal.waiting_room import room
from portal.waiting_room.room import LONGEST_PAUSE, advance_all
from tests import cast as builders
from tests.waiting_room.conftest import Enter
from tests.waiting_room.rooms import stored_window

DAY = 24 * 60 * builders.MINUTE


def test_rooms_are_due_at_the_next_opening_and_within_a_second(
    term: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = builders.a_term("Spring 2031")
    assert advance_all([term.id, other.id]) == LONGEST_PAUSE
    builders.a_coming_window(term, minutes=5)
    assert advance_all([term.id, other.id]) == LONGEST_PAUSE
    monkeypatch.setattr("portal.waiting_room.room.LONGEST_PAUSE", 3600.0)
    assert 240 < advance_all([term.id, other.id]) <= 300
    builders.a_coming_window(other, minutes=3)
    assert 120 < advance_all([term.id, other.id]) <= 180


def test_first_students_are_admitted_at_the_opening_without_a_request(
    term: Any, enter: Enter
) -> None:
    window = builders.a_coming_window(term, minutes=1 / 60)
    for student in (1, 2):
        enter(window, student)
    while room.state(term.id, window.id).inside == 0:
        time.sleep(advance_all([term.id]))
    assert room.state(term.id, window.id).inside == 2


def test_empty_room_is_left_alone(term: Any, backend: Backend) -> None:
    window = builders.an_open_window(term)
    advance_all([term.id])
    assert backend.redis.keys(f"{{t:{term.id}}}:room:{window.id}*") == []


def test_only_the_order_of_a_room_is_kept_after_a_day(
    term: Any, enter: Enter, backend: Backend
) -> None:
    window = builders.an_open_window(term)
    request = enter(window, 1).request
    enter(window, 2)
    room.record_estimate(term.id, window.id, request, 0, 1)
    for after, parts in ((DAY // 2, 7), (DAY + builders.MINUTE, 2)):
        end = room.state(term.id, window.id).at - after
        ended = replace(window, opens=end - builders.MINUTE, closes=end)
        backend.redis.hset(f"{{t:{term.id}}}:windows", str(window.id), stored_window(ended))
        advance_all([term.id])
        left = backend.redis.keys(f"{{t:{term.id}}}:room:{window.id}:*")
        assert len(left) >= parts
        assert {b"line", b"who"} <= {key.rpartition(b":")[2] for key in left}
    assert len(left) == 2
    assert room.state(term.id, window.id).line == 2
