"""A plan: lines in the order of their weight, each with options by rank; pure and frozen.

A section stands in one line alone, where several options may share it, such as a lecture with one
lab or another. No two options of a line are the same.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TypeVar

MOST_LINES = 20
MOST_OPTIONS = 6
MOST_TOGETHER = 4
MOST_SECTIONS = 80  # over all options: they are decided in one step, which must stay a short one

Each = TypeVar("Each")


@dataclass(frozen=True)
class Part:
    """A section, and its credits (hundredths) where it leaves a choice and one was made."""

    section: int
    credits: int | None = None


Option = tuple[Part, ...]  # sections to be had together or not at all


@dataclass(frozen=True)
class Line:
    """A wish: the first option that has seats; with `wait`, a place in line where none has."""

    options: tuple[Option, ...]
    wait: bool = True

    @property
    def sections(self) -> tuple[int, ...]:
        """Every section that the line names, by rank, once."""
        named = (part.section for option in self.options for part in option)
        return tuple(dict.fromkeys(named))


@dataclass(frozen=True)
class Plan:
    """What a student wants of a term; `version` counts its changes, 0 where there is none yet."""

    lines: tuple[Line, ...] = ()
    version: int = 0

    @property
    def sections(self) -> tuple[int, ...]:
        """Every section that the plan names, in its order."""
        return tuple(section for line in self.lines for section in line.sections)

    def line_of(self, section: int) -> int | None:
        """The number of the line, from 0, that names a section."""
        found = (at for at, line in enumerate(self.lines) if section in line.sections)
        return next(found, None)


class Hindrance(StrEnum):
    LINES = "lines"  # the plan is full
    OPTIONS = "options"  # the line is full
    TOGETHER = "together"  # the option is full
    SECTIONS = "sections"  # so are all options together
    PLANNED = "planned"  # the section stands in another line, or just so in this one
    GONE = "gone"  # there is no such line or option


class CannotPlan(ValueError):  # noqa: N818  a fact about a plan, not a mistake
    """A change that the plan has no room or place for."""

    def __init__(self, hindrance: Hindrance) -> None:
        super().__init__(hindrance.value)
        self.hindrance = hindrance


def add(plan: Plan, option: Option, *, wait: bool = True) -> Plan:
    """The option as a line of its own, the last."""
    return checked(replace(plan, lines=(*plan.lines, Line((option,), wait))))


def fall_back(plan: Plan, line: int, option: Option) -> Plan:
    """The option as the last fallback of a line."""
    return _with_options(plan, line, lambda options: (*options, option))


def join(plan: Plan, line: int, rank: int, part: Part) -> Plan:
    """One more section to be had together with those of an option."""
    return _with_options(
        plan, line, lambda options: _changed(options, rank, lambda option: (*option, part))
    )


def move(plan: Plan, line: int, by: int) -> Plan:
    """A line so many places further down; at most to the end."""
    return replace(plan, lines=_moved(plan.lines, line, by))


def rank(plan: Plan, line: int, option: int, by: int) -> Plan:
    """An option of a line so many ranks further down; at most to the end."""
    return _with_options(plan, line, lambda options: _moved(options, option, by))


def remove(plan: Plan, line: int) -> Plan:
    """The plan without a line."""
    _at(plan.lines, line)
    return replace(plan, lines=plan.lines[:line] + plan.lines[line + 1 :])


def remove_option(plan: Plan, line: int, option: int) -> Plan:
    """The plan without an option; without its line where it was the only one."""
    options = _at(plan.lines, line).options
    _at(options, option)
    if len(options) == 1:
        return remove(plan, line)
    return _with_options(plan, line, lambda _: options[:option] + options[option + 1 :])


def set_wait(plan: Plan, line: int, *, wait: bool) -> Plan:
    """Whether a place in line is welcome, where no option of the line has a seat."""
    return replace(plan, lines=_changed(plan.lines, line, lambda each: replace(each, wait=wait)))


def set_credits(plan: Plan, section: int, credits: int | None) -> Plan:  # noqa: A002
    """So many credits (hundredths) for a section, wherever it stands."""
    line = plan.line_of(section)
    if line is None:
        raise CannotPlan(Hindrance.GONE)
    chosen = Part(section, credits)
    return _with_options(
        plan,
        line,
        lambda options: tuple(
            tuple(chosen if part.section == section else part for part in option)
            for option in options
        ),
    )


def take_out(plan: Plan, section: int) -> Plan:
    """The plan without the options that name a section; nor their line, if no other is left."""
    at = plan.line_of(section)
    if at is None:
        raise CannotPlan(Hindrance.GONE)
    line = plan.lines[at]
    left = tuple(each for each in line.options if section not in {part.section for part in each})
    return _with_options(plan, at, lambda _: left) if left else remove(plan, at)


def without(plan: Plan, sections: Iterable[int]) -> Plan:
    """The plan without those lines that name one of the sections."""
    gone = set(sections)
    return replace(plan, lines=tuple(each for each in plan.lines if gone.isdisjoint(each.sections)))


def checked(plan: Plan) -> Plan:
    """The plan itself; raises CannotPlan where it is none."""
    if len(plan.lines) > MOST_LINES:
        raise CannotPlan(Hindrance.LINES)
    for line in plan.lines:
        _check(line)
    if sum(len(option) for line in plan.lines for option in line.options) > MOST_SECTIONS:
        raise CannotPlan(Hindrance.SECTIONS)
    if len(set(plan.sections)) < len(plan.sections):
        raise CannotPlan(Hindrance.PLANNED)
    return plan


def _check(line: Line) -> None:
    named = [tuple(part.section for part in option) for option in line.options]
    if not named or not all(named):
        raise CannotPlan(Hindrance.GONE)
    if len(named) > MOST_OPTIONS:
        raise CannotPlan(Hindrance.OPTIONS)
    if max(map(len, named)) > MOST_TOGETHER:
        raise CannotPlan(Hindrance.TOGETHER)
    if any(len(set(each)) < len(each) for each in named):
        raise CannotPlan(Hindrance.PLANNED)
    if len({frozenset(each) for each in named}) < len(named):
        raise CannotPlan(Hindrance.PLANNED)


def _with_options(
    plan: Plan, line: int, change: Callable[[tuple[Option, ...]], tuple[Option, ...]]
) -> Plan:
    lines = _changed(plan.lines, line, lambda each: replace(each, options=change(each.options)))
    return checked(replace(plan, lines=lines))


def _changed(all_of: tuple[Each, ...], at: int, change: Callable[[Each], Each]) -> tuple[Each, ...]:
    return (*all_of[:at], change(_at(all_of, at)), *all_of[at + 1 :])


def _moved(all_of: tuple[Each, ...], at: int, by: int) -> tuple[Each, ...]:
    one, rest = _at(all_of, at), (*all_of[:at], *all_of[at + 1 :])
    to = min(max(at + by, 0), len(rest))
    return (*rest[:to], one, *rest[to:])


def _at(all_of: tuple[Each, ...], at: int) -> Each:
    if not 0 <= at < len(all_of):
        raise CannotPlan(Hindrance.GONE)
    return all_of[at]
