"""Courses that are taken together, such as a lecture and its lab: each names the other."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from portal.catalog import requisites

if TYPE_CHECKING:
    from portal.catalog.term_catalog import SectionView, TermCatalog


def courses(card: "SectionView", catalog: "TermCatalog") -> list[int]:
    """The courses that the section's course is linked with."""
    return [course for choice in _needed(card.corequisites, card, catalog) for course in choice]


def partners(card: "SectionView", catalog: "TermCatalog") -> list[list["SectionView"]]:
    """For each linked course that is needed, its open sections; of "any" all in one list."""
    choices = (
        [each for course in choice for each in catalog.sections_of(course) if each.status == "OPEN"]
        for choice in _needed(card.corequisites, card, catalog)
    )
    return [sections for sections in choices if sections]


def strangers(cards: Sequence["SectionView"]) -> list["SectionView"]:
    """Of sections that are asked for together, those that neither need another nor are needed."""
    if len(cards) < 2:
        return []
    own = {card.id: requisites.key(card.course_code) for card in cards}
    needs = {
        card.id: {requisites.key(code) for code in requisites.codes(card.corequisites)}
        for card in cards
    }
    return [
        card
        for card in cards
        if not any(
            own[other.id] in needs[card.id] or own[card.id] in needs[other.id]
            for other in cards
            if other is not card
        )
    ]


def _needed(
    tree: requisites.Tree | None, card: "SectionView", catalog: "TermCatalog"
) -> list[list[int]]:
    """Linked courses, one of each list."""
    if not tree:
        return []
    if "course" in tree:
        course = catalog.course_id(requisites.key(str(tree["course"])))
        return [[course]] if course and _names_back(course, card, catalog) else []
    branches = [_needed(node, card, catalog) for node in tree.get("any") or tree.get("all", [])]
    choices = [choice for branch in branches for choice in branch]
    if "any" in tree and choices:
        return [[course for choice in choices for course in choice]]
    return choices


def _names_back(course: int, card: "SectionView", catalog: "TermCatalog") -> bool:
    own = requisites.key(card.course_code)
    named = (requisites.codes(each.corequisites) for each in catalog.sections_of(course))
    return any(requisites.key(code) == own for codes in named for code in codes)
