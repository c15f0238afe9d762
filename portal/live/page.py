"""An open page: the topics it listens to, and what it is still to be sent."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import TYPE_CHECKING, Any

from portal.core.i18n import ENGLISH
from portal.live.frames import framed
from portal.live.updates import Signal
from portal.people.visitors import Visitor

if TYPE_CHECKING:
    from portal.live.topics import Topic

RESTART = 1012  # "service restart": the browser must reconnect at once
LATER = 1013  # "try again later": the browser waits before it reconnects
REFUSED = 1008  # "policy violation": the browser must check its permission
MOMENTS = 20


class Batch:
    """Fragments by name, assembled once for all pages that show the same."""

    def __init__(self, fragments: Mapping[str, str]) -> None:
        self.fragments = fragments
        self.html = "".join(fragments.values())

    @cached_property
    def frame(self) -> bytes:
        """Return the frame to send, the same for all pages."""
        return framed(self.html)

    def then(self, later: "Batch") -> "Batch":
        """Return both in one; later fragments replace earlier ones of the same name."""
        return Batch({**self.fragments, **later.fragments})


EMPTY = Batch({})


@dataclass(slots=True)  # one per idle page, so empty values are shared
class PageUpdate:
    """What to send to a page now."""

    html: str = ""
    signals: Sequence[str] = ()
    sections: frozenset[int] = frozenset()  # where the student's own state changed
    moments: Sequence[dict[str, Any]] = ()  # events to announce in words
    own: bool = False
    mark: str = ""


class Page:
    """Holds at most one version of each fragment, so that a slow page costs little.

    Fragments go `at_once` if nothing else must be sent before them.
    """

    __slots__ = (
        "_at_once",
        "_batch",
        "_lock",
        "_sending",
        "_signals",
        "_update",
        "_wake",
        "closing",
        "due",
        "language",
        "sections",
        "term",
        "topics",
        "turn",
        "visitor",
    )

    def __init__(
        self,
        visitor: Visitor,
        wake: Callable[[], None],
        language: str = str(ENGLISH),
        at_once: Callable[[bytes], bool] = lambda _: False,
    ) -> None:
        self.visitor = visitor
        self.language = language
        self.term = 0
        self.sections: frozenset[int] = frozenset()  # whose counts it shows
        self.topics: set[Topic] = set()
        self.closing = 0  # the code to close with, once set
        self.turn = -1  # the second of each minute for its check (HealthRounds)
        self.due = False  # whether the check is due now
        self._wake = wake
        self._at_once = at_once
        self._sending = False
        self._lock = Lock()
        self._batch = EMPTY
        self._signals: dict[tuple[str, Any], str] = {}
        self._update = PageUpdate()

    def show(self, batch: Batch) -> None:
        """Send fragments; unsent ones of the same names are dropped."""
        with self._lock:
            if batch.html and self._idle and self._at_once(batch.frame):
                return
            self._batch = batch if self._batch is EMPTY else self._batch.then(batch)
        self._wake()

    def signal(self, signal: Signal) -> None:
        """Send a signal to the page's scripts."""
        with self._lock:
            self._signals[signal.name, signal.detail.get("section")] = signal.text
        self._wake()

    def own(
        self, sections: set[int], moments: Sequence[dict[str, Any]] = (), mark: str = ""
    ) -> None:
        """Send the student's own state unless the page has that mark, and announce the events."""
        with self._lock:
            self._update.mark = mark if mark and not self._update.own else ""
            self._update.own = True
            self._update.sections |= sections
            self._update.moments = [*self._update.moments, *moments][-MOMENTS:]
        self._wake()

    def look(self) -> None:
        """Ask the page's sender to check the browser's connection and session."""
        self.due = True
        self._wake()

    def close(self, code: int) -> None:
        """Ask the page's sender to close the connection."""
        self.closing = code
        self._wake()

    def take(self) -> PageUpdate:
        """Return everything to send now; call `sent` afterwards."""
        with self._lock:
            self._sending = not self._idle
            update, self._update = self._update, PageUpdate()
            update.html, self._batch = self._batch.html, EMPTY
            update.signals = list(self._signals.values())
            self._signals.clear()
        return update

    def sent(self) -> None:
        """Note that the update was sent."""
        with self._lock:
            self._sending = False

    @property
    def _idle(self) -> bool:
        """Return whether nothing is pending that must go first."""
        owed = self._sending or self._batch is not EMPTY or self._signals or self._update.own
        return not owed
