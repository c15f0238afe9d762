"""One change of several sections: their seats, waitlists, rooms or instructors.

The values are texts, as a form sends them. Undoing a change is the same change with the earlier
values of each section.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any

from portal.catalog.section_fields import MOST_SEATS, NamedInstructor, SectionDetails
from portal.core.form_fields import whole_number
from portal.core.i18n import _l

LONGEST_ROOM = 80

Values = Sequence[str]


@dataclass(frozen=True)
class BulkChange:
    """A change: its name on the form, and the input that its value comes from.

    `apply` returns the changed details; it raises ValueError if the values don't fit. `earlier`
    returns the name and the values of the change that undoes it.
    """

    label: Any
    uses: str  # `number`, `room` or `instructor`
    apply: Callable[[SectionDetails, Values, Sequence[NamedInstructor]], SectionDetails]
    earlier: Callable[[SectionDetails], tuple[str, list[str]]]


def _count(text: str) -> int:
    found = whole_number(text)
    if found is None or found > MOST_SEATS:
        raise ValueError(text)
    return found


def _seats(details: SectionDetails, values: Values, _known: object) -> SectionDetails:
    [text] = values
    return replace(details, capacity=_count(text))


def _more_seats(details: SectionDetails, values: Values, _known: object) -> SectionDetails:
    [text] = (each.removeprefix("+") for each in values)
    more = _count(text.removeprefix("-")) * (-1 if text.startswith("-") else 1)
    return replace(details, capacity=min(max(0, details.capacity + more), MOST_SEATS))


def _waitlist(details: SectionDetails, values: Values, _known: object) -> SectionDetails:
    [text] = values
    return replace(details, waitlist=_count(text))


def _room(details: SectionDetails, values: Values, _known: object) -> SectionDetails:
    """One room for all meetings, or one for each."""
    fits = all(len(room) <= LONGEST_ROOM and room == " ".join(room.split()) for room in values)
    if len(values) not in {1, len(details.meetings)} or not fits or "\0" in "".join(values):
        raise ValueError(values)
    pairs = zip(details.meetings, cycle(values), strict=False)
    return replace(details, meetings=tuple(replace(each, room=room) for each, room in pairs))


def _add(
    details: SectionDetails, values: Values, known: Sequence[NamedInstructor]
) -> SectionDetails:
    return _taught(details, {*_ids(details), *_chosen(values, known)}, known)


def _remove(
    details: SectionDetails, values: Values, known: Sequence[NamedInstructor]
) -> SectionDetails:
    return _taught(details, _ids(details) - _chosen(values, known), known)


def _instructors(
    details: SectionDetails, values: Values, known: Sequence[NamedInstructor]
) -> SectionDetails:
    return _taught(details, _chosen(values, known), known)


def _taught(
    details: SectionDetails, ids: set[int], known: Sequence[NamedInstructor]
) -> SectionDetails:
    return replace(details, instructors=tuple(each for each in known if each.id in ids))


def _ids(details: SectionDetails) -> set[int]:
    return {each.id for each in details.instructors}


def _chosen(values: Values, known: Sequence[NamedInstructor]) -> set[int]:
    """Return the instructors of these ids."""
    ids = {whole_number(each) for each in values}
    found = {each.id for each in known if each.id in ids}
    if len(found) != len(ids):
        raise ValueError(values)
    return found


def _earlier_seats(details: SectionDetails) -> tuple[str, list[str]]:
    return "seats", [str(details.capacity)]


def _earlier_instructors(details: SectionDetails) -> tuple[str, list[str]]:
    return "instructors", [str(each.id) for each in details.instructors]


CHANGES = {
    "seats": BulkChange(_l("Set the seats"), "number", _seats, _earlier_seats),
    "more_seats": BulkChange(_l("Add or remove seats"), "number", _more_seats, _earlier_seats),
    "waitlist": BulkChange(
        _l("Set the waitlist capacity"),
        "number",
        _waitlist,
        lambda details: ("waitlist", [str(details.waitlist)]),
    ),
    "room": BulkChange(
        _l("Set the room of all meetings"),
        "room",
        _room,
        lambda details: ("room", [each.room for each in details.meetings]),
    ),
    "add_instructor": BulkChange(_l("Add an instructor"), "instructor", _add, _earlier_instructors),
    "remove_instructor": BulkChange(
        _l("Remove an instructor"), "instructor", _remove, _earlier_instructors
    ),
    # Only to undo the two above: a form offers no list of instructors.
    "instructors": BulkChange(_l("Set the instructors"), "", _instructors, _earlier_instructors),
}
