"""A round's result: the seats of each student, and for each alternative the reason."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from functools import cached_property

from portal.allocation.compact import REFUSED, Compact, Option

Held = dict[int, int]  # the places of a student's options, each with its turn


class Why(StrEnum):
    """What became of an alternative."""

    SEATED = "seated"
    NOT_NEEDED = "not_needed"  # a better alternative of the choice was given
    RULE = "rule"
    CLASH = "clash"  # with a higher choice
    SAME_COURSE = "same_course"  # as a higher choice
    MOST_COURSES = "most_courses"
    CREDITS = "credits"
    JOINT = "joint"  # not everyone in the group could take it; or it would cost a joint choice
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Reason:
    """Why an alternative was given or not.

    `turn` counts from 1; 0 means no turn: under deferred acceptance, and for seats of the final
    pass. `other` is the choice, from 0, that a clash is with, or the joint one that it would cost.
    """

    why: Why
    turn: int = 0
    other: int = -1


@dataclass(frozen=True)
class Result:
    """What every student holds. `order` is the draw order.

    `taken` has the reserve of each seat, by student and section; it is negative for an open seat.
    """

    table: Compact
    mechanism: str
    order: list[int]
    held: list[Held]
    taken: Mapping[tuple[int, int], int] = field(default_factory=dict)

    @cached_property
    def positions(self) -> dict[int, int]:
        """The place of each student in the draw order, from 1."""
        return {student: place for place, student in enumerate(self.order, start=1)}

    def seatings(self, student: int) -> Iterator[tuple[Option, int]]:
        """Yield the options that a student got, with their turns, the best first."""
        for place, turn in sorted(self.held[student].items()):
            yield self.table.options[student][place], turn

    def sections(self, student: int) -> list[int]:
        """Return the sections that a student got, by number."""
        return [
            section
            for option, _ in self.seatings(student)
            for section in self.table.bundles[option.bundle]
        ]

    def to_json(self) -> dict[str, list[list[int]]]:
        """Return choice, alternative (both from 1) and turn of each seating, by pseudonym."""
        return {
            ballot.pseudonym: [
                [option.choice + 1, option.alternative + 1, turn]
                for option, turn in self.seatings(student)
            ]
            for student, ballot in enumerate(self.table.problem.ballots)
        }


def reserves(result: Result) -> dict[str, list[list[str]]]:
    """Return the cohort of the reserve of each seat, blank for an open seat, by pseudonym.

    The seatings are in the order of `Result.to_json`, the sections of each in that of the bundle.
    """
    table, sections = result.table, result.table.problem.settings.sections

    def cohort(student: int, section: int) -> str:
        reserve = result.taken[student, section]
        return sections[section].reserves[reserve][0] if reserve >= 0 else ""

    return {
        ballot.pseudonym: [
            [cohort(student, section) for section in table.bundles[option.bundle]]
            for option, _ in result.seatings(student)
        ]
        for student, ballot in enumerate(table.problem.ballots)
    }


def reasons(result: Result, student: int) -> list[list[Reason]]:
    """Return the reason for each alternative of each choice of a student."""
    table, mine = result.table, result.held[student]
    found: list[list[Reason]] = [[] for _ in table.problem.ballots[student].choices]
    above: list[Option] = []
    for place, option in enumerate(table.options[student]):
        if place in mine:
            above.append(option)
            reason = Reason(Why.SEATED, mine[place])
        elif above and above[-1].choice == option.choice:
            reason = Reason(Why.NOT_NEEDED)
        else:
            reason = _refusal(table, student, option, above) or _no_seat(result, student, place)
        found[option.choice].append(reason)
    return found


def _refusal(
    table: Compact, student: int, option: Option, above: Sequence[Option]
) -> Reason | None:
    """Return what in the ballot and the seats above an option excludes it."""
    if option.bundle == REFUSED:
        return Reason(Why.RULE)
    ballot = table.problem.ballots[student]
    for other in above:
        if table.needs[option.bundle] & table.blocks[other.bundle]:
            same = table.courses[option.bundle] & table.courses[other.bundle]
            return Reason(Why.SAME_COURSE if same else Why.CLASH, other=other.choice)
    if sum(table.sizes[each.bundle] for each in (*above, option)) > ballot.most_courses:
        return Reason(Why.MOST_COURSES)
    if sum(table.credits[each.bundle] for each in (*above, option)) > ballot.most_credits:
        return Reason(Why.CREDITS)
    if sum(table.loads[each.bundle] for each in (*above, option)) > ballot.credit_limit:
        return Reason(Why.CREDITS)
    return None


def _no_seat(result: Result, student: int, place: int) -> Reason:
    options, mine = result.table.options[student], result.held[student]
    if options[place].joint:
        return Reason(Why.JOINT)
    after = result.table.chosen(student, sorted((*mine, place)))
    for lower in mine.keys() - after:
        if options[lower].joint and options[lower].choice != options[place].choice:
            return Reason(Why.JOINT, other=options[lower].choice)
    return Reason(Why.FULL, _turn_at(result, student, place))


def _turn_at(result: Result, student: int, place: int) -> int:
    """Return the turn in which a student came to an option that was full."""
    if result.mechanism == "deferred":
        return 0
    if result.mechanism == "serial":
        return result.positions[student]
    mine = sorted(result.held[student].items())
    after = [turn for at, turn in mine if at > place and turn]
    if after:
        return after[0]
    before = [(turn, at) for at, turn in mine if turn]
    if not before:
        return 1
    turn, at = before[-1]
    option = result.table.options[student][at]
    return turn + result.table.sizes[option.bundle]
