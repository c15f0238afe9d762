"""Fragments of pages, rendered by functions that the web layer registers."""

from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from threading import Lock
from typing import Any, NamedTuple, Protocol

from portal.live import topics
from portal.live.page import Batch, Page
from portal.live.topics import Listeners
from portal.people.roles import Right
from portal.people.visitors import Visitor

Fragments = dict[str, str]  # HTML by element id


class OperationsReader(NamedTuple):
    """Those who see the same operations page: its language, and whether it has buttons."""

    language: str
    operates: bool


def reader_of(visitor: Visitor, language: str) -> OperationsReader:
    return OperationsReader(language, visitor.may(Right.OPERATE))


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
        sections: Iterable[int] = (),  # whose seats may have changed
        refused: Iterable[int] = (),  # that the page says the student can't add
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
    # Reads and renders the figures of the operations page for each kind of reader.
    operations: Callable[[Collection[OperationsReader]], dict[OperationsReader, Fragments]]


renderers = Renderers(
    student=lambda *_, **__: StudentFragments("", frozenset()),
    operations=lambda readers: {reader: {} for reader in readers},
)


class OperationsPages:
    """The open operations pages of this process; reads figures only if there are any."""

    def __init__(self, listeners: Listeners, lock: Lock) -> None:
        self._listeners = listeners
        self._lock = lock
        self._sent: dict[Page, Fragments] = {}

    def fragments(self, reader: OperationsReader) -> str:
        """Render all figures."""
        return "".join(renderers.operations([reader])[reader].values())

    def send_changes(self) -> None:
        """Send each page the figures that have changed since the last time."""
        with self._lock:
            pages = list(self._listeners.of(topics.operations()))
        self._sent = {page: sent for page, sent in self._sent.items() if page in pages}
        if not pages:
            return
        readers = {page: reader_of(page.visitor, page.language) for page in pages}
        rendered = renderers.operations(set(readers.values()))
        for page in pages:
            known, now = self._sent.get(page, {}), rendered[readers[page]]
            changed = {name: html for name, html in now.items() if known.get(name) != html}
            if changed:
                page.add_fragments(Batch(changed))
            self._sent[page] = now
