"""Wait estimates by the limits and the pace, and poll intervals."""

import random
from collections import Counter

import pytest

from portal.waiting_room import wait_estimates
from portal.waiting_room.room import QueueEntry, RoomState
from portal.waiting_room.wait_estimates import MINUTE, NEVER

NOW = 1_000_000 * MINUTE
FIELDS = {"phase": "open", "per_minute": 600, "at_once": 100, "off": False, "inside": 0}
NOBODY = {"line": 1000, "called": 0, "waiting": 1000, "right": 0, "wrong": 0}


def a_room(pace: dict[int, int] | None = None, **fields: float) -> RoomState:
    """Return a room that opened five minutes ago; `pace` by half minutes since."""
    opens = NOW - 5 * MINUTE
    moved = tuple((opens + slot * 30_000, count) for slot, count in (pace or {}).items())
    return RoomState(**{"at": NOW, "opens": opens, **FIELDS, **NOBODY, "pace": moved, **fields})  # type: ignore[arg-type]


def minutes(ahead: int, room: RoomState, kind: str = "waiting") -> tuple[int, int]:
    entry = QueueEntry(kind, room, "request", NOW, ahead + 1, ahead)  # type: ignore[arg-type]
    return wait_estimates.estimate(entry).minutes


def test_estimate_uses_the_rate_limit_while_the_room_has_space() -> None:
    assert minutes(99, a_room()) == (0, 1)
    assert minutes(1200, a_room(at_once=5000)) == (1, 3)


def test_after_pages_were_slow_the_longest_wait_follows_from_what_was_admitted_lately() -> None:
    limits = {"per_minute": 4000, "at_once": 40_000, "share": 0.05}
    known = a_room({9: 1000}, **limits)  # the slot before this moment
    assert minutes(4000, known) == (0, 3)
    assert minutes(4000, a_room(**limits)) == (0, 21)
    assert minutes(4000, a_room(per_minute=4000, at_once=40_000)) == (0, 2)


def test_first_student_without_a_free_place_waits_for_a_visit_to_end() -> None:
    visits = a_room(inside=90)
    assert minutes(9, visits) == (0, 1)
    assert minutes(10, visits)[1] > 1


def test_estimate_of_a_full_room_waits_for_visits_to_end() -> None:
    least, most = minutes(400, a_room())
    assert (least, most) == (6, 38)


def test_estimate_of_a_full_room_uses_its_pace() -> None:
    steady = dict.fromkeys(range(1, 10), 10)
    known, guessed = minutes(100, a_room(steady, inside=100)), minutes(100, a_room(inside=100))
    assert known[0] <= 5 <= known[1]
    assert known[1] - known[0] < guessed[1] - guessed[0]


def test_estimate_of_a_queue_that_slowed_down_spans_both_paces() -> None:
    slowed = a_room(dict.fromkeys(range(1, 7), 20) | dict.fromkeys(range(7, 10), 6), inside=100)
    least, most = minutes(400, slowed)
    assert least <= 400 / 40
    assert most >= 400 / 12


def test_the_same_pace_says_less_soon_after_the_opening() -> None:
    full = {"at_once": 1000, "inside": 1000}
    young = a_room(dict.fromkeys(range(6, 10), 100), opens=NOW - 2 * MINUTE, **full)
    old = a_room(dict.fromkeys(range(-10, 10), 100), opens=NOW - 10 * MINUTE, **full)
    (least, most), later = minutes(4000, young), minutes(4000, old)
    assert least < later[0] < 20 < later[1] < most


def test_rush_at_the_opening_is_no_pace() -> None:
    full = a_room({0: 100}, inside=100)
    assert wait_estimates.per_place(full)[:2] == wait_estimates.per_place(a_room(inside=100))[:2]


def test_estimate_is_unknown_while_the_queue_stands_still() -> None:
    for stopped in (a_room(per_minute=0), a_room(at_once=0)):
        assert minutes(1, stopped)[1] * MINUTE == NEVER


def test_estimate_is_zero_if_everyone_is_admitted() -> None:
    assert minutes(1000, a_room(off=True)) == (0, 1)


def test_early_student_may_be_first_or_last() -> None:
    assert minutes(0, a_room(phase="before"), kind="early")[0] == 0
    last = minutes(1000, a_room(phase="before"))[1]
    assert minutes(0, a_room(phase="before"), kind="early")[1] == last


@pytest.mark.parametrize("limit", [1, 60, 6000])
def test_nearer_pages_poll_more_often(limit: int) -> None:
    room = a_room(per_minute=limit)
    entries = [QueueEntry("waiting", room, ahead=each) for each in (0, 500, 10_000)]
    seconds = [wait_estimates.poll_interval(each) for each in entries]
    assert 2.7 <= seconds[0] <= 3.3
    assert seconds[0] < seconds[1] <= 132
    assert 54 <= seconds[2] <= 132


def test_ten_thousand_pages_poll_less_than_250_times_a_second() -> None:
    room = a_room(per_minute=6000)
    entries = [QueueEntry("waiting", room, ahead=each) for each in range(10_000)]
    every = [wait_estimates.poll_interval(each) for each in entries]
    assert sum(1 / seconds for seconds in every) < 250


@pytest.mark.parametrize(("line", "limit"), [(8000, 4000), (20_000, 6000)])
def test_students_without_a_socket_enter_at_the_pace_of_admissions(line: int, limit: int) -> None:
    """They poll from the opening on as they are told, in a queue that moves as fast as it may."""
    polls, entered, late = Counter[int](), Counter[int](), []
    for place in range(line):
        now, turn = random.uniform(0, 5), place * 60 / limit
        while now < turn:
            ahead = place - int(now * limit / 60)
            entry = QueueEntry("waiting", a_room(per_minute=limit), ahead=ahead)
            now += wait_estimates.poll_interval(entry)
            polls[int(now) // 5] += 1
        entered[int(now) // 5] += 1
        late.append(now - turn)
    a_second = limit / 60
    assert max(entered.values()) / 5 < 1.5 * a_second
    assert max(polls.values()) / 5 < 4 * a_second
    assert sum(late) / line < 25


def test_early_pages_spread_their_polls_after_the_opening() -> None:
    soon = a_room(opens=NOW + 20_000, line=2000)
    requested = [wait_estimates.poll_interval(QueueEntry("early", soon)) for _ in range(200)]
    assert min(requested) >= 18
    assert max(requested) - min(requested) > 10
