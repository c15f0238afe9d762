"""The waiting room: the order, the two limits, and places that are abandoned."""

import hashlib
import json
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
    backend.redis.zadd(key(term, window, "away"), {sleeper: 1})
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


def test_who_leaves_the_line_and_comes_again_has_the_same_place(term: Any, enter: Enter) -> None:
    early, late = builders.a_coming_window(term), builders.an_open_window(term)
    limits(term, late, per_minute=0)
    for window in (early, late):
        taken = [enter(window, student).request for student in (1, 2)]
        room.leave(term.id, window.id, 1)
        assert room.look(term.id, window.id, 1).kind == "none"
        assert enter(window, 1).request == taken[0]
        assert room.state(term.id, window.id).line == 2


def test_who_has_left_is_not_called(term: Any, enter: Enter) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=0)
    enter(window, 1)
    enter(window, 2)
    room.leave(term.id, window.id, 1)
    limits(term, window, at_once=1)
    assert room.look(term.id, window.id, 2).kind == "called"
    assert enter(window, 1).number == 3


def test_a_busy_visit_goes_on_but_not_for_ever_while_others_wait(
    term: Any, enter: Enter, backend: Backend
) -> None:
    window = builders.an_open_window(term)
    limits(term, window, at_once=1)
    began = enter(window, 1).room.at
    first = room.stay(term.id, window.id, 1) or 0
    assert (room.stay(term.id, window.id, 1) or 0) >= first
    enter(window, 2)
    backend.redis.hset(key(term, window, "came"), "1", str(began - 14 * 60_000))
    backend.redis.zadd(key(term, window, "in"), {"1": began + 2000})
    ends = room.stay(term.id, window.id, 1) or 0
    assert began + 60_000 <= ends <= began + 61_000


def test_while_nobody_is_heard_nobody_is_skipped(term: Any, enter: Enter, backend: Backend) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=0)
    requests = [enter(window, student).request for student in range(5)]
    for request in requests:
        asleep(backend, term, window, request)
    long_ago = room.state(term.id, window.id).at - 300_000
    backend.redis.hset(key(term, window), "heard", str(long_ago))
    limits(term, window)
    assert room.step(term.id, window.id).called == 0
    assert room.look(term.id, window.id, 4).kind == "called"
    kinds = [room.look(term.id, window.id, student).kind for student in range(5)]
    assert kinds == ["called"] * 5


def test_a_clock_that_goes_back_makes_nobody_early(
    term: Any, enter: Enter, backend: Backend
) -> None:
    window = builders.an_open_window(term)
    enter(window, 1)
    backend.redis.hset(f"{{t:{term.id}}}:windows", str(window.id), coming(window))
    backend.redis.hset(key(term, window), "allowed_at", str(window.opens + 3_600_000))
    enter(window, 2)
    backend.redis.hset(f"{{t:{term.id}}}:windows", str(window.id), running(window))
    place = room.look(term.id, window.id, 2)
    assert (place.kind, place.number) == ("called", 2)


def test_a_room_that_lost_its_seed_is_entered_by_its_new_one(
    term: Any, enter: Enter, backend: Backend
) -> None:
    window = builders.a_coming_window(term)
    enter(window, 1)
    lost = room.seed(term.id, window.id)
    backend.redis.delete(key(term, window))
    assert enter(window, 2).kind == "early"
    kept = backend.redis.hget(key(term, window), "seed")
    assert kept == room.seed(term.id, window.id).encode()
    assert kept != lost.encode()


@pytest.mark.parametrize("wrong", [(-1, 5), (5, -1), (10**7, 5)])
def test_limits_that_make_no_sense_are_refused(term: Any, wrong: tuple[int, int]) -> None:
    window = builders.an_open_window(term)
    with pytest.raises(ValueError, match="from 0 to"):
        room.set_limits(term.id, window.id, *wrong, off=False)


def test_setting_the_same_limits_again_lets_no_more_in(term: Any, enter: Enter) -> None:
    window = builders.an_open_window(term)
    for _ in range(10):
        limits(term, window, per_minute=6)
        for student in range(5):
            enter(window, student)
    assert room.state(term.id, window.id).inside <= 2


def test_a_range_that_was_shown_is_compared_with_what_came_true(term: Any, enter: Enter) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=0)
    for student, (least, most) in enumerate([(0, 60_000), (50_000, 60_000)]):
        place = enter(window, student)
        room.say(term.id, window.id, place.request, least, most)
    limits(term, window)
    state = room.state(term.id, window.id)
    assert (state.right, state.wrong) == (1, 1)


def key(term: Any, window: WindowView, kind: str = "") -> str:
    """Where a room keeps something."""
    return f"{{t:{term.id}}}:room:{window.id}{kind and ':' + kind}"


def coming(window: WindowView) -> str:
    """The window as the ledger would keep it if it opened in an hour."""
    return as_kept(window, window.opens + 3_600_000)


def running(window: WindowView) -> str:
    """The window as the ledger keeps it."""
    return as_kept(window, window.opens)


def as_kept(window: WindowView, opens: int) -> str:
    kept = {"name": window.name, "opens": opens, "closes": window.closes + 3_600_000}
    return json.dumps({**kept, "state": "scheduled", "cohort": {}})


def asleep(backend: Backend, term: Any, window: WindowView, request: str) -> None:
    """Let the last sign of life of a request be long ago."""
    backend.redis.zadd(key(term, window, "seen"), {request: 1})


def visit_over(backend: Backend, term: Any, window: WindowView, student: int) -> None:
    """Let a visit have ended."""
    backend.redis.zadd(key(term, window, "in"), {str(student): 1})
