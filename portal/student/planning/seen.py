"""A plan as a student sees it: names and times, and what is foreseen, in words."""

from collections.abc import Iterable
from dataclasses import dataclass

from markupsafe import Markup

from portal.backend import backend
from portal.catalog.term_catalog import MeetingView, SectionView
from portal.ledger.types import Reason, SeatCounts
from portal.registration.credits import credit_choices, points
from portal.registration.plans import Plan
from portal.registration.precheck import Reasons, likely_refusals_of_plan
from portal.registration.reasons import Explanation, explain
from portal.registration.requests import Alternative, Choice, SectionRequest
from portal.student import fragments, kept
from portal.student.alike import classes
from portal.student.earlier_terms import LastTime, last_time
from portal.student.rows import unknown
from portal.student.scene import Scene

# What stands in the way of every section alike, so that it is told once.
COMMON = {"hold"}


@dataclass(frozen=True)
class SeenPart:
    """A section as a part of an option; `card` is None where it is no longer offered."""

    section: int
    name: str
    card: SectionView | None
    meetings: tuple[MeetingView, ...]
    amounts: list[str]  # credits to choose from
    chosen: str
    counts: Markup
    kept: list[kept.Kept]
    last: LastTime | None


@dataclass(frozen=True)
class SeenOption:
    """Sections to be had together, and what stands in their way."""

    parts: list[SeenPart]
    problems: list[Explanation]

    @property
    def name(self) -> str:
        return " + ".join(part.name for part in self.parts)


@dataclass(frozen=True)
class SeenLine:
    """A line with its options by rank; `key` stays with it wherever it is moved."""

    options: list[SeenOption]
    wait: bool
    key: int

    @property
    def name(self) -> str:
        return self.options[0].name


@dataclass(frozen=True)
class SeenPlan:
    """All lines, and what stands in the way of them all."""

    lines: list[SeenLine]
    common: list[Explanation]


def seen(scene: Scene, plan: Plan, *, full: bool) -> SeenPlan:
    """The plan in words; `full` with counts, and how full each course was last time."""
    reasons = likely_refusals_of_plan(
        scene.profile, scene.catalog, scene.standing, scene.limit, plan
    )
    seats = backend().ledger.seats_of(scene.term.id, plan.sections) if full else {}
    last = last_time(scene.term.id) if full else {}

    def option(parts: Alternative, found: Reasons) -> SeenOption:
        return SeenOption([_part(scene, part, seats, last) for part in parts], own(scene, found))

    def line(at: int, each: Choice) -> SeenLine:
        later = {section for line in plan.choices[at + 1 :] for section in line.sections}
        first, *others = reasons[at]
        found = [{key: _before(why, later) for key, why in first.items()}, *others]
        return SeenLine([*map(option, each.alternatives, found)], each.wait, each.sections[0])

    everything = [each for line in reasons for found in line for each in found.values()]
    shared = [each for found in everything for each in found if each.code in COMMON]
    lines = [line(at, each) for at, each in enumerate(plan.choices)]
    return SeenPlan(lines, once(explain(shared, scene.case(None))))


def own(scene: Scene, reasons: Reasons) -> list[Explanation]:
    """What stands in the way of an option alone, in words."""
    return once(
        each
        for section, found in reasons.items()
        for each in scene.workable(explain(found, scene.case(scene.catalog.section(section))))
        if each.code not in COMMON
    )


def once(words: Iterable[Explanation]) -> list[Explanation]:
    """The same, each sentence once."""
    return list({each.text: each for each in words}.values())


def counts(seats: SeatCounts) -> Markup:
    """Live counts that may be on a page twice: scripts give one of them its id."""
    name = f"seats-{seats.section}"
    drawn = str(fragments.seats(seats)).replace(f' id="{name}"', "", 1)
    return Markup(f'<div class="counts" data-counts="{name}">{drawn}</div>')  # noqa: S704 - is drawn


def _before(reasons: list[Reason], later: set[int]) -> list[Reason]:
    """Of two first choices that clash the later loses, so it is told there alone."""
    return [
        each
        for each in reasons
        if not (each.facts.get("planned") and each.facts.get("section") in later)
    ]


def _part(
    scene: Scene, part: SectionRequest, seats: dict[int, SeatCounts], last: dict[int, LastTime]
) -> SeenPart:
    card = scene.catalog.section(part.section)
    known = seats.get(part.section) or (unknown(card) if card else None)
    return SeenPart(
        section=part.section,
        name=scene.case(None).named(part.section),
        card=card,
        meetings=classes(card) if card else (),
        amounts=credit_choices(card) if card else [],
        chosen="" if part.credits is None else points(part.credits),
        counts=counts(known) if known and seats else Markup(),
        kept=kept.told(scene, card) if card and seats else [],
        last=last.get(card.course_id) if card else None,
    )
