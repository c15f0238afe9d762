"""The waiting room's two limits: admissions per minute, and students at once."""

import time
from typing import Any

import pytest

from portal.waiting_room import room
from tests import cast as builders
from tests.waiting_room.conftest import Enter
from tests.waiting_room.rooms import limits, open_now


def test_no_more_students_are_inside_than_the_limit(term: Any, enter: Enter) -> None:
    window = builders.an_open_window(term)
    limits(term, window, at_once=3)
    kinds = [enter(window, student).kind for student in range(5)]
    assert kinds == ["called"] * 3 + ["waiting"] * 2
    room.leave(term.id, window.id, 1)
    assert room.queue_entry(term.id, window.id, 3).kind == "called"
    assert room.state(term.id, window.id).inside == 3


def test_no_more_students_are_admitted_per_minute_than_the_limit(term: Any, enter: Enter) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=60)
    began = time.monotonic()
    for student in range(40):
        enter(window, student)
    state = room.advance(term.id, window.id)
    most = 10 + int(time.monotonic() - began) + 1  # ten seconds' worth at once, then one a second
    assert 10 <= state.inside <= most
    assert state.waiting == 40 - state.inside


def test_opening_admits_one_second_of_the_rate(term: Any, enter: Enter) -> None:
    window = builders.a_coming_window(term)
    limits(term, window, per_minute=600)
    for student in range(60):
        enter(window, student)
    open_now(term, window)
    state = room.advance(term.id, window.id)
    assert 10 <= state.inside <= 10 + (state.at - state.opens) / 100  # by the ledger's clock


def test_admin_can_admit_everyone(term: Any, enter: Enter) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=0)
    for student in range(5):
        enter(window, student)
    assert room.set_limits(term.id, window.id, 0, 0, off=True).inside == 5


@pytest.mark.parametrize("wrong", [(-1, 5), (5, -1), (10**7, 5)])
def test_invalid_limits_are_refused(term: Any, wrong: tuple[int, int]) -> None:
    window = builders.an_open_window(term)
    with pytest.raises(ValueError, match="from 0 to"):
        room.set_limits(term.id, window.id, *wrong, off=False)


def test_setting_the_same_limits_again_admits_no_more(term: Any, enter: Enter) -> None:
    window = builders.an_open_window(term)
    began = time.monotonic()
    for _ in range(10):
        limits(term, window, per_minute=6)
        for student in range(5):
            enter(window, student)
    most = 2 + int((time.monotonic() - began) / 10)  # one in ten seconds
    assert room.state(term.id, window.id).inside <= most
