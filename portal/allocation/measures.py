"""Measures of a result, for the registrar to compare mechanisms on the same ballots.

Some need the worth of a schedule to a student. A ballot of n choices is worth n points for the
first, n - 1 for the second, and 1 for the last; a lower alternative counts as its choice. This is
a yardstick, not what students feel.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import islice
from statistics import fmean

from portal.allocation.compact import REFUSED, Compact, compact
from portal.allocation.mechanisms import run, ticket
from portal.allocation.problem import Problem
from portal.allocation.result import Result

LARGE = 30  # students of a cohort whose shares say something


@dataclass(frozen=True, slots=True)
class Measures:
    """The table of a result. Shares are between 0 and 1, of students with at least one choice."""

    students: int
    first_choice: float  # share who got their first choice
    choices: float  # choices obtained, the mean
    courses: float  # courses obtained, the mean
    nothing: float  # share who got nothing
    few: float  # share who got at most two courses, of those who ranked three or more
    envy: float  # share who would rather have another student's schedule, of a sample
    justified_envy: float  # share turned away from a section with someone of lower priority
    seats_left: int
    spread: float  # between the best and the worst large cohort, of the share with first choice


@dataclass(frozen=True, slots=True)
class CohortMeasures:
    """The same of one cohort."""

    students: int
    first_choice: float
    courses: float


@dataclass(frozen=True, slots=True)
class Gain:
    """What sampled students could gain by another ballot, in points of their own ballot.

    `hindsight` is the share who could have gained had they known the draw and all ballots.
    `beforehand` is the share whose best other ballot is better on average over the draws that were
    tried. `mean` is their mean gain, as a share of the points that the true ballot brings.
    """

    students: int
    hindsight: float
    beforehand: float
    mean: float


def measures(result: Result, sample: int = 2000) -> Measures:
    """Return the table of a result; envy is looked for among `sample` students."""
    active = _active(result.table)
    courses = {student: _courses(result, student) for student in active}
    wanted = [
        student for student in active if len(result.table.problem.ballots[student].choices) > 2
    ]
    cohorts = [each for each in by_cohort(result).values() if each.students >= LARGE]
    firsts = [each.first_choice for each in cohorts]
    return Measures(
        students=len(active),
        first_choice=_mean(_has_first(result, student) for student in active),
        choices=_mean(len(result.held[student]) for student in active),
        courses=_mean(courses.values()),
        nothing=_mean(not courses[student] for student in active),
        few=_mean(courses[student] <= 2 for student in wanted),
        envy=_mean(_envies(result, sample)),
        justified_envy=len({student for student, _ in blocking_pairs(result)})
        / max(1, len(active)),
        seats_left=sum(_seats_left(result)),
        spread=max(firsts, default=0) - min(firsts, default=0),
    )


def by_cohort(result: Result) -> dict[str, CohortMeasures]:
    """Return the main measures of each cohort, by name."""
    ballots = result.table.problem.ballots
    members: dict[str, list[int]] = defaultdict(list)
    for student in _active(result.table):
        for cohort in ballots[student].cohorts:
            members[cohort].append(student)
    return {
        cohort: CohortMeasures(
            students=len(students),
            first_choice=_mean(_has_first(result, student) for student in students),
            courses=_mean(_courses(result, student) for student in students),
        )
        for cohort, students in sorted(members.items())
    }


def points(table: Compact, student: int, places: Iterable[int]) -> int:
    """Return the worth of some options to a student."""
    ranked = len(table.problem.ballots[student].choices)
    return sum(ranked - table.options[student][place].choice for place in places)


def blocking_pairs(result: Result) -> Iterator[tuple[int, int]]:
    """Yield students, each with the place of an option that they would take and were denied.

    Every section of the option has a free seat, or a seat held by a student of lower priority.
    The draw order counts as priority under deferred acceptance and serial dictatorship. In a draft
    it changes with each turn, so students of the same level have equal priority there. Reserved
    seats and pools are left out: only sections without them are compared.
    """
    table, worst = result.table, _worst_holders(result)
    left = _seats_left(result)
    position = {student: at for at, student in enumerate(result.order)}
    sections = table.problem.settings.sections
    for student, options in enumerate(table.options):
        mine = result.held[student]
        for place, option in enumerate(options):
            if option.bundle == REFUSED or option.joint or place in mine:
                continue
            parts = table.bundles[option.bundle]
            if any(sections[each].pool or sections[each].reserves for each in parts):
                continue
            rank = 0 if result.mechanism == "draft" else position[student]
            denied = all(
                left[each] > 0 or worst[each] > (table.level(student, each), rank) for each in parts
            )
            if denied and place in table.chosen(student, sorted((*mine, place))):
                yield student, place


def gain(problem: Problem, mechanism: str, seeds: Sequence[str], students: int = 50) -> Gain:
    """Return what a sample of students could gain by another ballot; it tries some for each.

    The other ballots rank one of the later choices first, or leave the first one out.
    """
    table = compact(problem)
    truth = [run(table, seed, mechanism) for seed in seeds]
    hindsight, gains = [], []
    for student in islice(_sample(table), students):
        own = [points(table, student, each.held[student]) for each in truth]
        others = [
            [_points_with(table, student, order, seed, mechanism) for seed in seeds]
            for order in _other_orders(len(problem.ballots[student].choices))
        ]
        pairs = [other > mine for tried in others for other, mine in zip(tried, own, strict=True)]
        hindsight.append(any(pairs))
        best = max((fmean(tried) for tried in others), default=0)
        gains.append(max(0.0, best - fmean(own)) / max(1.0, fmean(own)))
    better = [each for each in gains if each > 0]
    return Gain(len(gains), _mean(hindsight), len(better) / max(1, len(gains)), _mean(better))


def _points_with(
    table: Compact, student: int, order: Sequence[int], seed: str, mechanism: str
) -> int:
    """Return the true worth of what a student gets with the choices in another order."""
    own = table.options[student]
    other = tuple(
        option._replace(choice=new)
        for new, old in enumerate(order)
        for option in own
        if option.choice == old
    )
    options = [*table.options[:student], other, *table.options[student + 1 :]]
    result = run(replace(table, options=options), seed, mechanism)
    ranked = len(table.problem.ballots[student].choices)
    return sum(ranked - order[option.choice] for option, _ in result.seatings(student))


def _other_orders(ranked: int) -> Iterator[list[int]]:
    for first in range(1, ranked):
        yield [first, *(at for at in range(ranked) if at != first)]
    if ranked > 1:
        yield list(range(1, ranked))


def _envies(result: Result, sample: int) -> Iterator[bool]:
    """Yield whether each student of a sample envies another one."""
    table = result.table
    sections = [frozenset(result.sections(student)) for student in range(len(table.options))]
    holders: dict[int, list[int]] = defaultdict(list)
    for student, mine in enumerate(sections):
        for section in mine:
            holders[section].append(student)
    for student in islice(_sample(table), sample):
        own = points(table, student, result.held[student])
        yield any(
            points(table, student, table.chosen(student, places)) > own
            for places in _of_others(table, student, sections, holders)
            if points(table, student, places) > own
        )


def _of_others(
    table: Compact,
    student: int,
    sections: Sequence[frozenset[int]],
    holders: dict[int, list[int]],
) -> Iterator[list[int]]:
    """Yield the options of a student that each other student's sections contain."""
    found: dict[int, list[int]] = defaultdict(list)
    for place, option in enumerate(table.options[student]):
        if option.bundle == REFUSED:
            continue
        first, *rest = table.bundles[option.bundle]
        for other in holders[first]:
            if other != student and sections[other].issuperset(rest):
                found[other].append(place)
    yield from found.values()


def _sample(table: Compact) -> Iterator[int]:
    """Yield the students with choices in an order that has nothing to do with the round."""
    ballots = table.problem.ballots
    yield from sorted(
        _active(table), key=lambda student: ticket("sample", ballots[student].pseudonym)
    )


def _worst_holders(result: Result) -> list[tuple[int, int]]:
    """Return for each section the lowest priority of those who hold a seat."""
    table = result.table
    worst = [(-1, -1) for _ in table.problem.settings.sections]
    for position, student in enumerate(result.order):
        rank = 0 if result.mechanism == "draft" else position
        for section in result.sections(student):
            worst[section] = max(worst[section], (table.level(student, section), rank))
    return worst


def _seats_left(result: Result) -> list[int]:
    left = [section.capacity for section in result.table.problem.settings.sections]
    for student in range(len(result.held)):
        for section in result.sections(student):
            left[section] -= 1
    return left


def _active(table: Compact) -> list[int]:
    return [student for student, options in enumerate(table.options) if options]


def _has_first(result: Result, student: int) -> bool:
    return any(option.choice == 0 for option, _ in result.seatings(student))


def _courses(result: Result, student: int) -> int:
    return sum(result.table.sizes[option.bundle] for option, _ in result.seatings(student))


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return fmean(found) if found else 0.0
