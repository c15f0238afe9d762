"""Changes of a plan lose and double no section."""

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from portal.registration import plans as ops
from portal.registration.plans import MOST_CHOICES, MOST_SECTIONS, CannotPlan, Plan, Problem
from portal.registration.requests import Alternative, SectionRequest
from tests.registration.plan_makers import CREDITS, SECTIONS, line, options, parts, plans, sound

ANY = st.integers(-3, 25)
BY = st.integers(-25, 25)
EIGHTY = Plan(tuple(line(tuple(range(at, at + 4))) for at in range(100, 180, 4)))


@given(plans(), options())
def test_new_choice_comes_last(plan: Plan, option: Alternative) -> None:
    taken = {part.section for part in option} & set(plan.sections)
    many = sum(parts(plan).values()) + len(option) > MOST_SECTIONS
    if taken or many or len(plan.choices) == MOST_CHOICES:
        with pytest.raises(CannotPlan):
            ops.add(plan, option)
        return
    made = ops.add(plan, option)
    assert sound(made)
    assert made.choices[:-1] == plan.choices
    assert made.choices[-1].alternatives == (option,)


@given(plans(), ANY, options())
def test_new_alternative_comes_last_in_its_choice(plan: Plan, at: int, option: Alternative) -> None:
    try:
        made = ops.add_alternative(plan, at, option)
    except CannotPlan:
        return
    assert sound(made)
    assert made.choices[at].alternatives == (*plan.choices[at].alternatives, option)
    assert parts(made) == parts(plan) + Counter(option)


@given(plans(), ANY, BY)
def test_moving_a_choice_keeps_all_choices(plan: Plan, at: int, by: int) -> None:
    try:
        made = ops.move(plan, at, by)
    except CannotPlan:
        assert not 0 <= at < len(plan.choices)
        return
    assert Counter(made.choices) == Counter(plan.choices)
    assert made.choices[min(max(at + by, 0), len(plan.choices) - 1)] == plan.choices[at]


@given(plans(), ANY, ANY, BY)
def test_ranking_an_alternative_keeps_all_alternatives(
    plan: Plan, at: int, rank: int, by: int
) -> None:
    try:
        made = ops.rank(plan, at, rank, by)
    except CannotPlan:
        return
    assert sound(made)
    assert Counter(made.choices[at].alternatives) == Counter(plan.choices[at].alternatives)
    assert parts(made) == parts(plan)


@given(plans(), ANY)
def test_removing_a_choice_removes_no_other(plan: Plan, at: int) -> None:
    try:
        made = ops.remove(plan, at)
    except CannotPlan:
        assert not 0 <= at < len(plan.choices)
        return
    assert Counter(plan.choices) - Counter(made.choices) == Counter([plan.choices[at]])
    assert len(made.choices) == len(plan.choices) - 1


@given(plans(), ANY, ANY)
def test_removing_an_alternative_removes_no_other(plan: Plan, at: int, rank: int) -> None:
    try:
        made = ops.remove_alternative(plan, at, rank)
    except CannotPlan:
        return
    assert sound(made)
    assert parts(plan) - parts(made) == Counter(plan.choices[at].alternatives[rank])


@given(plans(), SECTIONS)
def test_removed_section_is_in_no_alternative(plan: Plan, section: int) -> None:
    if section not in plan.sections:
        with pytest.raises(CannotPlan):
            ops.take_out(plan, section)
        return
    made = ops.take_out(plan, section)
    assert sound(made)
    assert section not in made.sections
    others = {each for each in plan.choices if section not in each.sections}
    assert others <= set(made.choices)


@given(plans(), SECTIONS, CREDITS)
def test_credits_are_set_in_every_alternative_of_the_section(
    plan: Plan, section: int, amount: int | None
) -> None:
    if section not in plan.sections:
        with pytest.raises(CannotPlan):
            ops.set_credits(plan, section, amount)
        return
    made = ops.set_credits(plan, section, amount)
    assert made.sections == plan.sections
    assert {part.credits for part in parts(made) if part.section == section} == {amount}


@given(plans(), st.sets(SECTIONS))
def test_fulfilled_choice_leaves_the_plan(plan: Plan, had: set[int]) -> None:
    made = ops.without(plan, had)
    assert not had & set(made.sections)
    assert all(had & set(each.sections) for each in plan.choices if each not in made.choices)


def test_alternatives_of_a_choice_may_share_a_lecture() -> None:
    plan = ops.add(Plan(), (SectionRequest(1), SectionRequest(2)))
    plan = ops.add_alternative(plan, 0, (SectionRequest(1), SectionRequest(3)))
    assert plan.choices == (line((1, 2), (1, 3)),)


def test_corequisite_joins_an_alternative() -> None:
    plan = ops.join(Plan((line(1, 4),)), 0, 1, SectionRequest(5))
    assert plan.choices == (line(1, (4, 5)),)


@pytest.mark.parametrize(
    ("made", "problem"),
    [
        (lambda: ops.add(Plan((line(1),)), (SectionRequest(1),)), Problem.PLANNED),
        (
            lambda: ops.add_alternative(Plan((line(1), line(2))), 0, (SectionRequest(2),)),
            Problem.PLANNED,
        ),
        (lambda: ops.add_alternative(Plan((line(1),)), 0, (SectionRequest(1),)), Problem.PLANNED),
        (lambda: ops.join(Plan((line(1),)), 0, 0, SectionRequest(1)), Problem.PLANNED),
        (lambda: ops.add_alternative(Plan((line(1),)), 1, (SectionRequest(2),)), Problem.GONE),
        (
            lambda: ops.add(Plan(tuple(map(line, range(1, 21)))), (SectionRequest(99),)),
            Problem.CHOICES,
        ),
        (
            lambda: ops.add_alternative(Plan((line(*range(1, 7)),)), 0, (SectionRequest(9),)),
            Problem.ALTERNATIVES,
        ),
        (lambda: ops.join(Plan((line((1, 2, 3, 4)),)), 0, 0, SectionRequest(5)), Problem.TOGETHER),
        (lambda: ops.add_alternative(EIGHTY, 0, (SectionRequest(99),)), Problem.SECTIONS),
    ],
)
def test_change_that_is_not_possible_is_refused_with_its_reason(
    made: object, problem: Problem
) -> None:
    with pytest.raises(CannotPlan) as refused:
        made()  # type: ignore[operator]
    assert refused.value.problem == problem
