"""Where a section could stand in a plan, and what is foreseen of it there."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from portal.catalog import linked_courses
from portal.catalog.term_catalog import SectionView
from portal.core.i18n import _
from portal.registration import plans
from portal.registration.credits import amount
from portal.registration.plans import MOST_TOGETHER, CannotPlan, Change, Plan, Problem
from portal.registration.precheck import likely_refusals_of_plan, plan_credits
from portal.registration.reasons import Explanation
from portal.registration.requests import Alternative, SectionRequest
from portal.student.planning.seen import own
from portal.student.scene import Scene

WORD = re.compile(r"(new|else|join)(?:-(\d{1,3}))?(?:-(\d{1,3}))?", re.ASCII)


@dataclass(frozen=True)
class Place:
    """A place in words, and the word that a form sends for it."""

    word: str
    label: str


@dataclass(frozen=True)
class Foresight:
    """What is known of a plan with the section in it."""

    problems: list[Explanation]
    credits: str  # of all first choices and of what is held
    over: bool


def places(now: Scene, plan: Plan, card: SectionView) -> list[Place]:
    """Every place that the plan has for a section, the likeliest first."""
    joins = list(_joins(now, plan, card))
    elses = [
        (
            _is_of(card, now, line.sections),
            Place(f"else-{at}", _instead_of(now, at, line.alternatives[0])),
        )
        for at, line in enumerate(plan.choices)
    ]
    own_line = Place("new", _("As a line of its own"))
    same = [place for alike, place in elses if alike]
    return [*joins, *same, own_line, *(place for alike, place in elses if not alike)]


def change_to(word: str, option: Alternative) -> Change:
    """Put the option into that place; raises CannotPlan where there is no such place."""
    said = WORD.fullmatch(word)
    line, rank = (int(said[2] or 0), int(said[3] or 0)) if said else (0, 0)
    match said[1] if said else "":
        case "new":
            return partial(plans.add, alternative=option)
        case "else":
            return partial(plans.add_alternative, choice=line, alternative=option)
        case "join":
            return partial(plans.join, choice=line, rank=rank, request=option[0])
    raise CannotPlan(Problem.GONE)


def foresee(now: Scene, plan: Plan, section: int) -> Foresight:
    """What stands in the way of a section where it stands in the plan."""
    found = likely_refusals_of_plan(now.profile, now.catalog, now.standing, now.limit, plan)
    at = plan.choice_of(section) or 0
    total = now.credits + plan_credits(plan, now.catalog)
    rank = next(
        rank
        for rank, option in enumerate(plan.choices[at].alternatives)
        if section in {part.section for part in option}
    )
    return Foresight(own(now, found[at][rank]), amount(total), total > now.limit)


def _joins(now: Scene, plan: Plan, card: SectionView) -> Iterator[Place]:
    """Options that hold a partner of the section, and nothing of its own course yet."""
    partners = {each.id for group in linked_courses.sections(card, now.catalog) for each in group}
    for at, line in enumerate(plan.choices):
        for rank, option in enumerate(line.alternatives):
            sections = [part.section for part in option]
            fits = partners.intersection(sections) and len(sections) < MOST_TOGETHER
            if fits and not _is_of(card, now, sections):
                yield Place(f"join-{at}-{rank}", _together_with(now, option))


def _is_of(card: SectionView, now: Scene, sections: Sequence[int]) -> bool:
    return any(each.course_id == card.course_id for each in now.catalog.some(sections))


def _together_with(now: Scene, option: Alternative) -> str:
    return _("Together with %(name)s, both or neither", name=named(now, option))


def _instead_of(now: Scene, at: int, option: Alternative) -> str:
    name = named(now, option)
    return _("If %(name)s can’t be had (line %(number)s)", name=name, number=at + 1)


def named(now: Scene, option: Sequence[SectionRequest]) -> str:
    """The sections of an option, as people say them."""
    return " + ".join(now.case(None).named(part.section) for part in option)
