"""Courses that are taken together, such as a lecture and its lab: each names the other."""

from collections.abc import Callable, Collection, Sequence
from functools import partial
from itertools import product
from typing import TYPE_CHECKING

from portal.catalog import requisites

if TYPE_CHECKING:
    from portal.catalog.term_catalog import SectionView, TermCatalog


def courses(section: "SectionView", catalog: "TermCatalog") -> list[int]:
    return [each for choice in _needed(section.corequisites, section, catalog) for each in choice]


def sections(section: "SectionView", catalog: "TermCatalog") -> list[list["SectionView"]]:
    """Return the open sections of each linked course; alternatives ("any") share one list."""
    choices = (
        [each for course in choice for each in catalog.sections_of(course) if each.status == "OPEN"]
        for choice in _needed(section.corequisites, section, catalog)
    )
    return [found for found in choices if found]


def can_be_met(
    section: "SectionView",
    missing: Collection[int],
    catalog: "TermCatalog",
    shows: "Callable[[SectionView], bool]",
) -> bool:
    """Return whether sections that the student is shown meet the missing corequisites."""
    choices = [
        {each.course_id for each in found if shows(each)} for found in sections(section, catalog)
    ]
    return are_met(section, missing, [each for each in choices if each], catalog)


def are_met(
    section: "SectionView",
    missing: Collection[int],
    choices: Sequence[Collection[int]],
    catalog: "TermCatalog",
) -> bool:
    """Return whether one course of each choice can meet the missing corequisites."""

    def met(leaf: requisites.Tree, chosen: Collection[int]) -> bool:
        course = catalog.course_id(requisites.key(leaf["course"])) or 0  # 0 if it is not offered
        return course in chosen or course not in missing

    return any(
        requisites.missing(section.corequisites, partial(met, chosen=chosen)) is None
        for chosen in product(*choices)
        if not set(chosen).isdisjoint(missing)
    )


def unlinked(chosen: Sequence["SectionView"]) -> list["SectionView"]:
    """Return those of sections chosen together that neither need another nor are needed."""
    if len(chosen) < 2:
        return []
    own = {each.id: requisites.key(each.course_code) for each in chosen}
    needs = {
        each.id: {requisites.key(code) for code in requisites.codes(each.corequisites)}
        for each in chosen
    }
    return [
        each
        for each in chosen
        if not any(
            own[other.id] in needs[each.id] or own[each.id] in needs[other.id]
            for other in chosen
            if other is not each
        )
    ]


def _needed(
    tree: requisites.Tree | None, section: "SectionView", catalog: "TermCatalog"
) -> list[list[int]]:
    """Return the linked courses that are needed: one of each list."""
    if not tree:
        return []
    if "course" in tree:
        course = catalog.course_id(requisites.key(str(tree["course"])))
        return [[course]] if course and _names_back(course, section, catalog) else []
    branches = [_needed(node, section, catalog) for node in tree.get("any") or tree.get("all", [])]
    choices = [choice for branch in branches for choice in branch]
    if "any" in tree and choices:
        return [[course for choice in choices for course in choice]]
    return choices


def _names_back(course: int, section: "SectionView", catalog: "TermCatalog") -> bool:
    own = requisites.key(section.course_code)
    named = (requisites.codes(each.corequisites) for each in catalog.sections_of(course))
    return any(requisites.key(code) == own for codes in named for code in codes)
