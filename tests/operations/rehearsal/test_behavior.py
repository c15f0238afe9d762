"""Students of a rehearsal act when students of a real registration did."""

from collections import Counter
from random import Random

import pytest

from portal.operations.rehearsal import behavior
from portal.operations.rehearsal.behavior import PHASES, Act

EVERYONE = 4000
NEAR = 0.02  # by which shares of so many may differ from those of the table


@pytest.fixture(scope="module")
def acts() -> list[Act]:
    chance = Random(7)
    return [act for _ in range(EVERYONE) for act in behavior.acts(chance)]


def shares(acts: list[Act]) -> dict[str, float]:
    """Of each phase."""
    count = Counter(behavior.phase_at(act.at).name for act in acts)
    return {phase.name: count[phase.name] / len(acts) for phase in PHASES}


@pytest.mark.parametrize("what", ["claims", "drops"])
def test_the_shares_of_all_phases_are_the_whole(what: str) -> None:
    assert sum(getattr(phase, what) for phase in PHASES) == pytest.approx(1, abs=0.002)


def test_each_phase_begins_where_the_one_before_ends() -> None:
    edges = [phase.begin for phase in PHASES] + [1.0]
    assert edges == [0.0, *(phase.end for phase in PHASES)]


def test_seats_are_asked_for_in_the_phases_of_the_table(acts: list[Act]) -> None:
    asked = [act for act in acts if act.kind == "claim"]
    assert len(asked) / EVERYONE == pytest.approx(behavior.CLAIMS, abs=NEAR)
    assert shares(asked) == pytest.approx({each.name: each.claims for each in PHASES}, abs=NEAR)


def test_seats_are_dropped_in_the_phases_of_the_table(acts: list[Act]) -> None:
    given = [act for act in acts if act.kind == "drop"]
    assert len(given) / EVERYONE == pytest.approx(behavior.DROPS, abs=NEAR)
    assert shares(given) == pytest.approx({each.name: each.drops for each in PHASES}, abs=NEAR)


@pytest.mark.parametrize("phase", PHASES[1:], ids=lambda phase: phase.name)
def test_so_many_would_wait(acts: list[Act], phase: behavior.Phase) -> None:
    asked = [act for act in acts if act.kind == "claim" and behavior.phase_at(act.at) == phase]
    assert sum(act.waits for act in asked) / len(asked) == pytest.approx(phase.waits, abs=NEAR)


def test_in_the_rush_all_ask_at_once(acts: list[Act]) -> None:
    rush = [act for act in acts if act.kind == "claim" and behavior.phase_at(act.at).name == "rush"]
    assert {act.at for act in rush} == {behavior.RUSH.begin}


def test_nearly_all_come_before_the_opening_and_some_at_the_end() -> None:
    chance = Random(7)
    came = Counter(behavior.phase_at(behavior.arrival(chance)).name for _ in range(EVERYONE))
    assert set(came) == {"lobby", "stragglers"}
    assert came["stragglers"] / EVERYONE == pytest.approx(behavior.LATE, abs=NEAR)


def test_a_student_does_one_thing_after_the_other() -> None:
    mine = behavior.acts(Random(7))
    assert mine == sorted(mine, key=lambda act: act.at)
    assert all(behavior.RUSH.begin <= act.at <= behavior.END for act in mine)


def test_the_first_sections_are_in_demand() -> None:
    chance, sections = Random(7), list(range(20))
    first = Counter(behavior.preferences(sections, chance)[0] for _ in range(EVERYONE))
    assert first[0] > 2 * first[19]
    assert sorted(behavior.preferences(sections, chance)) == sections
