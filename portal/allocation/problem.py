"""A round's problem: the registrar's settings and the students' ballots, and their JSON.

Everything here is published. Credits are in hundredths. The portal checks beforehand what only it
can check: prerequisites, restrictions, holds, clashes with seats held before the round. A ballot
lists the sections that its student may not take, and what differs in a section for its student. The
limits of a ballot do not count seats held before.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Any

MECHANISMS = ("draft", "serial", "deferred")
OWN = frozenset({"course", "credits", "load", "meetings"})  # what may differ for a student
NO_LIMIT = 10**6
GROUP = (2, 4)  # fewest and most students of a joint choice

# Days (a bit mask, Monday 1 … Sunday 64), start and end (minutes since midnight), first and last
# day (days since 1970-01-01): the form of the ledger.
Meeting = tuple[int, int, int, int, int]
Bundle = tuple[str, ...]  # sections to be taken together


@dataclass(frozen=True, slots=True)
class Section:
    """A section with the seats that this round gives out.

    `reserves` are cohorts with their number of seats. `priority` lists cohorts, the first one
    first; only deferred acceptance reads it.
    """

    id: str
    course: str
    capacity: int
    credits: int = 0
    meetings: tuple[Meeting, ...] = ()
    pool: str = ""
    reserves: tuple[tuple[str, int], ...] = ()
    priority: tuple[str, ...] = ()


@dataclass(frozen=True)
class Settings:
    """The registrar's part. `tickets` are the most draw tickets that a student can have."""

    sections: tuple[Section, ...]
    mechanism: str = "draft"
    tickets: int = 1
    pools: Mapping[str, int] = field(default_factory=dict)
    name: str = ""
    commitment: str = ""  # SHA-256 of the secret
    public_source: str = ""  # where the public value will come from, named beforehand
    public_at: str = ""  # from when on it may be known: after the ballots were fixed

    @cached_property
    def by_id(self) -> dict[str, Section]:
        return {section.id: section for section in self.sections}


@dataclass(frozen=True, slots=True)
class Choice:
    """Ranked alternatives; a student gets at most one. `joint` names a group of students."""

    alternatives: tuple[Bundle, ...]
    joint: str = ""


@dataclass(frozen=True, slots=True)
class Ballot:
    """A student's ranked choices and limits, and the facts that the registrar adds.

    The facts: `cohorts`, the sections that rules refuse, and unmet first choices of earlier rounds.
    `credit_limit` is what the term's limit leaves. `own` has what differs in a section for this
    student: the `credits` chosen from a range; by a permission, `meetings` [] to allow time
    conflicts, a `course` of its own to allow another section of the same course, and a `load` of 0
    to pass the credit limit.
    """

    pseudonym: str
    choices: tuple[Choice, ...]
    most_credits: int
    most_courses: int
    cohorts: tuple[str, ...] = ()
    refused: tuple[str, ...] = ()
    unmet: int = 0
    credit_limit: int = NO_LIMIT
    own: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def sections(self) -> set[str]:
        bundles = (bundle for choice in self.choices for bundle in choice.alternatives)
        return {section for bundle in bundles for section in bundle}


@dataclass(frozen=True)
class Problem:
    """Settings and ballots. The ballots are in the order of their pseudonyms."""

    settings: Settings
    ballots: tuple[Ballot, ...]

    @cached_property
    def groups(self) -> dict[str, list[tuple[int, int]]]:
        """The members of each joint choice: the ballot and the choice, by number from 0."""
        found: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for student, ballot in enumerate(self.ballots):
            for number, choice in enumerate(ballot.choices):
                if choice.joint:
                    found[choice.joint].append((student, number))
        return dict(sorted(found.items()))


def make(settings: Settings, ballots: Iterable[Ballot]) -> Problem:
    """Return the problem with its ballots in order; raise ValueError if something is wrong."""
    problem = Problem(settings, tuple(sorted(ballots, key=lambda ballot: ballot.pseudonym)))
    wrong = next(mistakes(problem), None)
    if wrong:
        raise ValueError(wrong)
    return problem


def mistakes(problem: Problem) -> Iterator[str]:
    """Yield the mistakes in a problem, in words for its developer."""
    yield from _mistakes_of_settings(problem.settings)
    for one, other in pairwise(problem.ballots):
        if one.pseudonym >= other.pseudonym:
            yield f"{other.pseudonym}: two ballots, or ballots out of order"
    known = problem.settings.by_id
    for ballot in problem.ballots:
        yield from _mistakes_of_ballot(ballot, known)
    for joint, members in problem.groups.items():
        students = {student for student, _ in members}
        rankings = {
            problem.ballots[student].choices[choice].alternatives for student, choice in members
        }
        if not GROUP[0] <= len(students) == len(members) <= GROUP[1]:
            yield f"{joint}: a joint choice has two to four students"
        if len(rankings) > 1 or any(len(alternatives) != 1 for alternatives in rankings):
            yield f"{joint}: a joint choice is one alternative, the same for all"


def to_json(value: Settings | Ballot) -> dict[str, Any]:
    """Return settings or a ballot as JSON values; every field is present.

    But for a blank `public_at`: rounds that were frozen before it was asked for keep their root.
    """
    data = asdict(value)
    return {name: each for name, each in data.items() if name != "public_at" or each}


def settings_from_json(data: Mapping[str, Any]) -> Settings:
    sections = tuple(
        Section(
            **{
                **each,
                "meetings": tuple(_meeting(meeting) for meeting in each["meetings"]),
                "reserves": tuple((str(cohort), int(seats)) for cohort, seats in each["reserves"]),
                "priority": tuple(each["priority"]),
            }
        )
        for each in data["sections"]
    )
    return Settings(**{**data, "sections": sections})


def ballot_from_json(data: Mapping[str, Any]) -> Ballot:
    choices = tuple(
        Choice(tuple(tuple(bundle) for bundle in each["alternatives"]), each["joint"])
        for each in data["choices"]
    )
    lists = {name: tuple(data[name]) for name in ("cohorts", "refused")}
    return Ballot(**{**data, **lists, "choices": choices})


def clash(one: Section, other: Section) -> bool:
    """Return whether two sections meet at the same time on some day, as the ledger sees it."""
    return any(meet(a, b) for a in one.meetings for b in other.meetings)


def meet(a: Meeting, b: Meeting) -> bool:
    """Return whether two meetings are at the same time on some day."""
    if a[1] >= b[2] or b[1] >= a[2]:
        return False
    first, last = max(a[3], b[3]), min(a[4], b[4])
    days = range(first, min(last, first + 6) + 1)  # seven days show every weekday
    return any((a[0] & b[0]) >> (day + 3) % 7 & 1 for day in days)  # day 0 was a Thursday


def _meeting(data: Iterable[int]) -> Meeting:
    days, start, end, first, last = data
    return days, start, end, first, last


def _mistakes_of_settings(settings: Settings) -> Iterator[str]:
    if settings.mechanism not in MECHANISMS:
        yield f"{settings.mechanism}: no such mechanism"
    if settings.tickets < 1:
        yield "every student needs a ticket"
    for name, times in Counter(section.id for section in settings.sections).items():
        if times > 1:
            yield f"{name}: twice among the sections"
    for section in settings.sections:
        if section.capacity < 0 or section.credits < 0:
            yield f"{section.id}: a negative number"
        if sum(seats for _, seats in section.reserves) > section.capacity:
            yield f"{section.id}: more seats are reserved than there are"
        if any(seats < 0 for _, seats in section.reserves):
            yield f"{section.id}: a negative number"
        if section.pool and section.pool not in settings.pools:
            yield f"{section.id}: no such pool"


def _mistakes_of_ballot(ballot: Ballot, known: Mapping[str, Section]) -> Iterator[str]:
    bundles = [bundle for choice in ballot.choices for bundle in choice.alternatives]
    if any(name not in known for bundle in bundles for name in bundle):
        yield f"{ballot.pseudonym}: no such section"
    if any(not OWN.issuperset(own) for own in ballot.own.values()):
        yield f"{ballot.pseudonym}: something differs that can't"
    if any(own.get(name, 0) < 0 for own in ballot.own.values() for name in ("credits", "load")):
        yield f"{ballot.pseudonym}: a negative number"
    if any(not bundle or len(set(bundle)) < len(bundle) for bundle in bundles):
        yield f"{ballot.pseudonym}: an alternative is empty, or has a section twice"
