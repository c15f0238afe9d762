"""Fragments of pages, rendered by functions that the web layer registers."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, Protocol

from portal.live import topics
from portal.live.page import Batch, Page
from portal.live.topics import Listeners

Fragments = dict[str, str]  # HTML by element id


@dataclass(frozen=True)
class StudentFragments:
    """A student's own state as HTML, and the sections whose waitlists they are on."""

    html: str
    waitlists: frozenset[int]


class RenderStudent(Protocol):
    """Renders a student's panel, waitlist positions, cells of sections, and announcements."""

    def __call__(  # noqa: PLR0913  what a page shows, and what happened
        self,
        term: int,
        student: int,
        *,
        sections: Iterable[int] = (),  # whose cells to render
        events: Sequence[dict[str, Any]] = (),  # to announce
        panel_version: str = "",  # of the page
        shown: Iterable[int] = (),  # the sections that the page shows
    ) -> StudentFragments:
        """Return nothing to send if the page is up to date."""
        ...


@dataclass
class Renderers:
    """The functions of the web layer."""

    student: RenderStudent
    # Reads and renders the figures of the operations page, by language.
    operations: Callable[[Collection[str]], dict[str, Fragments]]


renderers = Renderers(
    student=lambda *_, **__: StudentFragments("", frozenset()),
    operations=lambda languages: {language: {} for language in languages},
)


class OperationsPages:
    """The open operations pages of this process; reads figures only if there are any."""

    def __init__(self, listeners: Listeners, lock: Lock) -> None:
        self._listeners = listeners
        self._lock = lock
        self._sent: dict[Page, Fragments] = {}

    def fragments(self, language: str) -> str:
        """Render all figures."""
        return "".join(renderers.operations([language])[language].values())

    def send_changes(self) -> None:
        """Send each page the figures that have changed since the last time."""
        with self._lock:
            pages = list(self._listeners.of(topics.operations()))
        self._sent = {page: sent for page, sent in self._sent.items() if page in pages}
        if not pages:
            return
        rendered = renderers.operations({page.language for page in pages})
        for page in pages:
            known, now = self._sent.get(page, {}), rendered[page.language]
            changed = {name: html for name, html in now.items() if known.get(name) != html}
            if changed:
                page.add_fragments(Batch(changed))
            self._sent[page] = now
