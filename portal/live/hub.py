"""The hub of this process: events of the ledger in, fragments out to the pages that show them."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import partial
from threading import Event, Lock, Thread
from typing import Any

from redis import Redis

from portal.catalog import term_catalog
from portal.core import flags
from portal.core.metrics import SOCKETS
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.types import SeatCounts
from portal.live import topics
from portal.live.listeners import Listeners
from portal.live.page import LATER, REFUSED, RESTART, Batch, Page
from portal.live.rendering import OperationsPages
from portal.live.seat_counts import SeatCountCache
from portal.live.subscription import Handler, Subscription
from portal.live.topics import Topic
from portal.live.updates import MISSED, SPREAD_MS, Signal, Updates
from portal.live.waiting_rooms import WaitingRooms
from portal.people import visitors

log = logging.getLogger(__name__)

Alike = tuple[int, frozenset[int], str]  # term, sections and language that pages share

MOST_PAGES = 20  # per account, in one process; further pages still poll
COALESCE_SECONDS = 0.1
LOOK_SECONDS = 1.0
# Frequent counts for very many pages must leave time for claims.
PAGES_A_SECOND = 2000
LONGEST_SECONDS = 2.0
AWAY_A_SECOND = 500  # pages that are asked to reconnect elsewhere
CHECK_SECONDS = 60  # between two checks of a page's connection and session
EXIT_LOOK_SECONDS = 0.2
EXIT_SHARE = 0.7  # the share of the process's time to exit


class Hub:
    """Collects updates for a moment, then sends each page one batch. Never waits for a page."""

    def __init__(
        self,
        redis: Redis,
        read: Callable[[int], dict[int, SeatCounts]],
        render: Callable[[SeatCounts], str],
    ) -> None:
        self.counts = SeatCountCache(read, render)
        self.pages: set[Page] = set()
        self._of_account: Counter[int] = Counter()
        self.leaving = False
        self._topics = Listeners()
        self._lock = Lock()
        self._waiting = Event()
        self._ended = Event()
        self._rooms = WaitingRooms(self._topics, self._lock)
        self._watch = OperationsPages(self._topics, self._lock)
        self._updates = Updates()
        self._counts_due = 0.0
        self._started = False
        self._subscription = Subscription(
            redis,
            begun=self._catch_up,
            handlers={
                "live": self._receive,
                "recorded": self._gather(Updates.add_recorded),
                "told": self._gather(Updates.add_told),
                "room": self._gather(Updates.add_room),
                "ended": self._receive_ended,
                "notice": self._gather(Updates.add_notice),
            },
        )

    def start(self) -> None:
        """Start listening; call it in the process that serves, after its fork."""
        with self._lock:
            if self._started:
                return
            self._started = True
        for name, work in (
            ("hears", self._subscription.run),
            ("tells", self._tell_forever),
            ("touches", partial(self._rooms.touch_forever, self._ended)),
            ("looks", self._look_forever),
            ("turns", partial(HealthRounds().go_on_forever, self.pages, self._ended)),
        ):
            Thread(target=work, daemon=True, name=f"hub-{name}").start()

    def stop(self) -> None:
        """End the hub's own threads."""
        self._subscription.ended = True
        self._ended.set()
        self._waiting.set()

    # Pages

    def reserve(self, account: int) -> bool:
        """Reserve a place for a page of the account; return False if it has all it may have.

        Call it before the handshake, so that simultaneous pages cannot exceed the limit.
        """
        with self._lock:
            if self._of_account[account] >= MOST_PAGES:
                return False
            self._of_account[account] += 1
            return True

    def release(self, account: int) -> None:
        """Give back a reserved place."""
        with self._lock:
            self._of_account[account] -= 1
            if not self._of_account[account]:
                del self._of_account[account]

    def join(self, page: Page) -> None:
        """Add a page."""
        self.start()
        with self._lock:
            self.pages.add(page)
        SOCKETS.inc()

    def part(self, page: Page) -> None:
        """Remove a page."""
        with self._lock:
            self.pages.discard(page)
            self._topics.listen(page, set())
        SOCKETS.dec()

    def close_all(self, code: int, within: float = 0.0) -> None:
        """Ask every page to reconnect elsewhere within that many seconds, and accept no more.

        Many pages are asked gradually, as all of them come back.
        """
        self.leaving = True
        pages = list(self.pages)
        pause = min(1 / AWAY_A_SECOND, within / max(1, len(pages)))
        for page in pages:
            page.close(code)
            time.sleep(pause)

    def fragments(self, language: str) -> str:
        """Return the operations figures for an admin's page without a socket."""
        return self._watch.fragments(language)

    def listen(self, page: Page, sections: frozenset[int], wanted: set[Topic]) -> None:
        """Subscribe the page to these topics, and send it the counts that are new to it."""
        fresh = self.counts.of(page.term) if sections else {}
        with self._lock:
            if page not in self.pages:
                return
            new, page.sections = sections - page.sections, sections
            self._topics.listen(page, wanted | _queues(page))
            if new:
                page.show(Batch(self.counts.fragments(fresh, new, page.language)))

    def wait(self, page: Page, sections: Iterable[int]) -> None:
        """Subscribe the page to the waitlists of these sections, and of no others."""
        queues = {topics.queue(page.term, section) for section in sections}
        with self._lock:
            if page in self.pages:
                self._topics.listen(page, (page.topics - _queues(page)) | queues)

    # Incoming updates

    def _receive(self, term: int, event: dict[str, Any]) -> None:
        if event["name"] == "section_set":
            term_catalog.expire(term)  # so that a page reloaded now shows the current section
        with self._lock:
            if "seats" in event:
                self._updates.counts[term] |= self.counts.update(term, event)
            self._updates.add_event(term, event)
            if event["name"] == "waitlisted":
                queue = topics.queue(term, event["section"])
                for page in list(self._topics.of(topics.student(term, event["student"]))):
                    self._topics.listen(page, page.topics | {queue})
        self._waiting.set()

    def _gather(self, take: Callable[[Updates, int, Any], None]) -> Handler:
        """Return a handler that collects messages of one kind, to be sent a moment later."""

        def receive(term: int, note: Any) -> None:
            with self._lock:
                take(self._updates, term, note)
            self._waiting.set()

        return receive

    def _receive_ended(self, account: int, _: Any) -> None:
        """Close the account's pages; those with a valid session come back at once."""
        visitors.doubt(account)
        for page in list(self.pages):
            if page.visitor.id == account:
                page.close(REFUSED)

    def _catch_up(self) -> None:
        """Send everything that differs: the missed updates are unknown."""
        try:
            for term in self.counts.terms:
                changed = self.counts.reload(term)
                with self._lock:
                    self._updates.counts[term] |= changed
            self._rooms.touch()
        except LedgerUnavailable as error:
            raise OSError(str(error)) from error
        with self._lock:
            for topic in {topic for page in self.pages for topic in page.topics}:
                for name in MISSED.get(topic[0], ()):
                    self._updates.say(topic, Signal(name, {}, SPREAD_MS))
        self._waiting.set()

    # Once a second

    def _look_forever(self) -> None:
        """Update operations pages; send pages away if live updates are switched off."""
        while not self._ended.wait(LOOK_SECONDS):
            try:
                if flags.on("live_push"):
                    self._watch.tell()
                else:
                    for page in list(self.pages):
                        page.close(LATER)
            except Exception:
                log.exception("could not tell of operations")

    # Outgoing fragments

    def _tell_forever(self) -> None:
        while not self._subscription.ended:
            self._waiting.wait()
            time.sleep(COALESCE_SECONDS)
            self._waiting.clear()
            try:
                self._tell()
            except Exception:
                log.exception("some pages were not told")

    def _tell(self) -> None:
        """Send the collected updates to their pages; counts no more often than allowed."""
        with self._lock:
            updates, self._updates = self._updates, Updates()
            if time.monotonic() < self._counts_due:
                updates.counts, self._updates.counts = self._updates.counts, updates.counts
                self._waiting.set()
            if updates.counts:
                pages = send_counts(updates.counts, self.counts, self.pages)
                pause = min(LONGEST_SECONDS, pages / PAGES_A_SECOND)
                self._counts_due = time.monotonic() + pause
            send_own(updates, self._topics)
            if early := self._rooms.tell(updates.rooms):
                self._updates.rooms = early
                self._waiting.set()
            send_signals(updates, self._topics)


def _queues(page: Page) -> set[Topic]:
    return {topic for topic in page.topics if topic[0] == "queue"}


class HealthRounds:
    """Checks the pages in turns, not all at once; a timer per page would take a KB each."""

    def __init__(self) -> None:
        self._second = 0

    def go_on_forever(self, pages: Collection[Page], ended: Event) -> None:
        """Run once a second, in a thread that waits for nothing else."""
        while not ended.wait(1.0):
            self.go_on(list(pages))

    def go_on(self, pages: Iterable[Page]) -> None:
        """Ask the pages whose turn is this second to check; a new page waits for a later turn."""
        self._second = (self._second + 1) % CHECK_SECONDS
        for page in pages:
            if page.turn == self._second:
                page.look()
            elif page.turn < 0:
                page.turn = self._second


def send_counts(
    changed: Mapping[int, set[int]], known: SeatCountCache, pages: Iterable[Page]
) -> int:
    """Send changed counts by term and section; return how many pages got them.

    Pages that show the same sections in one language get the same text.
    """
    number = 0
    for (term, shown, language), group in _alike(pages).items():
        if found := changed.get(term, set()) & shown:
            batch = Batch(known.fragments(known.of(term), found, language))
            number += len(group)
            for page in group:
                page.show(batch)
    return number


def send_own(updates: Updates, topics: Listeners) -> None:
    """Send students the changes to their own seats and waitlist positions."""
    for topic, moments in updates.moments.items():
        for page in topics.of(topic):
            touched = {each.get(name, 0) for each in moments for name in ("section", "instead")}
            page.own(touched - {0}, moments)
    for topic in updates.queues:
        for page in topics.of(topic):
            page.own({topic[2]})


def send_signals(updates: Updates, topics: Listeners) -> None:
    """Send the pages' scripts their signals."""
    for topic, words in updates.signals.items():
        for page in topics.of(topic):
            for signal in words.values():
                page.signal(signal)


def _alike(pages: Iterable[Page]) -> dict[Alike, list[Page]]:
    alike: dict[Alike, list[Page]] = {}
    for page in pages:
        if page.sections:
            alike.setdefault((page.term, page.sections, page.language), []).append(page)
    return alike


def close_pages_on_exit(worker: Any, hub: Hub) -> None:
    """Send the pages of a gunicorn worker elsewhere as soon as it is asked to exit."""
    Thread(target=_wait, args=(worker, hub), daemon=True, name="leaving").start()


def _wait(worker: Any, hub: Hub) -> None:
    while worker.alive:
        time.sleep(EXIT_LOOK_SECONDS)
    hub.close_all(RESTART, within=EXIT_SHARE * worker.cfg.graceful_timeout)
