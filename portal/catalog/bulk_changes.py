"""One change of several sections: their seats, waitlists, rooms or instructors.

The values are texts, as a form sends them. Undoing a change is the same change with the earlier
values of each section.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import cycle
from typing import Any

from portal.catalog.section_fields import MOST_SEATS, NamedInstructor, SectionDetails
from portal.catalog.views import MeetingView
from portal.core.form_fields import whole_number
from portal.core.i18n import _l

LONGEST_ROOM = 80

Values = Sequence[str]


Known = Sequence[NamedInstructor]


@dataclass(frozen=True)
class BulkChange:
    """A change: its name on the form, the input that its value comes from, and the field.

    `new` returns the new value of the field; it raises ValueError if the values don't fit.
    `undone_by` is the change that gives the field its earlier value, if it is another one.
    """

    label: Any
    uses: str  # `number`, `room` or `instructor`
    field: str  # of SectionDetails
    new: Callable[[SectionDetails, Values, Known], Any]
    undone_by: str = ""

    def apply(self, details: SectionDetails, values: Values, known: Known) -> SectionDetails:
        """Return the changed details. Raise ValueError if the values don't fit."""
        return replace(details, **{self.field: self.new(details, values, known)})


def earlier(action: str, details: SectionDetails) -> tuple[str, list[str]]:
    """Return the change that undoes one, and its values."""
    change = CHANGES[action]
    match value := getattr(details, change.field):
        case int():
            values = [str(value)]
        case _ if change.uses == "room":
            values = [each.room for each in value]
        case _:
            values = [str(each.id) for each in value]
    return change.undone_by or action, values


def _count(_details: object, values: Values, _known: object) -> int:
    [text] = values
    found = whole_number(text)
    if found is None or found > MOST_SEATS:
        raise ValueError(text)
    return found


def _more_seats(details: SectionDetails, values: Values, known: Known) -> int:
    [text] = (each.removeprefix("+") for each in values)
    more = _count(details, [text.removeprefix("-")], known) * (-1 if text.startswith("-") else 1)
    return min(max(0, details.capacity + more), MOST_SEATS)


def _meetings(details: SectionDetails, values: Values, _known: object) -> tuple[MeetingView, ...]:
    """Return the meetings in one room, or each in its own."""
    fits = all(len(room) <= LONGEST_ROOM and room == " ".join(room.split()) for room in values)
    if len(values) not in {1, len(details.meetings)} or not fits or "\0" in "".join(values):
        raise ValueError(values)
    pairs = zip(details.meetings, cycle(values), strict=False)
    return tuple(replace(each, room=room) for each, room in pairs)


def _instructors(_details: object, values: Values, known: Known) -> tuple[NamedInstructor, ...]:
    """Return the instructors of these ids."""
    ids = {whole_number(each) for each in values}
    found = tuple(each for each in known if each.id in ids)
    if len(found) != len(ids):
        raise ValueError(values)
    return found


def _with(details: SectionDetails, values: Values, known: Known) -> tuple[NamedInstructor, ...]:
    more = _instructors(details, values, known)
    ids = {each.id for each in (*details.instructors, *more)}
    return tuple(each for each in known if each.id in ids)


def _without(details: SectionDetails, values: Values, known: Known) -> tuple[NamedInstructor, ...]:
    gone = {each.id for each in _instructors(details, values, known)}
    return tuple(each for each in details.instructors if each.id not in gone)


SEATS, TEACH = "capacity", "instructors"
CHANGES = {
    "seats": BulkChange(_l("Set the seats"), "number", SEATS, _count),
    "more_seats": BulkChange(_l("Add or remove seats"), "number", SEATS, _more_seats, "seats"),
    "waitlist": BulkChange(_l("Set the waitlist capacity"), "number", "waitlist", _count),
    "room": BulkChange(_l("Set the room of all meetings"), "room", "meetings", _meetings),
    "add_instructor": BulkChange(_l("Add an instructor"), "instructor", TEACH, _with, TEACH),
    "remove_instructor": BulkChange(
        _l("Remove an instructor"), "instructor", TEACH, _without, TEACH
    ),
    # Only to undo the two above: a form offers no list of instructors.
    "instructors": BulkChange(_l("Set the instructors"), "", TEACH, _instructors),
}
