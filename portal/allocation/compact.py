"""A problem in small integers, so that a mechanism needs little time and memory.

Sections, bundles, students and cohorts are numbers. The seats of a student are a bit mask: each
course is a bit and each distinct meeting is a bit. A bundle `needs` its own bits and `blocks` every
bit that it excludes, so one AND finds every clash.
"""

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import cached_property, reduce
from itertools import combinations
from operator import or_
from typing import Any, NamedTuple

from portal.allocation.problem import Meeting, Problem, Section, clash, meet

Bit = str | Meeting  # what has a bit: a course, or a meeting
Part = tuple[Section, int]  # a section as it counts for a student, and its load
Key = tuple[Any, ...]  # what a bundle is known by: its sections, and how permissions change them
REFUSED = -1  # in the place of a bundle that the student may not take


class Option(NamedTuple):
    """One alternative of one choice of a student; `bundle` is a number, or REFUSED."""

    choice: int
    alternative: int
    bundle: int
    joint: str = ""


@dataclass
class Compact:
    """The problem in integers. An option of a student is known by its place in `options`."""

    problem: Problem
    options: list[tuple[Option, ...]]  # for each student, the best first
    bundles: list[tuple[int, ...]]  # section numbers
    needs: list[int] = field(default_factory=list)
    blocks: list[int] = field(default_factory=list)
    credits: list[int] = field(default_factory=list)
    loads: list[int] = field(default_factory=list)  # credits that count for the term's limit
    courses: list[frozenset[str]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)  # how many courses

    @cached_property
    def groups(self) -> dict[str, list[tuple[int, int]]]:
        """The members of each joint choice: a student, and the place of the option."""
        return {
            joint: [
                (student, place)
                for student, _ in members
                for place, option in enumerate(self.options[student])
                if option.joint == joint
            ]
            for joint, members in self.problem.groups.items()
        }

    def chosen(self, student: int, places: Iterable[int]) -> list[int]:
        """Return what a student takes of some options, walking them from the best down."""
        options, ballot = self.options[student], self.problem.ballots[student]
        needs, blocks, sizes = self.needs, self.blocks, self.sizes
        costs, loads, load_left = self.credits, self.loads, ballot.credit_limit
        busy, credits_left, courses_left = 0, ballot.most_credits, ballot.most_courses
        last, taken = -1, []
        for place in places:
            choice, _, bundle, _ = options[place]
            if (
                choice == last
                or bundle == REFUSED
                or needs[bundle] & busy
                or costs[bundle] > credits_left
                or loads[bundle] > load_left
                or sizes[bundle] > courses_left
            ):
                continue
            last = choice
            busy |= blocks[bundle]
            credits_left -= costs[bundle]
            load_left -= loads[bundle]
            courses_left -= sizes[bundle]
            taken.append(place)
            if not courses_left:
                break
        return taken

    def level(self, student: int, section: int) -> int:
        """Return a student's priority level at a section; 0 is the best."""
        priority = self.problem.settings.sections[section].priority
        cohorts = self.problem.ballots[student].cohorts
        for level, cohort in enumerate(priority):
            if cohort in cohorts:
                return level
        return len(priority)


@contextmanager
def without_collector() -> Iterator[None]:
    """Pause the garbage collector: it looks for cycles among a million tuples, and finds none."""
    collects = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collects:
            gc.enable()


@without_collector()
def compact(problem: Problem) -> Compact:
    """Return a problem in integers."""
    sections = problem.settings.sections
    number = {section.id: at for at, section in enumerate(sections)}
    bundles: dict[Key, int] = {}
    parts_of: list[list[Part]] = []
    clashing: set[int] = set()  # bundles that clash with themselves
    options = []
    for ballot in problem.ballots:
        refused = set(ballot.refused)
        mine = []
        for at, choice in enumerate(ballot.choices):
            for rank, names in enumerate(choice.alternatives):
                key: Key = names
                if ballot.own and not ballot.own.keys().isdisjoint(names):
                    key = names, *(str(ballot.own.get(name)) for name in names)
                bundle = bundles.get(key)
                if bundle is None:
                    bundle = bundles[key] = len(bundles)
                    parts = [_part(sections[number[each]], ballot.own.get(each)) for each in names]
                    parts_of.append(parts)
                    if any(clash(one, other) for (one, _), (other, _) in combinations(parts, 2)):
                        clashing.add(bundle)
                if bundle in clashing or not refused.isdisjoint(names):
                    bundle = REFUSED
                mine.append(Option(at, rank, bundle, choice.joint))
        options.append(tuple(mine))
    numbers = [tuple(number[part.id] for part, _ in parts) for parts in parts_of]
    made = Compact(problem, options, numbers)
    _add_masks(made, parts_of)
    return made


def _part(section: Section, own: Mapping[str, Any] | None) -> Part:
    """Return a section as it counts for a student, and its credits that count for the limit."""
    if not own:
        return section, section.credits
    differing = {name: own[name] for name in ("course", "credits") if name in own}
    meetings = () if "meetings" in own else section.meetings
    part = replace(section, meetings=meetings, **differing)
    return part, own.get("load", part.credits)


def _add_masks(made: Compact, parts_of: Sequence[Sequence[Part]]) -> None:
    bits: dict[Bit, int] = {}
    for parts in parts_of:
        for part, _ in parts:
            for key in _keys(part):
                bits.setdefault(key, len(bits))
    meetings = [key for key in bits if not isinstance(key, str)]
    excluded = {key: 1 << bit for key, bit in bits.items() if isinstance(key, str)} | {
        one: sum(1 << bits[other] for other in meetings if meet(one, other)) for one in meetings
    }
    for parts in parts_of:
        keys = {key for part, _ in parts for key in _keys(part)}
        made.needs.append(sum(1 << bits[key] for key in keys))
        made.blocks.append(reduce(or_, (excluded[key] for key in keys), 0))
        made.credits.append(sum(part.credits for part, _ in parts))
        made.loads.append(sum(load for _, load in parts))
        made.courses.append(frozenset(part.course for part, _ in parts))
        made.sizes.append(len(made.courses[-1]))


def _keys(section: Section) -> list[Bit]:
    return [section.course, *section.meetings]
