"""What the registrar's comparison says, in rounds that can be followed by hand."""

from dataclasses import replace

import pytest

from bench.allocation import comparison
from portal.allocation.measures import blocking_pairs, by_cohort, gain, measures
from portal.allocation.mechanisms import allocate, ticket
from portal.allocation.problem import Problem
from tests.allocation.rounds import SEED, a_round, ballot, section

FIRST, SECOND = sorted(("ann", "bob"), key=lambda name: ticket(SEED, name))


def two(mechanism: str) -> Problem:
    """Return a round in which two students want the same two seats."""
    sections = [section("A"), section("B"), section("C", 5)]
    ballots = [
        ballot(FIRST, "A B C", cohorts=("seniors",)),
        ballot(SECOND, "A B C", cohorts=("juniors",)),
        ballot("without choices", ""),
    ]
    return a_round(sections, ballots, mechanism=mechanism)


def test_a_serial_dictatorship_leaves_envy_and_a_draft_less() -> None:
    found = comparison(two("draft"), SEED)
    serial, draft = found["serial"], found["draft"]
    assert (serial.students, serial.first_choice, serial.courses) == (2, 0.5, 2.0)
    assert (serial.envy, serial.few, serial.nothing, serial.spread) == (0.5, 0.5, 0, 0)
    assert (draft.first_choice, draft.courses, draft.few) == (0.5, 2.0, 1.0)
    assert draft.envy == 0.5  # A is worth more than B, and everyone has C
    assert serial.seats_left == draft.seats_left == 3
    assert found["deferred"].justified_envy == 0


def test_cohorts_are_compared() -> None:
    found = by_cohort(allocate(two("serial"), SEED))
    assert found["seniors"].first_choice == 1
    assert found["juniors"].first_choice == 0
    assert (found["seniors"].courses, found["juniors"].courses) == (3, 1)


def test_the_gap_is_between_cohorts_of_30_students_or_more() -> None:
    sections = [section("A", 30), section("B", 99)]
    sizes = {"seniors": 30, "juniors": 30, "few": 29}
    asked = {"seniors": "A", "juniors": "A B", "few": "B"}
    ballots = [
        ballot(f"{name} {number}", asked[name], cohorts=(name,))
        for name, size in sizes.items()
        for number in range(size)
    ]
    full = replace(sections[0], priority=("seniors",))
    problem = a_round([full, sections[1]], ballots, mechanism="deferred")
    assert measures(allocate(problem, SEED)).spread == 1
    refused = [replace(each, refused=("B",) if "few" in each.cohorts else ()) for each in ballots]
    few = a_round([full, sections[1]], [b for b in refused if "juniors" not in b.cohorts])
    assert measures(allocate(few, SEED)).spread == 0


def test_no_one_envies_a_schedule_that_they_could_not_take() -> None:
    sections = [section("A"), section("B")]
    ballots = [ballot("ann", "A"), ballot("bob", "A B", refused=("A",))]
    assert measures(allocate(a_round(sections, ballots), SEED)).envy == 0


def test_a_priority_that_a_mechanism_ignores_is_justified_envy() -> None:
    sections = [section("A", priority=("majors",))]
    ballots = [ballot(FIRST, "A"), ballot(SECOND, "A", cohorts=("majors",))]
    found = comparison(a_round(sections, ballots), SEED)
    assert found["draft"].justified_envy == found["serial"].justified_envy == 0.5
    assert found["deferred"].justified_envy == 0
    assert not list(blocking_pairs(allocate(a_round(sections, ballots[:1]), SEED)))


@pytest.mark.parametrize(("mechanism", "expected"), [("draft", 1), ("serial", 0)])
def test_a_draft_can_be_gamed_and_a_serial_dictatorship_hardly(
    mechanism: str, expected: float
) -> None:
    """Ann alone wants A, so she asks for B first, which Bob wants too."""
    sections = [section("A"), section("B")]
    problem = a_round(sections, [ballot("ann", "A B"), ballot("bob", "B")])
    found = gain(problem, mechanism, [str(number) for number in range(10)], students=2)
    assert found.students == 2
    assert found.hindsight * 2 == found.beforehand * 2 == expected
    assert (found.mean > 0) == bool(expected)


def test_an_empty_round_has_measures() -> None:
    problem = a_round([section("A", 3)], [])
    assert measures(allocate(problem, SEED)).seats_left == 3
    assert gain(problem, "draft", ["1"]).students == 0
