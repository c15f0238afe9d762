"""After pages were slow, rooms admit a share of their limit per minute for a while."""

import time
from typing import Any

import pytest

from portal.backend import Backend
from portal.core import latency
from portal.core.latency import LateAnswers
from portal.waiting_room import room
from tests import cast as builders
from tests.waiting_room.conftest import Enter
from tests.waiting_room.rooms import limits

STEP = room.RULES["STEP"]


@pytest.fixture
def window(term: Any) -> Any:
    return builders.an_open_window(term)


def answers(backend: Backend, *, late: int = 0, quick: int = 0) -> None:
    """Let a web process give some answers and send their times."""
    for seconds, count in ((2.0, late), (0.01, quick)):
        for _ in range(count):
            latency.count(seconds)
    latency.send(backend.redis)


def share(term: Any, window: Any) -> float:
    return room.state(term.id, window.id).share


def cut(term: Any, window: Any, times: int = 1) -> float:
    """Let pages be slow for some steps; return the share that the room admits then."""
    for _ in range(times):
        room.advance_all([term.id], slow=True)
        time.sleep(STEP / 1000)
    return share(term, window)


def moved(backend: Backend, term: Any, window: Any, seconds: float) -> None:
    """Let the last cut be later by so many seconds."""
    key = f"{{t:{term.id}}}:room:{window.id}"
    backend.redis.hincrby(key, "share_at", int(seconds * 1000))


def test_share_falls_while_pages_are_slow_and_rises_slowly_afterwards(
    term: Any, window: Any, backend: Backend
) -> None:
    assert share(term, window) == 1
    once, thrice = cut(term, window), cut(term, window, 2)
    assert thrice < once < 1
    moved(backend, term, window, -10)
    assert thrice + 0.1 <= share(term, window) < thrice + 0.2
    moved(backend, term, window, -100)
    assert share(term, window) == 1


def test_it_never_falls_to_nothing(term: Any, window: Any, backend: Backend) -> None:
    for _ in range(60):
        room.advance_all([term.id], slow=True)
        moved(backend, term, window, -STEP / 1000)
    assert 0.09 < share(term, window) < 0.12


def test_processes_that_advance_rooms_at_once_cut_the_share_once(term: Any, window: Any) -> None:
    for _ in range(5):
        room.advance_all([term.id], slow=True)
    assert share(term, window) >= 0.9


def test_a_clock_that_went_back_restores_the_limit(
    term: Any, window: Any, backend: Backend
) -> None:
    cut(term, window)
    moved(backend, term, window, 3600)
    assert share(term, window) == 1
    room.advance_all([term.id], slow=True)
    assert share(term, window) < 1


def test_a_room_before_its_opening_keeps_its_limit(term: Any) -> None:
    coming = builders.a_coming_window(term)
    room.advance_all([term.id], slow=True)
    assert share(term, coming) == 1


def test_an_admin_can_switch_it_off_at_once(
    term: Any, window: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cut(term, window) < 1
    monkeypatch.setattr("portal.core.flags.on", lambda name: name != "room_slowdown")
    room.advance_all([term.id], slow=True)
    assert share(term, window) == 1


def test_share_applies_to_admissions(
    term: Any, window: Any, backend: Backend, enter: Enter
) -> None:
    limits(term, window, per_minute=600)
    for _ in range(60):
        room.advance_all([term.id], slow=True)
        moved(backend, term, window, -STEP / 1000)
    began = time.monotonic()
    kinds = [enter(window, student).kind for student in range(120)]
    state = room.state(term.id, window.id)
    took = time.monotonic() - began
    assert kinds.count("called") <= 600 * state.share * (10 + took) / 60 + 1
    assert kinds.count("called") < 50  # the burst of the limit is 100


def test_few_late_answers_among_many_do_not_count(backend: Backend) -> None:
    latency.send(backend.redis)  # of the tests before
    late = LateAnswers(backend.redis)
    late.too_many()
    for count, quick, expected in ((4, 0, False), (5, 95, False), (6, 94, True), (0, 0, False)):
        answers(backend, late=count, quick=quick)
        assert late.too_many() == expected


def test_late_answers_of_all_processes_count_together(backend: Backend) -> None:
    answers(backend, late=6)  # and those of the tests before
    late = LateAnswers(backend.redis)
    assert not late.too_many()  # those were before it
    for _ in range(3):
        answers(backend, late=2)
    assert late.too_many()
