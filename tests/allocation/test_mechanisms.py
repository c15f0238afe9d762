"""What each mechanism gives, in rounds that can be followed by hand."""

import pytest

from portal.allocation.mechanisms import allocate, draw_order, ticket
from portal.allocation.problem import MECHANISMS, Choice, Problem
from portal.allocation.result import Reason, Result, Why, reasons
from tests.allocation.rounds import SEED, a_round, at, ballot, choices, section

FIRST, SECOND, THIRD = sorted(("ann", "bob", "cy"), key=lambda name: ticket(SEED, name))


def seats(problem: Problem) -> dict[str, str]:
    """Return the sections that each student got, in the order of their choices."""
    result = allocate(problem, SEED)
    return {each.pseudonym: " ".join(names(result, at)) for at, each in enumerate(problem.ballots)}


def names(result: Result, student: int) -> list[str]:
    sections = result.table.problem.settings.sections
    return [sections[each].id for each in result.sections(student)]


def why(problem: Problem, name: str) -> list[list[Reason]]:
    """Return the reasons of a student."""
    result = allocate(problem, SEED)
    at = [each.pseudonym for each in problem.ballots].index(name)
    return reasons(result, at)


def test_in_a_draft_everyone_has_a_turn_before_anyone_has_two() -> None:
    sections = [section("A"), section("B")]
    problem = a_round(sections, [ballot(FIRST, "A B"), ballot(SECOND, "A B")])
    assert seats(problem) == {FIRST: "A", SECOND: "B"}


def test_in_a_serial_dictatorship_the_first_takes_all() -> None:
    sections = [section("A"), section("B")]
    ballots = [ballot(FIRST, "A B"), ballot(SECOND, "A B")]
    assert seats(a_round(sections, ballots, mechanism="serial")) == {FIRST: "A B", SECOND: ""}


def test_every_second_turn_is_in_the_reverse_order() -> None:
    sections = [section("A", 2), section("B")]
    problem = a_round(sections, [ballot(FIRST, "A B"), ballot(SECOND, "A B")])
    assert seats(problem) == {FIRST: "A", SECOND: "A B"}
    assert why(problem, FIRST)[1] == [Reason(Why.FULL, 2)]


def test_under_deferred_acceptance_the_priority_of_a_section_decides() -> None:
    sections = [section("A", priority=("majors",)), section("B")]
    ballots = [ballot(FIRST, "A B"), ballot(SECOND, "A B", cohorts=("majors",))]
    problem = a_round(sections, ballots, mechanism="deferred")
    assert seats(problem) == {FIRST: "B", SECOND: "A"}
    assert why(problem, FIRST)[0] == [Reason(Why.FULL)]


def test_the_final_pass_of_deferred_acceptance_gives_a_seat_that_was_left() -> None:
    """The third student displaces the second from A, and then gives A up for B."""
    sections = [
        section("A", meetings=at(9) + at(11), priority=("majors",)),
        section("B", meetings=at(10) + at(11)),
        section("C", meetings=at(10)),
    ]
    third = ballot(THIRD, "C B A", cohorts=("majors",))
    ballots = [ballot(FIRST, "C"), ballot(SECOND, "A"), third]
    problem = a_round(sections, ballots, mechanism="deferred")
    assert seats(problem) == {FIRST: "C", SECOND: "A", THIRD: "B"}


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_the_limits_of_a_student_hold(mechanism: str) -> None:
    sections = [section("A"), section("B"), section("C", credits=2)]
    for limits, given in (
        ({"most_credits": 7}, "A C"),
        ({"credit_limit": 7}, "A C"),
        ({"most_courses": 1}, "A"),
    ):
        problem = a_round(sections, [ballot("ann", "A B C", **limits)], mechanism=mechanism)
        assert seats(problem) == {"ann": given}


def test_an_alternative_is_given_when_the_better_one_is_full() -> None:
    sections = [section("A"), section("B"), section("C")]
    problem = a_round(sections, [ballot(FIRST, "A"), ballot(SECOND, "A|B C")])
    assert seats(problem) == {FIRST: "A", SECOND: "B C"}
    assert why(problem, SECOND) == [
        [Reason(Why.FULL, 1), Reason(Why.SEATED, 1)],
        [Reason(Why.SEATED, 2)],
    ]
    assert why(a_round(sections, [ballot(SECOND, "A|B C")]), SECOND)[0] == [
        Reason(Why.SEATED, 1),
        Reason(Why.NOT_NEEDED),
    ]


def test_a_bundle_is_given_whole_or_not_at_all() -> None:
    sections = [section("A"), section("L", 2)]
    problem = a_round(sections, [ballot(FIRST, "A"), ballot(SECOND, "A+L")])
    assert seats(problem) == {FIRST: "A", SECOND: ""}


def test_a_bundle_uses_as_many_turns_as_it_has_courses() -> None:
    sections = [section("A"), section("B"), section("C")]
    problem = a_round(sections, [ballot(FIRST, "C"), ballot(SECOND, "A+B C")])
    assert seats(problem)[FIRST] == "C"
    waits = a_round(sections, [ballot(FIRST, "A+B C"), ballot(SECOND, "A C")])
    assert seats(waits) == {FIRST: "A B", SECOND: "C"}
    lab = [section("A", course="X"), section("B", course="X"), section("C")]
    assert why(a_round(lab, [ballot(FIRST, "A+B C")]), FIRST)[1] == [Reason(Why.SEATED, 2)]


@pytest.mark.parametrize(
    ("asked", "more", "reason"),
    [
        ("A B", {"refused": ("B",)}, Reason(Why.RULE)),
        ("A C", {}, Reason(Why.CLASH, other=0)),
        ("A D", {}, Reason(Why.SAME_COURSE, other=0)),
        ("A B", {"most_credits": 7}, Reason(Why.CREDITS)),
        ("A B", {"most_courses": 1}, Reason(Why.MOST_COURSES)),
        ("A E", {}, Reason(Why.FULL, 2)),
        ("A B", {}, Reason(Why.SEATED, 2)),
    ],
)
def test_a_choice_that_was_not_given_has_its_reason(
    asked: str, more: dict[str, object], reason: Reason
) -> None:
    sections = [
        section("A", meetings=at(9)),
        section("B", meetings=at(10)),
        section("C", meetings=at(9)),
        section("D", course="course of A"),
        section("E", 0),
    ]
    problem = a_round(sections, [ballot("ann", asked, **more)])
    assert why(problem, "ann") == [[Reason(Why.SEATED, 1)], [reason]]


def test_sections_on_different_days_or_dates_do_not_clash() -> None:
    early, late = at(9, first=0, last=49), at(9, first=50, last=99)
    days = [section("A", meetings=early), section("B", meetings=late)]
    days += [section("C", meetings=at(9, days=2))]
    assert seats(a_round(days, [ballot("ann", "A B C")])) == {"ann": "A B C"}


def test_reserved_seats_go_to_their_cohort_alone() -> None:
    sections = [section("A", 2, reserves=(("majors", 1),))]
    others = [ballot(FIRST, "A"), ballot(SECOND, "A"), ballot(THIRD, "A", cohorts=("majors",))]
    assert seats(a_round(sections, others)) == {FIRST: "A", SECOND: "", THIRD: "A"}


def test_sections_of_a_pool_share_its_seats() -> None:
    sections = [section("A", 2, pool="P"), section("B", 2, pool="P")]
    ballots = [ballot(FIRST, "A"), ballot(SECOND, "B"), ballot(THIRD, "B")]
    found = seats(a_round(sections, ballots, pools={"P": 2}))
    assert found == {FIRST: "A", SECOND: "B", THIRD: ""}


def test_an_unmet_first_choice_is_one_more_ticket_and_the_best_one_counts() -> None:
    sections = [section("A")]
    lucky = next(
        name
        for name in map(str, range(999))
        if ticket(SEED, name, 1) < ticket(SEED, FIRST) < ticket(SEED, name)
    )
    for tickets, before in ((1, FIRST), (2, lucky)):
        ballots = [ballot(FIRST, "A"), ballot(lucky, "A", unmet=5)]
        problem = a_round(sections, ballots, tickets=tickets)
        assert problem.ballots[draw_order(problem, SEED)[0]].pseudonym == before


def joint(name: str, rest: str = "") -> list[Choice]:
    return [Choice(((name,),), "J"), *choices(rest)]


@pytest.mark.parametrize("mechanism", ["draft", "serial", "deferred"])
def test_a_joint_choice_is_given_to_all_of_the_group(mechanism: str) -> None:
    ballots = [ballot(FIRST, joint("A")), ballot(SECOND, joint("A")), ballot(THIRD, "A")]
    problem = a_round([section("A", 2)], ballots, mechanism=mechanism)
    assert seats(problem) == {FIRST: "A", SECOND: "A", THIRD: ""}


@pytest.mark.parametrize("mechanism", ["draft", "serial", "deferred"])
def test_a_joint_choice_that_some_miss_changes_nothing(mechanism: str) -> None:
    sections = [section("A", 2), section("B", 1)]
    ballots = [ballot(FIRST, joint("A", "B")), ballot(SECOND, "A"), ballot(THIRD, joint("A", "B"))]
    problem = a_round(sections, ballots, mechanism=mechanism)
    assert seats(problem) == {FIRST: "B", SECOND: "A", THIRD: ""}
    assert why(problem, FIRST)[0] == [Reason(Why.JOINT)]


@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_joint_choice_bound_to_fail_does_not_end_that_of_an_earlier_group(mechanism: str) -> None:
    """Both groups miss a seat at first; the one with the last student of the draw is taken out."""
    first, second, third, fourth, last = sorted("abcde", key=lambda name: ticket(SEED, name))
    good, bad = Choice((("S",),), "good"), Choice((("S",),), "bad")
    ballots = [
        ballot(first, [bad]),
        ballot(second, [good]),
        ballot(third, [good]),
        ballot(fourth, "S"),
        ballot(last, [*choices("T"), bad]),
    ]
    problem = a_round([section("S", 2), section("T")], ballots, mechanism=mechanism)
    assert seats(problem) == {first: "", second: "S", third: "S", fourth: "", last: "T"}


def test_a_ballot_that_makes_no_sense_is_an_error() -> None:
    sections = [section("A"), section("B")]
    for wrong in (
        [ballot("ann", "Z")],
        [ballot("ann", "A+A")],
        [ballot("ann", "A"), ballot("ann", "A")],
        [ballot("ann", joint("A")), ballot("bob", "A")],
        [ballot("ann", joint("A")), ballot("bob", joint("B"))],
    ):
        with pytest.raises(ValueError, match=r"ann|bob|J"):
            a_round(sections, wrong)
