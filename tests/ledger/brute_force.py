"""Meetings and corequisites by brute force, for the model."""

from functools import cache
from typing import Any

from portal.ledger.types import Meeting

Tree = dict[str, Any]


@cache
def minutes(times: tuple[Meeting, ...]) -> frozenset[tuple[int, int]]:
    """Return every minute of every day on which a meeting takes place."""
    return frozenset(
        (day, minute)
        for days, start, end, first, last in times
        for day in range(first, last + 1)
        if days >> ((day - 4) % 7) & 1  # day 4, 1970-01-05, was a Monday
        for minute in range(start, end)
    )


def fulfilled(tree: Tree, courses: set[int]) -> bool:
    """Return whether these courses meet the corequisites."""
    if "course" in tree:
        return tree["course"] in courses
    branches = tree.get("all") or tree.get("any") or ()
    if "all" in tree:
        return all(fulfilled(branch, courses) for branch in branches)
    return not branches or any(fulfilled(branch, courses) for branch in branches)


def missing(tree: Tree, courses: set[int]) -> list[int]:
    """Return the missing courses of the branches that are not met."""
    if fulfilled(tree, courses):
        return []
    if "course" in tree:
        return [tree["course"]]
    return [
        course for branch in tree.get("all") or tree["any"] for course in missing(branch, courses)
    ]
