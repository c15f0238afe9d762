"""Fragments of pages, rendered by functions that the web layer registers."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any

from portal.live import topics
from portal.live.listeners import Listeners
from portal.live.page import Batch, Page


@dataclass(frozen=True)
class OwnFragments:
    """A student's own state as HTML, and the sections whose waitlists they are on."""

    html: str
    waits: frozenset[int]


# term, student, sections whose cells to render, events to announce, the version mark of the page's
# panel, the sections that the page shows
DrawStudent = Callable[
    [int, int, Iterable[int], Sequence[dict[str, Any]], str, Iterable[int]], OwnFragments
]

_draw_student: list[DrawStudent] = []


def draws_student(draw: DrawStudent) -> DrawStudent:
    """Register the function that renders a student's own fragments."""
    _draw_student[:] = [draw]
    return draw


def draw_student(  # noqa: PLR0913, PLR0917 - what a page shows, and what happened
    term: int,
    student: int,
    sections: Iterable[int],
    moments: Sequence[dict[str, Any]],
    mark: str = "",
    shown: Iterable[int] = (),
) -> OwnFragments:
    """Render the student's panel, waitlist positions, cells of `sections` and announcements."""
    return (
        _draw_student[0](term, student, sections, moments, mark, shown)
        if _draw_student
        else OwnFragments("", frozenset())
    )


Fragments = dict[str, str]  # HTML by element id
DrawOperations = Callable[
    [Collection[str]], dict[str, Fragments]
]  # in these languages, by language

_draw_operations: list[DrawOperations] = []


def draws_operations(draw: DrawOperations) -> None:
    """Register the function that reads and renders the figures of the operations page."""
    _draw_operations[:] = [draw]


class OperationsPages:
    """The open operations pages of this process; reads figures only if there are any."""

    def __init__(self, listening: Listeners, lock: Lock) -> None:
        self._topics = listening
        self._lock = lock
        self._sent: dict[Page, Fragments] = {}

    def fragments(self, language: str) -> str:
        """Render all figures."""
        return "".join(_draw_operations[0]([language])[language].values())

    def tell(self) -> None:
        """Send each page the figures that have changed since the last time."""
        with self._lock:
            pages = list(self._topics.of(topics.operations()))
        self._sent = {page: sent for page, sent in self._sent.items() if page in pages}
        if not pages:
            return
        drawn = _draw_operations[0]({page.language for page in pages})
        for page in pages:
            known, now = self._sent.get(page, {}), drawn[page.language]
            changed = {name: html for name, html in now.items() if known.get(name) != html}
            if changed:
                page.show(Batch(changed))
            self._sent[page] = now
