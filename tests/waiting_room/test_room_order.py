"""A room admits early students in the order of the draw, late ones as they came."""

import hashlib
from dataclasses import replace
from typing import Any

from portal.backend import Backend
from portal.waiting_room import draw, room
from portal.windows import draw_seeds
from tests import cast as builders
from tests.waiting_room.conftest import Enter
from tests.waiting_room.rooms import key, limits, open_now, stored_window


def test_early_students_are_in_the_seeds_order(term: Any, enter: Enter) -> None:
    window = builders.a_coming_window(term)
    limits(term, window, per_minute=0)
    promised = draw_seeds.commitment(term.id, window.id)
    requests = [enter(window, student).request for student in range(1, 60)]
    open_now(term, window)
    late = enter(window, 100)
    seed = draw_seeds.seed(term.id, window.id)
    assert hashlib.sha256(seed.encode()).hexdigest() == promised
    expected = sorted(requests, key=lambda each: hashlib.sha256(f"{seed}:{each}".encode()).digest())
    assert draw.drawn_requests(term.id, window.id) == expected
    assert expected != requests
    first = requests.index(expected[0]) + 1
    assert room.queue_entry(term.id, window.id, first).number == 1
    assert (late.number, late.ahead) == (60, 59)


def test_late_students_are_first_come_first_served(term: Any, enter: Enter) -> None:
    window = builders.an_open_window(term)
    limits(term, window, per_minute=0)
    places = [enter(window, student) for student in (5, 3, 9)]
    assert [position.ahead for position in places] == [0, 1, 2]
    limits(term, window, at_once=2)
    kinds = [room.queue_entry(term.id, window.id, student).kind for student in (5, 3, 9)]
    assert kinds == ["called", "called", "waiting"]


def test_clock_that_goes_back_makes_no_student_early(
    term: Any, enter: Enter, backend: Backend
) -> None:
    window, windows = builders.an_open_window(term), f"{{t:{term.id}}}:windows"
    enter(window, 1)
    in_an_hour = window.opens + 3_600_000
    backend.redis.hset(windows, str(window.id), stored_window(replace(window, opens=in_an_hour)))
    backend.redis.hset(key(term, window), "allowed_at", str(in_an_hour))
    enter(window, 2)
    backend.redis.hset(windows, str(window.id), stored_window(window))
    entry = room.queue_entry(term.id, window.id, 2)
    assert (entry.kind, entry.number) == ("called", 2)


def test_room_that_lost_its_seed_uses_the_new_one(
    term: Any, enter: Enter, backend: Backend
) -> None:
    window = builders.a_coming_window(term)
    enter(window, 1)
    lost = draw_seeds.seed(term.id, window.id)
    backend.redis.delete(key(term, window))
    assert enter(window, 2).kind == "early"
    stored = backend.redis.hget(key(term, window), "seed")
    assert stored == draw_seeds.seed(term.id, window.id).encode()
    assert stored != lost.encode()


def test_student_whose_id_is_a_prefix_finds_their_own_request(term: Any, enter: Enter) -> None:
    window = builders.a_coming_window(term)
    mine = {student: enter(window, student).request for student in (12, 1, 123)}
    drawn = draw.drawn_requests(term.id, window.id)
    for student, request in mine.items():
        assert draw.position_of(term.id, window.id, student) == drawn.index(request) + 1
    assert draw.position_of(term.id, window.id, 2) == 0
