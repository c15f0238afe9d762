"""Where a section could stand in a plan, and what is foreseen of it there."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from portal.catalog.term_catalog import SectionView
from portal.core.i18n import _
from portal.plans import plan as plans
from portal.plans.changes import Change
from portal.plans.outlook import load, outlook
from portal.plans.plan import MOST_TOGETHER, CannotPlan, Hindrance, Option, Part, Plan
from portal.seats import linked
from portal.seats.case import amount
from portal.seats.reasons import Told
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

    problems: list[Told]
    credits: str  # of all first choices and of what is held
    over: bool


def places(now: Scene, plan: Plan, card: SectionView) -> list[Place]:
    """Every place that the plan has for a section, the likeliest first."""
    joins = list(_joins(now, plan, card))
    elses = [
        (
            _is_of(card, now, line.sections),
            Place(f"else-{at}", _instead_of(now, at, line.options[0])),
        )
        for at, line in enumerate(plan.lines)
    ]
    own_line = Place("new", _("As a line of its own"))
    same = [place for alike, place in elses if alike]
    return [*joins, *same, own_line, *(place for alike, place in elses if not alike)]


def change_to(word: str, option: Option) -> Change:
    """Put the option into that place; raises CannotPlan where there is no such place."""
    said = WORD.fullmatch(word)
    line, rank = (int(said[2] or 0), int(said[3] or 0)) if said else (0, 0)
    match said[1] if said else "":
        case "new":
            return partial(plans.add, option=option)
        case "else":
            return partial(plans.fall_back, line=line, option=option)
        case "join":
            return partial(plans.join, line=line, rank=rank, part=option[0])
    raise CannotPlan(Hindrance.GONE)


def foresee(now: Scene, plan: Plan, section: int) -> Foresight:
    """What stands in the way of a section where it stands in the plan."""
    found = outlook(now.profile, now.catalog, now.standing, now.limit, plan)
    at = plan.line_of(section) or 0
    total = now.credits + load(plan, now.catalog)
    rank = next(
        rank
        for rank, option in enumerate(plan.lines[at].options)
        if section in {part.section for part in option}
    )
    return Foresight(own(now, found[at][rank]), amount(total), total > now.limit)


def _joins(now: Scene, plan: Plan, card: SectionView) -> Iterator[Place]:
    """Options that hold a partner of the section, and nothing of its own course yet."""
    partners = {each.id for group in linked.partners(card, now.catalog) for each in group}
    for at, line in enumerate(plan.lines):
        for rank, option in enumerate(line.options):
            sections = [part.section for part in option]
            fits = partners.intersection(sections) and len(sections) < MOST_TOGETHER
            if fits and not _is_of(card, now, sections):
                yield Place(f"join-{at}-{rank}", _together_with(now, option))


def _is_of(card: SectionView, now: Scene, sections: Sequence[int]) -> bool:
    return any(each.course_id == card.course_id for each in now.catalog.some(sections))


def _together_with(now: Scene, option: Option) -> str:
    return _("Together with %(name)s, both or neither", name=named(now, option))


def _instead_of(now: Scene, at: int, option: Option) -> str:
    name = named(now, option)
    return _("If %(name)s can’t be had (line %(number)s)", name=name, number=at + 1)


def named(now: Scene, option: Sequence[Part]) -> str:
    """The sections of an option, as people say them."""
    return " + ".join(now.case(None).named(part.section) for part in option)
