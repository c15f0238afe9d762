"""A student's own state as fragments; drawn by the student's pages, which come above this room."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Own:
    """What one student is shown of themselves, and the sections whose waitlists they are on."""

    html: str
    waits: frozenset[int]


# term, student, sections whose cells are to be drawn anew, events to be told in words, the mark of
# the panel that the page shows, and the sections that it shows
Draw = Callable[[int, int, Iterable[int], Sequence[dict[str, Any]], str, Iterable[int]], Own]

_draw: list[Draw] = []


def drawn_by(draw: Draw) -> Draw:
    """Take `draw` as what draws a student's own fragments."""
    _draw[:] = [draw]
    return draw


def draw(  # noqa: PLR0913, PLR0917 - what a page shows, and what happened
    term: int,
    student: int,
    sections: Iterable[int],
    moments: Sequence[dict[str, Any]],
    mark: str = "",
    shown: Iterable[int] = (),
) -> Own:
    """The student's panel, places on waitlists, the cells of `sections`, and news in words."""
    return (
        _draw[0](term, student, sections, moments, mark, shown) if _draw else Own("", frozenset())
    )
