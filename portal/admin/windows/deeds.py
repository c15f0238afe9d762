"""What can be done to a window, in words: for each deed its fields and the phase that it needs."""

from collections.abc import Callable
from dataclasses import dataclass

from portal.core.i18n import _l
from portal.ledger.types import Change
from portal.windows import service


@dataclass(frozen=True)
class Deed:
    """One thing to do to a window: its words, its fields, the phase that it needs."""

    title: str
    meaning: str
    line: str  # for those in the waiting room: with `waiting` and `inside`
    button: str
    done: str  # with a placeholder for the window's name
    phase: str
    fields: tuple[str, ...]
    do: Callable[..., Change]


DEEDS = {
    "move": Deed(
        _l("Move the window"),
        _l("Students see the new times at once; countdowns on open pages follow."),
        _l("In the waiting room: %(waiting)s. They keep their places."),
        _l("Move it"),
        _l("Moved: %(name)s."),
        "before",
        ("opens", "closes"),
        service.move,
    ),
    "cancel": Deed(
        _l("Cancel the window"),
        _l("It will not begin, as students see at once."),
        _l("In the waiting room: %(waiting)s. They are let go."),
        _l("Cancel the window"),
        _l("Canceled: %(name)s."),
        "before",
        (),
        service.cancel,
    ),
    "extend": Deed(
        _l("Extend the window"),
        _l("It goes on without a break until the new end; countdowns on open pages follow."),
        _l("In line: %(waiting)s, inside: %(inside)s. All of them have more time."),
        _l("Extend it"),
        _l("Extended: %(name)s."),
        "open",
        ("closes",),
        service.extend,
    ),
    "close": Deed(
        _l("Close the window now"),
        _l(
            "From this moment on nobody can pick or drop through it. Seats that are held stay held."
        ),
        _l("In line: %(waiting)s, inside: %(inside)s. None of them can pick any more."),
        _l("Close it now"),
        _l("Closed: %(name)s."),
        "open",
        (),
        service.close,
    ),
}
TOO_LATE = {"before": "not_open", "open": "already_open", "ended": "already_ended"}
REFUSED = {
    "already_open": _l(
        "The window has begun, so it can't be moved or canceled. Extend or close it."
    ),
    "already_ended": _l(
        "The window has ended, so nothing about it can be changed. Schedule another."
    ),
    "not_open": _l(
        "The window has not begun, so it can't be extended or closed. Move or cancel it."
    ),
    "canceled": _l(
        "The window was canceled, so nothing about it can be changed. Schedule another."
    ),
    "times_crossed": _l(
        "The end must come after the beginning, and after the end that it has now."
    ),
    "in_the_past": _l("The end is in the past."),
    "unknown": _l("There is no such window in this term."),
    "exists": _l("This form was sent before with other content. Begin again."),
    "changed": _l(
        "Somebody has changed the window since you looked at it, so nothing was done."
        " Below is how it is now."
    ),
}
