"""A plan: a student's prepared submission, as a value; the changes to it, and its JSON form.

Choices are in the order of their importance. A section belongs to one choice, in which several
alternatives may name it, such as a lecture with one lab or another.
"""

import json
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from functools import partial
from typing import Any, TypeVar

from portal.registration.requests import Alternative, Choice, SectionRequest

MOST_CHOICES = 20
MOST_ALTERNATIVES = 6
MOST_TOGETHER = 4
MOST_SECTIONS = 80  # of all alternatives: they are decided in one step, which must stay short
LONGEST = 20_000  # characters that a form may send
MOST_ID = 2**31
MOST_CREDITS = 100_000  # hundredths
ACTION = re.compile(r"([a-z]{1,10})(?:-(\d{1,10}))?", re.ASCII)

Item = TypeVar("Item")


@dataclass(frozen=True)
class Plan:
    """A student's plan of a term; `version` counts the changes, 0 before the first."""

    choices: tuple[Choice, ...] = ()
    version: int = 0

    @property
    def sections(self) -> tuple[int, ...]:
        """Every section of the plan, in its order."""
        return tuple(section for choice in self.choices for section in choice.sections)

    def choice_of(self, section: int) -> int | None:
        """Return the number, from 0, of the choice that names a section."""
        found = (at for at, choice in enumerate(self.choices) if section in choice.sections)
        return next(found, None)


Change = Callable[[Plan], Plan]


class Problem(StrEnum):
    CHOICES = "choices"  # the plan is full
    ALTERNATIVES = "alternatives"  # the choice is full
    TOGETHER = "together"  # the alternative is full
    SECTIONS = "sections"  # all alternatives together are full
    PLANNED = "planned"  # the section is in another choice, or already in this one
    GONE = "gone"  # there is no such choice or alternative


class CannotPlan(ValueError):
    """A change that is not possible in this plan."""

    def __init__(self, problem: Problem) -> None:
        super().__init__(problem.value)
        self.problem = problem


# Changes: each returns a new plan and raises CannotPlan -----------------------------------------


def add(plan: Plan, alternative: Alternative, *, wait: bool = True) -> Plan:
    """Add the alternative as a new choice, the last."""
    return checked(replace(plan, choices=(*plan.choices, Choice((alternative,), wait))))


def add_alternative(plan: Plan, choice: int, alternative: Alternative) -> Plan:
    """Add an alternative as the last fallback of a choice."""
    return _with_alternatives(plan, choice, lambda found: (*found, alternative))


def join(plan: Plan, choice: int, rank: int, request: SectionRequest) -> Plan:
    """Add a section to an alternative; its sections are taken together."""
    return _with_alternatives(
        plan, choice, lambda found: _changed(found, rank, lambda each: (*each, request))
    )


def move(plan: Plan, choice: int, by: int) -> Plan:
    """Move a choice down by so many places, at most to the end."""
    return replace(plan, choices=_moved(plan.choices, choice, by))


def rank(plan: Plan, choice: int, alternative: int, by: int) -> Plan:
    """Move an alternative down by so many ranks, at most to the end."""
    return _with_alternatives(plan, choice, lambda found: _moved(found, alternative, by))


def remove(plan: Plan, choice: int) -> Plan:
    _at(plan.choices, choice)
    return replace(plan, choices=plan.choices[:choice] + plan.choices[choice + 1 :])


def remove_alternative(plan: Plan, choice: int, alternative: int) -> Plan:
    """Remove an alternative, and its choice if it was the only one."""
    found = _at(plan.choices, choice).alternatives
    _at(found, alternative)
    if len(found) == 1:
        return remove(plan, choice)
    return _with_alternatives(
        plan, choice, lambda _: found[:alternative] + found[alternative + 1 :]
    )


def set_wait(plan: Plan, choice: int, *, wait: bool) -> Plan:
    """Set whether a waitlist position will do if no alternative has a seat."""
    choices = _changed(plan.choices, choice, lambda each: replace(each, wait=wait))
    return replace(plan, choices=choices)


def set_credits(plan: Plan, section: int, credits: int | None) -> Plan:  # noqa: A002
    """Set the credits (hundredths) of a section in every alternative that names it."""
    at = plan.choice_of(section)
    if at is None:
        raise CannotPlan(Problem.GONE)
    chosen = SectionRequest(section, credits)
    return _with_alternatives(
        plan,
        at,
        lambda found: tuple(
            tuple(chosen if one.section == section else one for one in each) for each in found
        ),
    )


def take_out(plan: Plan, section: int) -> Plan:
    """Remove the alternatives that name a section, and their choice if none is left."""
    at = plan.choice_of(section)
    if at is None:
        raise CannotPlan(Problem.GONE)
    found = plan.choices[at].alternatives
    left = tuple(each for each in found if section not in {one.section for one in each})
    return _with_alternatives(plan, at, lambda _: left) if left else remove(plan, at)


def without(plan: Plan, sections: Iterable[int]) -> Plan:
    """Remove the choices that name one of the sections."""
    gone = set(sections)
    choices = tuple(each for each in plan.choices if gone.isdisjoint(each.sections))
    return replace(plan, choices=choices)


def change_of(action: str, choice: int, chosen_credits: Callable[[int], int | None]) -> Change:
    """Return what a button of the plan does, such as `up`, `rise-2` or `credits-1234`.

    `chosen_credits` gives the credits (hundredths) chosen for a section.
    """
    found = ACTION.fullmatch(action)
    if found is None:
        raise CannotPlan(Problem.GONE)
    name, number = found[1], int(found[2] or 0)
    if name == "credits":
        return partial(set_credits, section=number, credits=chosen_credits(number))
    changes: dict[str, Change] = {
        "up": partial(move, choice=choice, by=-1),
        "down": partial(move, choice=choice, by=1),
        "place": partial(move, choice=choice, by=number - choice),
        "remove": partial(remove, choice=choice),
        "rise": partial(rank, choice=choice, alternative=number, by=-1),
        "sink": partial(rank, choice=choice, alternative=number, by=1),
        "omit": partial(remove_alternative, choice=choice, alternative=number),
        "wait": partial(set_wait, choice=choice, wait=True),
        "hurry": partial(set_wait, choice=choice, wait=False),
    }
    if name not in changes:
        raise CannotPlan(Problem.GONE)
    return changes[name]


def checked(plan: Plan) -> Plan:
    """Return the plan unchanged. Raise CannotPlan if it is too large or names a section twice."""
    if len(plan.choices) > MOST_CHOICES:
        raise CannotPlan(Problem.CHOICES)
    for choice in plan.choices:
        _check(choice)
    if sum(len(each) for choice in plan.choices for each in choice.alternatives) > MOST_SECTIONS:
        raise CannotPlan(Problem.SECTIONS)
    if len(set(plan.sections)) < len(plan.sections):
        raise CannotPlan(Problem.PLANNED)
    return plan


def _check(choice: Choice) -> None:
    named = [tuple(one.section for one in each) for each in choice.alternatives]
    if not named or not all(named):
        raise CannotPlan(Problem.GONE)
    if len(named) > MOST_ALTERNATIVES:
        raise CannotPlan(Problem.ALTERNATIVES)
    if max(map(len, named)) > MOST_TOGETHER:
        raise CannotPlan(Problem.TOGETHER)
    if any(len(set(each)) < len(each) for each in named):
        raise CannotPlan(Problem.PLANNED)
    if len({frozenset(each) for each in named}) < len(named):
        raise CannotPlan(Problem.PLANNED)


def _with_alternatives(
    plan: Plan, at: int, change: Callable[[tuple[Alternative, ...]], tuple[Alternative, ...]]
) -> Plan:
    choices = _changed(
        plan.choices, at, lambda each: replace(each, alternatives=change(each.alternatives))
    )
    return checked(replace(plan, choices=choices))


def _changed(items: tuple[Item, ...], at: int, change: Callable[[Item], Item]) -> tuple[Item, ...]:
    return (*items[:at], change(_at(items, at)), *items[at + 1 :])


def _moved(items: tuple[Item, ...], at: int, by: int) -> tuple[Item, ...]:
    one, rest = _at(items, at), (*items[:at], *items[at + 1 :])
    to = min(max(at + by, 0), len(rest))
    return (*rest[:to], one, *rest[to:])


def _at(items: tuple[Item, ...], at: int) -> Item:
    if not 0 <= at < len(items):
        raise CannotPlan(Problem.GONE)
    return items[at]


# JSON: in the database, and in the form that submits the plan as it was seen --------------------


def pack(plan: Plan) -> list[dict[str, Any]]:
    """Return the choices as JSON values."""
    return [
        {"options": [*map(_packed, each.alternatives)], "wait": each.wait} for each in plan.choices
    ]


def unpack(choices: Any, version: int = 0) -> Plan:
    """Return the plan of packed choices. Raise ValueError if they are invalid."""
    if not isinstance(choices, list):
        raise ValueError("Choices come in a list.")  # noqa: TRY004 - one error for all invalid input
    return checked(Plan(tuple(map(_choice, choices)), version))


def packed_sections(choices: list[dict[str, Any]]) -> set[int]:
    """Return the sections of packed choices that are known to be valid."""
    return {part[0] for each in choices for bundle in each["options"] for part in bundle}


def write(plan: Plan) -> str:
    """Return the choices as the text of a form's field."""
    return json.dumps(pack(plan), separators=(",", ":"))


def read(text: str) -> Plan:
    """Return the plan in a form's field. Raise ValueError if it is invalid."""
    if len(text) > LONGEST:
        raise ValueError("No plan is that long.")
    try:
        return unpack(json.loads(text))
    except RecursionError as error:
        raise ValueError("No plan is that deep.") from error


def _packed(alternative: Alternative) -> list[list[int]]:
    return [[one.section, *([] if one.credits is None else [one.credits])] for one in alternative]


def _choice(row: Any) -> Choice:
    match row:
        case {"options": [*alternatives], "wait": bool(wait), **rest} if not rest:
            return Choice(tuple(map(_alternative, alternatives)), wait)
    raise ValueError("A choice has options, and says whether to wait.")


def _alternative(row: Any) -> Alternative:
    if not isinstance(row, list):
        raise ValueError("An option is a list of sections.")  # noqa: TRY004
    return tuple(map(_request, row))


def _request(row: Any) -> SectionRequest:
    match row:
        case [section]:
            return SectionRequest(_number(section, 1, MOST_ID))
        case [section, amount]:
            return SectionRequest(_number(section, 1, MOST_ID), _number(amount, 0, MOST_CREDITS))
    raise ValueError("A section comes alone or with its credits.")


def _number(value: Any, least: int, beyond: int) -> int:
    if type(value) is not int or not least <= value < beyond:
        raise ValueError(f"{value!r} is out of range.")
    return value
