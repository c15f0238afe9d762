"""Small groups are not told apart: what became of fewer than five is somebody's own business."""

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, TypeVar

FEWEST = 5  # who asked, in a group whose outcome is shown

Row = dict[str, Any]
Name = TypeVar("Name", bound=Hashable)


def veiled(rows: Sequence[Row]) -> set[str]:
    """The names of the rows whose outcomes are not shown."""
    asked = {row["name"]: row["asked"] for row in rows}
    return _veil(asked, [set(asked)])


def veiled_cohorts(rows: Sequence[Row]) -> set[tuple[str, str]]:
    """The cohorts, as year and level, whose outcomes are not shown.

    The sums of each year and of each level stand in the report beside it.
    """
    asked = {(row["year"], row["level"]): row["asked"] for row in rows}
    sums = [set(asked)]
    for part in (0, 1):
        sums += [
            {each for each in asked if each[part] == of} for of in {each[part] for each in asked}
        ]
    return _veil(asked, sums)


def _veil(asked: Mapping[Name, int], sums: Sequence[set[Name]]) -> set[Name]:
    """The small ones, and of each group whose sum is known so many more that they stay hidden.

    What is hidden of a group follows together from the others and their sum: so that has to be
    the business of enough, too.
    """
    hidden = {name for name, count in asked.items() if count < FEWEST}
    before = -1
    while len(hidden) > before:
        before = len(hidden)
        for group in sums:
            for name in sorted(group - hidden, key=lambda each: (asked[each], str(each))):
                if 0 < sum(asked[each] for each in group & hidden) < FEWEST:
                    hidden.add(name)
    return hidden
