"""The hub of this process: events of the ledger in, fragments out to the pages that show them."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from threading import Event, Lock, Thread
from typing import Any

from redis import Redis

from portal.catalog import term_catalog
from portal.core import flags
from portal.core.metrics import SOCKETS
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.function_library import prefix
from portal.ledger.types import SeatCounts
from portal.live import topics
from portal.live.page import CHECK_SECONDS, LATER, REFUSED, RESTART, Batch, Page
from portal.live.rendering import OperationsPages
from portal.live.seat_counts import Audience, SeatCountCache
from portal.live.subscription import Handler, Subscription
from portal.live.topics import Listeners, Topic
from portal.live.updates import SIGNALS_AFTER_A_GAP, SPREAD_MS, PageSignal, Updates
from portal.live.waiting_rooms import WaitingRooms
from portal.people import visitors

log = logging.getLogger(__name__)

MOST_PAGES = 20  # per account, in one process; further pages still poll
COALESCE_SECONDS = 0.1
OPERATIONS_SECONDS = 1.0
# Frequent counts for very many pages must leave time for claims.
PAGES_A_SECOND = 2000
LONGEST_SECONDS = 0.6
CLOSED_A_SECOND = 500  # pages that are asked to reconnect elsewhere
EXIT_POLL_SECONDS = 0.2
EXIT_SHARE = 0.7  # the share of the process's time to exit


class Hub:
    """Collects updates for a moment, then sends each page one batch. Never waits for a page."""

    def __init__(
        self,
        redis: Redis,
        read: Callable[[int], dict[int, SeatCounts]],
        render: Callable[[SeatCounts, bool], str],
        shard: Callable[[str], Redis | None] = lambda _: None,
    ) -> None:
        self.counts = SeatCountCache(read, render)
        self.pages: set[Page] = set()
        self._of_account: Counter[int] = Counter()
        self.leaving = False
        self._listeners = Listeners()
        self._lock = Lock()
        self._has_updates = Event()
        self._ended = Event()
        self._rooms = WaitingRooms(self._listeners, self._lock)
        self.operations = OperationsPages(self._listeners, self._lock)
        self._updates = Updates()
        self._counts_due = 0.0
        self._started = False
        self._handlers: dict[str, Handler] = {
            "live": self._receive_event,
            "recorded": self._collect(Updates.add_recorded),
            "signal": self._collect(Updates.add_student_signal),
            "room": self._collect(Updates.add_room),
            "ended": self._receive_ended,
            "notification": self._collect(Updates.add_notification),
        }
        self._subscription = Subscription(redis, begun=self._catch_up, handlers=self._handlers)
        self._shard = shard
        self._shards: dict[int, Subscription | None] = {}  # by term; None if it needs none
        self._in_shards = False  # terms have subscriptions of their own

    def start(self) -> None:
        """Start listening; call it in the process that serves, after its fork."""
        with self._lock:
            if self._started:
                return
            self._started = True
        for name, work in (
            ("subscription", self._subscription.run),
            ("delivery", self._deliver_forever),
            ("waiting-rooms", lambda: self._rooms.send_heartbeats_forever(self._ended)),
            ("operations", self._update_operations_forever),
            ("checks", self._check_pages_forever),
        ):
            Thread(target=work, daemon=True, name=f"hub-{name}").start()

    def stop(self) -> None:
        """End the hub's own threads."""
        for each in (self._subscription, *list(self._shards.values())):
            if each:
                each.ended = True
        self._ended.set()
        self._has_updates.set()

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

    def add(self, page: Page) -> None:
        self.start()
        with self._lock:
            self.pages.add(page)
        SOCKETS.inc()

    def _subscribe_to_shard(self, term: int) -> None:
        """In a cluster, listen to the server that has the term, as long as it has pages here."""
        with self._lock:
            if not term or term in self._shards:
                return
            self._shards[term] = None
            tag = prefix(term)
            if redis := self._shard(tag):
                catch_up = partial(self._catch_up, term)
                found = Subscription(redis, begun=catch_up, handlers=self._handlers, tag=tag)
                self._shards[term] = found
                self._in_shards = True
                Thread(target=found.run, daemon=True, name=f"hub-shard-{term}").start()

    def _leave_shards(self) -> None:
        """End the subscriptions to terms that have no pages here any more."""
        with self._lock:
            for term in self._shards.keys() - {page.term for page in self.pages}:
                if found := self._shards.pop(term):
                    found.ended = True

    def remove(self, page: Page) -> None:
        with self._lock:
            self.pages.discard(page)
            self._listeners.subscribe(page, set())
        SOCKETS.dec()

    def close_all(self, code: int, within: float = 0.0) -> None:
        """Ask every page to reconnect elsewhere within that many seconds, and accept no more.

        Many pages are asked gradually, as all of them come back.
        """
        self.leaving = True
        pages = list(self.pages)
        pause = min(1 / CLOSED_A_SECOND, within / max(1, len(pages)))
        for page in pages:
            page.close(code)
            time.sleep(pause)

    def subscribe(self, page: Page, sections: frozenset[int], wanted: set[Topic]) -> None:
        """Subscribe the page to these topics, and send it the counts that are new to it."""
        self._subscribe_to_shard(page.term)
        counts = self.counts.of(page.term) if sections else {}
        with self._lock:
            if page not in self.pages:
                return
            new, page.sections = sections - page.sections, sections
            self._listeners.subscribe(page, wanted | _waitlists(page))
            if new:
                page.add_fragments(Batch(self.counts.fragments(counts, new, page.audience)))

    def subscribe_to_waitlists(self, page: Page, sections: Iterable[int]) -> None:
        """Subscribe the page to the waitlists of these sections, and of no others."""
        waitlists = {topics.waitlist(page.term, section) for section in sections}
        with self._lock:
            if page in self.pages:
                self._listeners.subscribe(page, (page.topics - _waitlists(page)) | waitlists)

    # Incoming updates

    def _receive_event(self, term: int, event: dict[str, Any]) -> None:
        if event["name"] == "section_set":
            term_catalog.expire(term)  # so that a page reloaded now shows the current section
        with self._lock:
            if "seats" in event:
                self._updates.counts[term] |= self.counts.update(term, event)
            self._updates.add_event(term, event)
            if event["name"] == "waitlisted":
                waitlist = topics.waitlist(term, event["section"])
                for page in list(self._listeners.of(topics.student(term, event["student"]))):
                    self._listeners.subscribe(page, page.topics | {waitlist})
        self._has_updates.set()

    def _collect(self, add: Callable[[Updates, int, Any], None]) -> Handler:
        """Return a handler that collects messages of one kind, to be sent a moment later."""

        def receive(term: int, message: Any) -> None:
            with self._lock:
                add(self._updates, term, message)
            self._has_updates.set()

        return receive

    def _receive_ended(self, account: int, _: Any) -> None:
        """Close the account's pages; those with a valid session come back at once."""
        visitors.doubt(account)
        for page in list(self.pages):
            if page.visitor.id == account:
                page.close(REFUSED)

    def _catch_up(self, of_term: int | None = None) -> None:
        """Send everything that differs, or only of a term: the missed updates are unknown.

        Raises OSError if the ledger is away. In a cluster, catching up on all terms leaves out
        those whose server is away: each term has its own subscription, which catches up later.
        """
        tries = [
            partial(self._catch_up_counts, term)
            for term in self.counts.terms
            if of_term in {None, term}
        ]
        for attempt in (*tries, partial(self._rooms.send_heartbeats, of_term)):
            try:
                attempt()
            except LedgerUnavailable as error:
                if of_term is not None or not self._in_shards:
                    raise OSError(str(error)) from error
                log.warning("could not catch up: %s", error)
        with self._lock:
            pages = [page for page in self.pages if of_term in {None, page.term}]
            for topic in {topic for page in pages for topic in page.topics}:
                for name in SIGNALS_AFTER_A_GAP.get(topic[0], ()):
                    self._updates.add_signal(topic, PageSignal(name, {}, SPREAD_MS))
        self._has_updates.set()

    def _catch_up_counts(self, term: int) -> None:
        changed = self.counts.reload(term)
        with self._lock:
            self._updates.counts[term] |= changed

    # Once a second

    def _update_operations_forever(self) -> None:
        """Update operations pages; send pages away if live updates are switched off."""
        while not self._ended.wait(OPERATIONS_SECONDS):
            try:
                if flags.on("live_push"):
                    self.operations.send_changes()
                else:
                    for page in list(self.pages):
                        page.close(LATER)
            except Exception:
                log.exception("could not update the operations pages")

    def _check_pages_forever(self) -> None:
        """Ask pages to check, in a thread that waits for nothing else."""
        while not self._ended.wait(1.0):
            ask_to_check(list(self.pages), time.monotonic())
            self._leave_shards()

    # Outgoing fragments

    def _deliver_forever(self) -> None:
        while not self._subscription.ended:
            self._has_updates.wait()
            time.sleep(COALESCE_SECONDS)
            self._has_updates.clear()
            try:
                self._deliver()
            except Exception:
                log.exception("some pages did not get their updates")

    def _deliver(self) -> None:
        """Send the collected updates to their pages; counts no more often than allowed."""
        with self._lock:
            updates, self._updates = self._updates, Updates()
            if time.monotonic() < self._counts_due:
                updates.counts, self._updates.counts = self._updates.counts, updates.counts
                self._has_updates.set()
            if updates.counts:
                pages = send_counts(updates.counts, self.counts, self.pages)
                pause = min(LONGEST_SECONDS, pages / PAGES_A_SECOND)
                self._counts_due = time.monotonic() + pause
            send_student_changes(updates, self._listeners)
            if early := self._rooms.send_states(updates.rooms):
                self._updates.rooms = early
                self._has_updates.set()
            send_signals(updates, self._listeners)


def _waitlists(page: Page) -> set[Topic]:
    return {topic for topic in page.topics if topic[0] == "waitlist"}


def ask_to_check(pages: Iterable[Page], now: float) -> None:
    """Ask the pages whose check is due; a timer per page would take a KB each."""
    for page in pages:
        if page.check_at <= now:
            page.check_at = now + CHECK_SECONDS
            page.ask_to_check()


def send_counts(
    changed: Mapping[int, set[int]], counts: SeatCountCache, pages: Iterable[Page]
) -> int:
    """Send changed counts by term and section; return how many pages got them.

    Pages that show the same sections to the same audience get the same text.
    """
    groups: dict[tuple[int, frozenset[int], Audience], list[Page]] = {}
    for page in pages:
        if page.sections:
            groups.setdefault((page.term, page.sections, page.audience), []).append(page)
    number = 0
    for (term, shown, audience), group in groups.items():
        if found := changed.get(term, set()) & shown:
            batch = Batch(counts.fragments(counts.of(term), found, audience))
            number += len(group)
            for page in group:
                page.add_fragments(batch)
    return number


def send_student_changes(updates: Updates, listeners: Listeners) -> None:
    """Send students the changes to their own seats and waitlist positions."""
    for topic, events in updates.student_events.items():
        sections = {each.get(name, 0) for each in events for name in ("section", "instead")}
        for page in listeners.of(topic):
            page.add_student_change(sections - {0}, events)
    for topic in updates.waitlists:
        for page in listeners.of(topic):
            page.add_student_change({topic[2]})


def send_signals(updates: Updates, listeners: Listeners) -> None:
    """Send the pages' scripts their signals."""
    for topic, signals in updates.signals.items():
        for page in listeners.of(topic):
            for signal in signals.values():
                page.add_signal(signal)


def close_pages_on_exit(worker: Any, hub: Hub) -> None:
    """Send the pages of a gunicorn worker elsewhere as soon as it is asked to exit."""

    def wait_and_close() -> None:
        while worker.alive:
            time.sleep(EXIT_POLL_SECONDS)
        hub.close_all(RESTART, within=EXIT_SHARE * worker.cfg.graceful_timeout)

    Thread(target=wait_and_close, daemon=True, name="close-pages").start()
