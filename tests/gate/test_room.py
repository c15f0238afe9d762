"""The waiting room: the order, the two limits, and places that are abandoned."""

import hashlib
import time
from collections.abc import Callable
from threading import Thread
from typing import Any

import pytest

from portal.backend import Backend
from portal.gate import room
from portal.gate.places import Place
from portal.gate.room import WindowShut
from portal.seats.answers import WindowView
from tests import cast as builders

Enter = Callable[..., Place]


def limits(term: Any, window: WindowView, per_minute: int = 6000, at_once: int = 3000) -> None:
    room.set_limits(term.id, window.id, per_minute, at_once, off=False)


def opening_in(term: Any, ms: int) -> WindowView:
    return builders.a_coming_window(term, minutes=ms / 60_000)


def until_open(term: Any, window: WindowView, patience: float = 10) -> None:
    deadline = time.monotonic() + patience
    while room.state(term.id, window.id).phase != "open":
        assert time.monotonic() < deadline
        time.sleep(0.01)


def test_where_nobody_waits_one_is_called_at_once(term: Any, enter: Enter) -> None:
    place = enter(builders.an_open_window(term), 7)
    assert (place.kind, place.number, place.ahead) == ("called", 1, 0)


def test_who_comes_before_the_opening_has_a_request_and_no_number(term: Any, enter: Enter) -> None:
    place = enter(builders.a_coming_window(term), 7)
    assert (place.kind, place.number, len(place.request)) == ("early", 0, 32)


def test_a_place_follows_the_student(term: Any, enter: Enter) -> None:
    window = builders.a_coming_window(term)
    assert enter(window, 7).request == enter(window, 7).request
    assert room.state(term.id, window.id).line == 1


def test_the_early_ones_are_in_the_order_that_the_seed_gives(term: Any, enter: Enter) -> None:
    window = opening_in(term, 400)
    limits(term, window, per_minute=0)
    promised = room.commitment(term.id, window.id)
    requests = [enter(window, student).request for student in range(1, 60)]
    until_open(term, window)
    late = enter(window, 100)
    seed = room.seed(term.id, window.id)
    assert hashlib.sha256(seed.encode()).hexdigest() == promised
    by_hand = sorted(requests, key=lambda each: hashlib.sha256(f"{seed}:{each}".encode()).digest())
    assert room.order(term.id, window.id) == by_hand
    assert by_hand != requests
    first = requests.index(by_hand[0]) + 1
    assert room.look(term.id, window.id, first).number == 1
    assert (late.number, late.ahead) == (60, 59)


def test_late_ones_are_first_come_first_served(term: Any, enter: Enter) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=0)
    places = [enter(window, student) for student in (5, 3, 9)]
    assert [place.ahead for place in places] == [0, 1, 2]
    limits(term, window, at_once=2)
    kinds = [room.look(term.id, window.id, student).kind for student in (5, 3, 9)]
    assert kinds == ["called", "called", "waiting"]


def test_no_more_are_in_at_once_than_the_limit(term: Any, enter: Enter) -> None:
    window = builders.an_open_window(term)
    limits(term, window, at_once=3)
    kinds = [enter(window, student).kind for student in range(5)]
    assert kinds == ["called"] * 3 + ["waiting"] * 2
    room.leave(term.id, window.id, 1)
    assert room.look(term.id, window.id, 3).kind == "called"
    assert room.state(term.id, window.id).inside == 3


def test_no_more_are_new_in_a_minute_than_the_limit(term: Any, enter: Enter) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=60)
    began = time.monotonic()
    for student in range(40):
        enter(window, student)
    state = room.step(term.id, window.id)
    most = 10 + int(time.monotonic() - began) + 1  # ten seconds' worth at once, then one a second
    assert 10 <= state.inside <= most
    assert state.waiting == 40 - state.inside


def test_an_admin_may_let_everyone_in(term: Any, enter: Enter) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=0)
    for student in range(5):
        enter(window, student)
    assert room.set_limits(term.id, window.id, 0, 0, off=True).inside == 5


def test_who_shows_no_sign_of_life_is_skipped_and_comes_back_to_the_front(
    term: Any, enter: Enter, backend: Backend
) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=0)
    sleeper = enter(window, 1).request
    for student in (2, 3):
        enter(window, student)
    asleep(backend, term, window, sleeper)
    limits(term, window, at_once=1)
    assert room.look(term.id, window.id, 2).kind == "called"
    back = room.look(term.id, window.id, 1)
    assert (back.kind, back.ahead, back.request) == ("waiting", 0, sleeper)
    assert room.look(term.id, window.id, 3).ahead == 1
    room.leave(term.id, window.id, 2)
    assert room.look(term.id, window.id, 1).kind == "called"


def test_who_stays_away_for_long_has_lost_the_place(
    term: Any, enter: Enter, backend: Backend
) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=0)
    sleeper = enter(window, 1).request
    asleep(backend, term, window, sleeper)
    limits(term, window)
    backend.redis.zadd(f"{{t:{term.id}}}:room:{window.id}:away", {sleeper: 1})
    assert room.look(term.id, window.id, 1).kind == "gone"
    again = enter(window, 1)
    assert (again.kind, again.number) == ("called", 2)
    assert again.request != sleeper


def test_who_is_called_and_does_not_come_makes_room_and_may_still_come(
    term: Any, enter: Enter, backend: Backend
) -> None:
    window = builders.an_open_window(term)
    limits(term, window, at_once=1)
    assert [enter(window, student).kind for student in (1, 2)] == ["called", "waiting"]
    visit_over(backend, term, window, 1)
    assert room.look(term.id, window.id, 2).kind == "called"
    assert room.look(term.id, window.id, 1).ahead == 0


def test_a_visit_that_is_over_gives_no_place_back(
    term: Any, enter: Enter, backend: Backend
) -> None:
    window = builders.an_open_window(term)
    limits(term, window, at_once=1)
    enter(window, 1)
    assert room.stay(term.id, window.id, 1)
    enter(window, 2)
    visit_over(backend, term, window, 1)
    assert room.look(term.id, window.id, 1).kind == "gone"
    assert room.stay(term.id, window.id, 1) is None
    assert enter(window, 1).number == 3


def test_only_who_was_called_may_stay(term: Any, enter: Enter) -> None:
    window = builders.an_open_window(term)
    limits(term, window, at_once=1)
    enter(window, 1)
    enter(window, 2)
    assert room.stay(term.id, window.id, 1)
    assert room.stay(term.id, window.id, 2) is None
    assert room.stay(term.id, window.id, 3) is None


def test_an_ended_window_lets_nobody_in(term: Any, enter: Enter) -> None:
    with pytest.raises(WindowShut):
        enter(builders.an_ended_window(term), 1)


def test_rooms_of_several_windows_do_not_mix(term: Any, enter: Enter) -> None:
    first, second = builders.an_open_window(term), builders.a_coming_window(term)
    assert (enter(first, 1).kind, enter(second, 1).kind) == ("called", "early")


def test_a_thousand_who_come_together_each_have_one_place(term: Any, enter: Enter) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=0)
    threads = [
        Thread(target=lambda: [enter(window, student) for student in range(250)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    numbers = sorted(room.look(term.id, window.id, student).number for student in range(250))
    assert numbers == list(range(1, 251))


def test_a_range_that_was_shown_is_compared_with_what_came_true(term: Any, enter: Enter) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=0)
    for student, (least, most) in enumerate([(0, 60_000), (50_000, 60_000)]):
        place = enter(window, student)
        room.say(term.id, window.id, place.request, least, most)
    limits(term, window)
    state = room.state(term.id, window.id)
    assert (state.right, state.wrong) == (1, 1)


def asleep(backend: Backend, term: Any, window: WindowView, request: str) -> None:
    """Let the last sign of life of a request be long ago."""
    backend.redis.zadd(f"{{t:{term.id}}}:room:{window.id}:seen", {request: 1})


def visit_over(backend: Backend, term: Any, window: WindowView, student: int) -> None:
    """Let a visit have ended."""
    backend.redis.zadd(f"{{t:{term.id}}}:room:{window.id}:in", {str(student): 1})
