"""While pages are slow, rooms admit a share of their limit per minute."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from portal.backend import Backend
from portal.core import latency
from portal.waiting_room import room, wait_estimates
from tests import cast as builders
from tests.waiting_room.conftest import Enter
from tests.waiting_room.rooms import limits

Pass = Callable[[float], None]
STEP = room.RULES["STEP"] / 1000


@pytest.fixture
def window(term: Any) -> Any:
    return builders.an_open_window(term)


def answers(backend: Backend, *, late: int = 0, quick: int = 0) -> None:
    """Let a web process give some answers and send their times."""
    for seconds, count in ((2.0, late), (0.01, quick)):
        for _ in range(count):
            latency.count(seconds)
    latency.send(backend.redis)


def advanced(term: Any, window: Any) -> float:
    """Advance all rooms after one step of time; return the share that the room admits."""
    time.sleep(STEP + 0.01)
    room.advance_all([term.id])
    return room.state(term.id, window.id).share


def test_share_falls_while_pages_are_slow_and_rises_slowly_afterwards(
    term: Any, window: Any, backend: Backend
) -> None:
    assert advanced(term, window) == 1
    shares = []
    for _ in range(2):
        answers(backend, late=20, quick=80)
        shares.append(advanced(term, window))
    assert shares[1] < shares[0] < 1
    backend.redis.delete(latency.SLOW_KEY)
    assert shares[1] < advanced(term, window) < shares[0]


def test_few_late_answers_among_many_do_not_count(term: Any, window: Any, backend: Backend) -> None:
    answers(backend, late=4)
    assert not latency.slow(backend.redis)
    answers(backend, late=5, quick=95)
    assert not latency.slow(backend.redis)
    answers(backend, late=6, quick=94)
    assert latency.slow(backend.redis)
    assert advanced(term, window) < 1


def test_share_applies_to_admissions_and_estimates(
    term: Any, window: Any, backend: Backend, enter: Enter
) -> None:
    limits(term, window, per_minute=600)
    for _ in range(3):
        answers(backend, late=100)
        share = advanced(term, window)
    began = time.monotonic()
    kinds = [enter(window, student).kind for student in range(120)]
    most = 600 * share * (10 + time.monotonic() - began) / 60
    assert kinds.count("called") <= most + 1
    assert kinds.count("called") < 100  # the burst of the limit
    last = room.queue_entry(term.id, window.id, 119)
    quick = wait_estimates.per_place(last.room)
    assert quick.slow == pytest.approx(quick.quick / share)


def test_many_processes_that_advance_rooms_lower_the_share_once(
    term: Any, window: Any, backend: Backend
) -> None:
    answers(backend, late=100)
    once = advanced(term, window)
    for _ in range(5):
        room.advance_all([term.id])
    assert room.state(term.id, window.id).share == once


def test_limits_apply_in_full_when_nothing_advances_rooms(
    term: Any, window: Any, backend: Backend
) -> None:
    answers(backend, late=100)
    assert advanced(term, window) < 1
    stale = room.state(term.id, window.id).at - room.RULES["STALE"]
    backend.redis.hset(f"{{t:{term.id}}}:room:{window.id}", "share_at", stale)
    assert room.state(term.id, window.id).share == 1


def test_an_admin_can_switch_it_off(
    term: Any, window: Any, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    answers(backend, late=100)
    monkeypatch.setattr("portal.core.flags.on", lambda name: name != "room_slowdown")
    assert advanced(term, window) == 1
