"""The report: figures of each phase, and what follows from them for rooms and web processes."""

import pytest

from portal.rehearsal import report
from portal.rehearsal.crowd import Time, Turn
from portal.rehearsal.curves import BEGINS
from portal.rehearsal.student import Answer

TIME = Time(begun=1000.0, lasts=400.0)  # the rush from 1100 to 1200
QUICK, SLOW = 0.02, 2.0


def answers(
    per_second: int, seconds: float, begin: float = 1100.0, lasts: int = 100
) -> list[Answer]:
    """So many a second, each of which took so many seconds."""
    count = per_second * lasts
    return [Answer("claim", begin + at / per_second, seconds, 200) for at in range(count)]


def turns(count: int) -> list[Turn]:
    """So many who came early and were let in ten seconds after the opening."""
    return [Turn(1100.0, 1110.0) for _ in range(count)]


def test_each_phase_that_has_begun_has_its_figures() -> None:
    refused = [Answer("claim", 1150.0, QUICK, 422), Answer("claim", 1150.0, QUICK, 503)]
    lost = [Answer("claim", 1150.0, QUICK, 0)]
    lobby, rush = report.phases(
        [Answer("login", 1001.0, 1.0, 302), *answers(1, QUICK), *refused, *lost], TIME
    )
    assert (lobby["name"], lobby["answers"], lobby["p50"]) == ("lobby", 1, 1000)
    assert (rush["name"], rush["answers"], rush["p50"], rush["p99"]) == ("rush", 103, 20, 20)
    assert (rush["refused"], rush["turned_away"], rush["failed"]) == (1, 1, 1)
    assert rush["per_second"] == 1.0


def test_waits_are_those_of_the_line() -> None:
    assert report.waits([*turns(3), Turn(1100.0)]) == {"in": 3, "out": 1, "p50": 10.0, "p99": 10.0}


def test_a_web_that_was_never_slow_bears_what_its_answers_leave_time_for() -> None:
    found = report.advise(answers(20, QUICK), turns(100), TIME, 2, 1000)
    assert found
    assert not found["reached"]
    assert found["bears"] == 2 / QUICK
    assert found["each"] == pytest.approx(18, abs=1)


def test_a_web_at_its_limit_bears_what_it_did_before() -> None:
    asked = answers(20, QUICK, lasts=50) + answers(60, SLOW, 1150.0, 50)
    found = report.advise(asked, turns(100), TIME, 2, 1000)
    assert found
    assert found["reached"]
    assert found["bears"] == 20


def test_limits_and_processes_follow() -> None:
    found = report.advise(answers(20, QUICK), turns(100), TIME, 2, 10_000)
    assert found
    assert found["per_minute"] == pytest.approx(60 * report.SPARE * 100 / found["each"], rel=0.02)
    assert found["at_once"] == 5 * found["per_minute"]
    assert found["processes"] * found["per_minute"] * report.ALL_IN >= 2 * 10_000
    assert (found["processes"] - 1) * found["per_minute"] * report.ALL_IN < 2 * 10_000


def test_there_is_no_advice_where_nobody_came_in() -> None:
    assert report.advise(answers(20, QUICK), [Turn(1100.0)], TIME, 2, 1000) is None


def test_phases_are_told_by_the_time() -> None:
    assert TIME.of(TIME.begun + BEGINS[1] * TIME.lasts) == BEGINS[1]
    assert TIME.of(0.0) == 0.0
