"""The kinds of news, in the order in which people choose what they want by mail."""

from dataclasses import dataclass
from typing import Any

from portal.words import _l


@dataclass(frozen=True)
class Kind:
    """A kind of news: `label` and `hint` for its setting, `rank` in the outbox (0 goes first)."""

    name: str
    label: Any
    hint: Any
    rank: int = 0
    toast: bool = False  # shown on open pages by its notice; the others, by their event


PROMOTED = Kind(
    "promoted",
    _l("A seat has come to you"),
    _l("You were on a waitlist, and now the seat is yours."),
)
PASSED_OVER = Kind(
    "passed_over",
    _l("A seat could not be yours"),
    _l("It was your turn, but a rule stood in the way. You are told which, and keep your place."),
)
CANCELED = Kind(
    "section_canceled",
    _l("A section has been canceled"),
    _l("You had a seat in it, or were on its waitlist."),
    toast=True,
)
WINDOW_SOON = Kind(
    "window_soon",
    _l("Your selection window begins soon"),
    _l("A day ahead, and once more shortly before."),
    rank=1,
    toast=True,
)

KINDS = {kind.name: kind for kind in (PROMOTED, PASSED_OVER, CANCELED, WINDOW_SOON)}
