"""The waiting room: each student has one place, and is admitted in turn."""

from threading import Thread
from typing import Any

import pytest

from portal.backend import Backend
from portal.waiting_room import room
from portal.waiting_room.room import WindowEnded
from tests import cast as builders
from tests.waiting_room.conftest import Enter
from tests.waiting_room.rooms import limits


def test_student_is_admitted_at_once_if_the_queue_is_empty(term: Any, enter: Enter) -> None:
    entry = enter(builders.an_open_window(term), 7)
    assert (entry.kind, entry.number, entry.ahead) == ("called", 1, 0)


def test_early_student_has_a_request_and_no_number(term: Any, enter: Enter) -> None:
    entry = enter(builders.a_coming_window(term), 7)
    assert (entry.kind, entry.number, len(entry.request)) == ("early", 0, 32)


def test_place_belongs_to_the_student(term: Any, enter: Enter) -> None:
    window = builders.a_coming_window(term)
    assert enter(window, 7).request == enter(window, 7).request
    assert room.state(term.id, window.id).line == 1


def test_a_thousand_simultaneous_students_have_one_place_each(term: Any, enter: Enter) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=0)
    threads = [
        Thread(target=lambda: [enter(window, student) for student in range(250)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    numbers = sorted(room.queue_entry(term.id, window.id, student).number for student in range(250))
    assert numbers == list(range(1, 251))


def test_ended_window_admits_no_student(term: Any, enter: Enter) -> None:
    with pytest.raises(WindowEnded):
        enter(builders.an_ended_window(term), 1)


def test_unknown_window_stores_nothing(term: Any, backend: Backend) -> None:
    assert room.queue_entry(term.id, 888_888, 1).kind == "none"
    assert room.send_heartbeats(term.id, 888_888, [1]) == [1]
    assert room.extend_stay(term.id, 888_888, 1) is None
    assert not list(backend.redis.scan_iter(f"{{t:{term.id}}}:room:*"))


def test_rooms_of_windows_are_separate(term: Any, enter: Enter) -> None:
    first, second = builders.an_open_window(term), builders.a_coming_window(term)
    assert (enter(first, 1).kind, enter(second, 1).kind) == ("called", "early")


def test_shown_range_is_compared_with_the_actual_wait(term: Any, enter: Enter) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=0)
    for student, (least, most) in enumerate([(0, 60_000), (50_000, 60_000)]):
        entry = enter(window, student)
        room.record_estimate(term.id, window.id, entry.request, least, most)
    limits(term, window)
    state = room.state(term.id, window.id)
    assert (state.right, state.wrong) == (1, 1)
