"""An open page: the topics it listens to, and the updates it has not been sent yet."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from time import monotonic
from typing import TYPE_CHECKING, Any

from portal.core.i18n import ENGLISH
from portal.live.frames import text_frame
from portal.live.seat_counts import Audience
from portal.live.updates import PageSignal
from portal.people.visitors import Visitor

if TYPE_CHECKING:
    from portal.live.topics import Topic

RESTART = 1012  # "service restart": the browser must reconnect at once
LATER = 1013  # "try again later": the browser waits before it reconnects
REFUSED = 1008  # "policy violation": the browser must check its permission
MOST_EVENTS = 20  # announced at once
CHECK_SECONDS = 60.0  # between two checks of a page's connection and session


class Batch:
    """Fragments by name, assembled once for all pages that show the same."""

    def __init__(self, fragments: Mapping[str, str]) -> None:
        self.fragments = fragments
        self.html = "".join(fragments.values())

    @cached_property
    def frame(self) -> bytes:
        """Return the batch as it is sent, the same to every page."""
        return text_frame(self.html)

    def then(self, later: "Batch") -> "Batch":
        """Return both in one; later fragments replace earlier ones of the same name."""
        return Batch({**self.fragments, **later.fragments})


EMPTY = Batch({})


@dataclass(slots=True)  # one per idle page, so empty values are shared
class PageUpdate:
    """The update to send to a page now."""

    html: str = ""
    signals: Sequence[str] = ()
    student_changed: bool = False  # render the student's own state
    sections: frozenset[int] = frozenset()  # where the student's own state changed
    refused: frozenset[int] = frozenset()  # sections that the page says the student can't add
    events: Sequence[dict[str, Any]] = ()  # to announce in words
    panel_version: str = ""  # of the student's panel on the page, if nothing else is known


class Page:
    """Holds at most one version of each fragment, so that a slow page costs little.

    New fragments are sent at once by `send_now`, if nothing else waits to be sent and that takes no
    waiting. Everything else is left to the page's own sender, which `wake` wakes.
    """

    __slots__ = (
        "_batch",
        "_lock",
        "_send_now",
        "_sending",
        "_signals",
        "_update",
        "_wake",
        "check_at",
        "check_due",
        "closing",
        "language",
        "sections",
        "staff",
        "term",
        "topics",
        "visitor",
    )

    def __init__(
        self,
        visitor: Visitor,
        wake: Callable[[], None],
        language: str = str(ENGLISH),
        send_now: Callable[[bytes], bool] = lambda _: False,
    ) -> None:
        self.visitor = visitor
        self.language = language
        self.staff = False  # it is a page of staff
        self.term = 0
        self.sections: frozenset[int] = frozenset()  # whose counts it shows
        self.topics: set[Topic] = set()
        self.closing = 0  # the code to close with, once set
        self.check_at = monotonic() + CHECK_SECONDS
        self.check_due = False
        self._wake = wake
        self._send_now = send_now
        self._sending = False
        self._lock = Lock()
        self._batch = EMPTY
        self._signals: dict[tuple[str, Any], str] = {}
        self._update = PageUpdate()

    @property
    def audience(self) -> Audience:
        return Audience(self.language, self.staff)

    def add_fragments(self, batch: Batch) -> None:
        """Send fragments; unsent ones of the same names are dropped."""
        with self._lock:
            if batch.html and not self._waiting and self._send_now(batch.frame):
                return
            self._batch = batch if self._batch is EMPTY else self._batch.then(batch)
        self._wake()

    def add_signal(self, signal: PageSignal) -> None:
        """Send a signal to the page's scripts."""
        with self._lock:
            self._signals[signal.name, signal.detail.get("section")] = signal.text
        self._wake()

    def add_student_change(
        self,
        sections: set[int],
        events: Sequence[dict[str, Any]] = (),
        refused: Iterable[int] = (),
        panel_version: str = "",
    ) -> None:
        """Send the student's own state, and announce the events.

        The page gets nothing if it has this `panel_version` and there is no other change.
        """
        with self._lock:
            update = self._update
            update.panel_version = "" if update.student_changed else panel_version
            update.student_changed = True
            update.sections |= sections
            update.refused = update.refused.union(refused)
            update.events = [*update.events, *events][-MOST_EVENTS:]
        self._wake()

    def ask_to_check(self) -> None:
        """Ask the page's sender to check the browser's connection and session."""
        self.check_due = True
        self._wake()

    def close(self, code: int) -> None:
        """Ask the page's sender to close the connection."""
        self.closing = code
        self._wake()

    def take_update(self) -> PageUpdate:
        """Return everything to send now; call `sent` afterwards."""
        with self._lock:
            self._sending = self._waiting
            update, self._update = self._update, PageUpdate()
            update.html, self._batch = self._batch.html, EMPTY
            update.signals = list(self._signals.values())
            self._signals.clear()
        return update

    def sent(self) -> None:
        """Note that what was taken has been sent."""
        self._sending = False

    @property
    def _waiting(self) -> bool:
        """Whether something must be sent before new fragments, which may be newer."""
        return bool(
            self._sending
            or self._batch is not EMPTY
            or self._signals
            or self._update.student_changed
        )
