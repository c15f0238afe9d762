"""Students of a rehearsal act when those of the real curves did."""

from collections import Counter
from random import Random

import pytest

from portal.rehearsal import curves
from portal.rehearsal.curves import PHASES, Act

EVERYONE = 4000
NEAR = 0.02  # by which shares of so many may differ from those of the table


@pytest.fixture(scope="module")
def acts() -> list[Act]:
    chance = Random(7)
    return [act for _ in range(EVERYONE) for act in curves.acts(chance)]


def shares(acts: list[Act]) -> dict[str, float]:
    """Of each phase."""
    count = Counter(curves.phase_at(act.at).name for act in acts)
    return {phase.name: count[phase.name] / len(acts) for phase in PHASES}


@pytest.mark.parametrize("what", ["lasts", "takes", "drops"])
def test_the_shares_of_all_phases_are_the_whole(what: str) -> None:
    assert sum(getattr(phase, what) for phase in PHASES) == pytest.approx(1, abs=0.002)


def test_seats_are_asked_for_in_the_phases_of_the_table(acts: list[Act]) -> None:
    asked = [act for act in acts if act.kind == "take"]
    assert len(asked) / EVERYONE == pytest.approx(curves.TAKES, abs=NEAR)
    assert shares(asked) == pytest.approx({each.name: each.takes for each in PHASES}, abs=NEAR)


def test_seats_are_given_up_in_the_phases_of_the_table(acts: list[Act]) -> None:
    given = [act for act in acts if act.kind == "drop"]
    assert len(given) / EVERYONE == pytest.approx(curves.DROPS, abs=NEAR)
    assert shares(given) == pytest.approx({each.name: each.drops for each in PHASES}, abs=NEAR)


@pytest.mark.parametrize("phase", PHASES[1:], ids=lambda phase: phase.name)
def test_so_many_would_wait(acts: list[Act], phase: curves.Phase) -> None:
    asked = [act for act in acts if act.kind == "take" and curves.phase_at(act.at) == phase]
    assert sum(act.waits for act in asked) / len(asked) == pytest.approx(phase.waits, abs=NEAR)


def test_in_the_rush_all_ask_at_once(acts: list[Act]) -> None:
    rush = [act for act in acts if act.kind == "take" and curves.phase_at(act.at).name == "rush"]
    assert {act.at for act in rush} == {curves.OPENS}


def test_nearly_all_come_before_the_opening_and_some_at_the_end() -> None:
    chance = Random(7)
    came = Counter(curves.phase_at(curves.arrival(chance)).name for _ in range(EVERYONE))
    assert set(came) == {"lobby", "stragglers"}
    assert came["stragglers"] / EVERYONE == pytest.approx(curves.LATE, abs=NEAR)


def test_a_student_does_one_thing_after_the_other() -> None:
    mine = curves.acts(Random(7))
    assert mine == sorted(mine, key=lambda act: act.at)
    assert all(curves.OPENS <= act.at <= curves.ENDS for act in mine)
