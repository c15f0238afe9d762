"""Two admins, one section: what each of them has changed, and both changes in one."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from portal.catalog.editing import trail
from portal.catalog.editing.details import Details
from portal.catalog.editing.words import Difference, differences

Whose = Literal["theirs", "mine", "both"]


@dataclass(frozen=True)
class Merged:
    """`wanted` has the changes of both, mine where both changed a field; and whose each was.

    In each difference `old` is theirs, as it is stored now, and `new` mine.
    """

    wanted: Details
    fields: list[tuple[Difference, Whose]]


def merge(base: Mapping[str, Any] | None, theirs: Details, mine: Details) -> Merged:
    """Both versions in one; where nobody knows the `base` of both, mine stands as it is."""
    by_them, by_me = trail.changed(base, theirs), trail.changed(base, mine)
    fields: list[tuple[Difference, Whose]] = []
    for each in differences(theirs, mine):
        both = each.name in by_them and each.name in by_me
        fields.append((each, "both" if both else "theirs" if each.name in by_them else "mine"))
    taken = {each.name: getattr(theirs, each.name) for each, whose in fields if whose == "theirs"}
    return Merged(replace(mine, **taken), fields)
