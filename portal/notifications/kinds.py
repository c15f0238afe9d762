"""The kinds of notifications, in the order of the mail settings."""

from dataclasses import dataclass
from typing import Any

from portal.core.i18n import _l


@dataclass(frozen=True)
class Kind:
    """A kind: `label` and `hint` for its setting, `rank` in the outbox (0 goes first)."""

    name: str
    label: Any
    hint: Any
    rank: int = 0
    toast: bool = False  # open pages show the notification; for other kinds they show the event
    role: str = "student"  # who receives it


PROMOTED = Kind(
    "promoted",
    _l("A seat has come to you"),
    _l("You were on a waitlist, and now the seat is yours."),
)
PASSED_OVER = Kind(
    "passed_over",
    _l("A seat could not be yours"),
    _l("It was your turn, but a rule stood in the way. You are told which, and about your place."),
)
BY_HAND = Kind(
    "by_hand",
    _l("The registrar has changed your selections"),
    _l("You were put into a section, taken out of one, or moved."),
    toast=True,
)
CANCELED = Kind(
    "section_canceled",
    _l("A section has been canceled"),
    _l("You had a seat in it, or were on its waitlist."),
    toast=True,
)
COREQUISITE_LOST = Kind(
    "corequisite_lost",
    _l("A class of yours has lost its corequisite"),
    _l("You keep your seat, but another class that it must be taken with is gone."),
    toast=True,
)
CHANGED = Kind(
    "section_changed",
    _l("A section of yours has changed"),
    _l("Its times, rooms or teachers, or how it is held; you have a seat in it, or wait for one."),
    toast=True,
)
PERMITTED = Kind(
    "permitted",
    _l("You may pick a section past a rule, or no longer"),
    _l("The registrar has put rules of one section aside for you, or has taken that back."),
    toast=True,
)
HOLD = Kind(
    "hold",
    _l("There is a hold on your record, or it is lifted"),
    _l("While a hold stands, you can’t pick sections. You are told why and who lifts it."),
    toast=True,
)
WINDOW_SOON = Kind(
    "window_soon",
    _l("Your selection window begins soon"),
    _l("A day ahead, and once more shortly before."),
    rank=1,
    toast=True,
)

REQUEST_MADE = Kind(
    "request_made",
    _l("Somebody who teaches asks for something"),
    _l("More seats for a class, or a way past a rule for one student."),
    toast=True,
    role="admin",
)
REQUEST_DECIDED = Kind(
    "request_decided",
    _l("A request of yours has been decided"),
    _l("You asked for more seats, or for a way past a rule for one student."),
    toast=True,
    role="instructor",
)

KINDS = {
    kind.name: kind
    for kind in (
        PROMOTED,
        PASSED_OVER,
        BY_HAND,
        CANCELED,
        COREQUISITE_LOST,
        CHANGED,
        PERMITTED,
        HOLD,
        WINDOW_SOON,
        REQUEST_MADE,
        REQUEST_DECIDED,
    )
}
