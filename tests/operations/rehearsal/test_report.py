"""The report: figures of each phase, and what follows from them for rooms and web processes."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest

from portal.operations.rehearsal import report
from portal.operations.rehearsal.behavior import RUSH
from portal.operations.rehearsal.crowd import Crowd, Timeline, Visit
from portal.operations.rehearsal.student import Answer
from portal.runtime.commands.rehearse import render, summary

TIME = Timeline(start=1000.0, seconds=400.0)  # the rush from 1100 to 1200
QUICK, SLOW = 0.02, 2.0
REPORT: dict[str, Any] = {
    "students": 5,
    "seconds": 90,
    "stopped": True,
    "phases": [],
    "waits": {"admitted": 5, "not_admitted": 0, "p50": 1.5, "p99": 2.5},
    "seats": {"taken": 18, "of": 20, "waiting": 3, "oversold": 0},
    "audit": {"events": 44, "differences": 0},
    "advice": None,
}


def answers(
    per_second: int, seconds: float, begin: float = 1100.0, lasts: int = 100
) -> list[Answer]:
    """So many a second, each of which took so many seconds."""
    count = per_second * lasts
    return [Answer(begin + at / per_second, seconds, 200) for at in range(count)]


def visits(count: int) -> list[Visit]:
    """So many who came early and were let in ten seconds after the opening."""
    return [Visit(1100.0, 1110.0) for _ in range(count)]


def test_each_phase_that_has_begun_has_its_figures() -> None:
    refused = [Answer(1150.0, QUICK, 422), Answer(1150.0, QUICK, 503)]
    lost = [Answer(1150.0, QUICK, 0)]
    lobby, rush = report.phases(
        [Answer(1001.0, 1.0, 302), *answers(1, QUICK), *refused, *lost], TIME
    )
    assert (lobby["name"], lobby["answers"], lobby["p50"]) == ("lobby", 1, 1000)
    assert (rush["name"], rush["answers"], rush["p50"], rush["p99"]) == ("rush", 103, 20, 20)
    assert (rush["refused"], rush["turned_away"], rush["failed"]) == (1, 1, 1)
    assert rush["per_second"] == 1.0


def test_waits_are_those_of_the_line() -> None:
    assert report.waits([*visits(3), Visit(1100.0)]) == {
        "admitted": 3,
        "not_admitted": 1,
        "p50": 10.0,
        "p99": 10.0,
    }


def seen(answers: list[Answer], crowd: float = 0.1, entered: int = 100) -> Crowd:
    """What was seen, by a process that took so much of a core itself."""
    work = [(at, at * crowd) for at in map(float, range(1100, 1211))]
    return Crowd([], "", [], TIME, answers, visits(entered), cpu_used=work)


def test_a_web_that_was_never_slow_bears_what_its_answers_leave_time_for() -> None:
    found = report.advise(seen(answers(20, QUICK)), 2, 1000)
    assert found
    assert found["limit"] == "none"
    assert found["answers_per_second"] == 2 / QUICK
    assert found["answers_per_student"] == pytest.approx(18, abs=1)


def test_a_web_at_its_limit_bears_what_it_did_before() -> None:
    asked = answers(20, QUICK, lasts=50) + answers(25, SLOW, 1150.0, 50)
    found = report.advise(seen(asked), 2, 1000)
    assert found
    assert found["limit"] == "web"
    assert found["answers_per_second"] == 20


def test_a_part_of_what_a_slow_web_did_counts_where_it_is_more() -> None:
    asked = answers(20, QUICK, lasts=50) + answers(60, SLOW, 1150.0, 50)
    found = report.advise(seen(asked), 2, 1000)
    assert found
    assert found["answers_per_second"] == report.HEADROOM * 60


@pytest.mark.parametrize("status", [0, 429, 500, 503])
def test_an_answer_that_turns_away_is_no_answer(status: int) -> None:
    turned_away = [replace(each, status=status) for each in answers(200, QUICK, 1150.0, 50)]
    found = report.advise(seen(answers(20, QUICK) + turned_away), 2, 1000)
    assert found
    assert found["limit"] == "web"
    assert found["answers_per_second"] == 20
    assert found["answers_per_student"] == pytest.approx(18, abs=1)


def test_one_failure_in_a_thousand_is_none_of_the_webs_limit() -> None:
    lost = [replace(each, status=0) for each in answers(1, QUICK, 1150.0, 1)]
    found = report.advise(seen(answers(200, QUICK) + lost), 2, 1000)
    assert found
    assert found["limit"] == "none"


def test_an_answer_counts_when_it_came() -> None:
    asked = [Answer(1150.0, each / 20, 200) for each in range(1000)]  # all at once
    found = report.advise(seen(answers(20, QUICK, lasts=50) + asked), 2, 1000)
    assert found
    assert found["answers_per_second"] == 20


def test_a_crowd_that_was_busy_itself_is_reported() -> None:
    asked = answers(20, QUICK, lasts=50) + answers(25, SLOW, 1150.0, 50)
    found = report.advise(seen(asked, crowd=0.9), 2, 1000)
    assert found
    assert found["limit"] == "crowd"
    assert found["answers_per_second"] == 20
    *_, advice = summary(REPORT | {"advice": found})
    assert "may be higher" in advice
    assert "at their limit" not in advice


def test_limits_and_processes_follow() -> None:
    found = report.advise(seen(answers(20, QUICK)), 2, 10_000)
    assert found
    assert found["per_minute"] == pytest.approx(
        60 * report.HEADROOM * 100 / found["answers_per_student"], rel=0.02
    )
    assert found["at_once"] == 5 * found["per_minute"]
    assert found["processes"] * found["per_minute"] * report.ADMIT_ALL >= 2 * 10_000
    assert (found["processes"] - 1) * found["per_minute"] * report.ADMIT_ALL < 2 * 10_000


def test_there_is_no_advice_where_no_one_came_in() -> None:
    assert report.advise(seen(answers(20, QUICK), entered=0), 2, 1000) is None


def test_phases_are_found_by_the_time() -> None:
    assert TIME.moment(TIME.time_of(RUSH.begin)) == RUSH.begin
    assert TIME.moment(0.0) == 0.0


def test_the_page_has_the_figures_and_what_follows_from_them() -> None:
    asked = answers(20, QUICK)
    found = report.advise(seen(asked), 2, 1000)
    told = REPORT | {"phases": report.phases(asked, TIME), "advice": found}
    page = render(told, "Fairseat <University>", datetime(2030, 9, 2, 8, tzinfo=UTC))
    assert found
    assert "Rehearsal of 2030-09-02 08:00 UTC" in page
    assert "Fairseat &lt;University&gt;: 5 simulated students" in page
    assert "for 1.5 minutes. Someone stopped the rehearsal early." in page
    assert "18 of 20 taken" in page
    assert "0 differences in 44 events" in page
    assert f"FAIRSEAT_ROOM={found['per_minute']}/{found['at_once']}" in page
    assert re.search(r">rush</th><td>2,?000</td>", page)
