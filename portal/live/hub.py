"""The hub of this process: news in at one end, fragments out to every page that shows them."""

import logging
import time
from collections import Counter
from collections.abc import Callable, Iterable
from functools import partial
from threading import Event, Lock, Thread
from typing import Any

from redis import Redis

from portal.live import topics
from portal.live.counts import Counts
from portal.live.news import MISSED, SPREAD_MS, News, Signal
from portal.live.page import REFUSED, Batch, Page
from portal.live.rooms import Rooms
from portal.live.subscription import Hear, Subscription
from portal.live.topics import Topic, Topics
from portal.people import accounts
from portal.seats.answers import Seats
from portal.seats.errors import LedgerUnavailable

log = logging.getLogger(__name__)

Alike = tuple[int, frozenset[int], str]  # term, sections and language that pages have in common

MOST_PAGES = 20  # of one account, in one process; another one still has all that pages ask for
COALESCE_SECONDS = 0.1
# Counts that change all the time for very many pages must leave time for claims.
PAGES_A_SECOND = 2000
LONGEST_SECONDS = 2.0


class Hub:
    """Gathers news for a moment, then tells each page once. Never waits for a page."""

    def __init__(
        self,
        redis: Redis,
        read: Callable[[int], dict[int, Seats]],
        render: Callable[[Seats], str],
    ) -> None:
        self.counts = Counts(read, render)
        self.pages: set[Page] = set()
        self._of_account: Counter[int] = Counter()
        self.leaving = False
        self._topics = Topics()
        self._lock = Lock()
        self._waiting = Event()
        self._ended = Event()
        self._rooms = Rooms(self._topics, self._lock)
        self._news = News()
        self._counts_due = 0.0
        self._started = False
        self._subscription = Subscription(
            redis,
            begun=self._catch_up,
            hear={
                "live": self._hear,
                "recorded": self._gather(News.hear_recorded),
                "told": self._gather(News.hear_told),
                "room": self._gather(News.hear_room),
                "ended": self._hear_ended,
            },
        )

    def start(self) -> None:
        """Begin to listen; in the process that serves, so not before its fork."""
        with self._lock:
            if self._started:
                return
            self._started = True
        touch = partial(self._rooms.touch_forever, self._ended)
        for name, work in (
            ("hears", self._subscription.run),
            ("tells", self._tell_forever),
            ("touches", touch),
        ):
            Thread(target=work, daemon=True, name=f"hub-{name}").start()

    def stop(self) -> None:
        """End the hub's own threads."""
        self._subscription.ended = True
        self._ended.set()
        self._waiting.set()

    # Pages

    def crowded(self, account: int) -> bool:
        """Whether the account has as many pages open here as one person may."""
        return self._of_account[account] >= MOST_PAGES

    def join(self, page: Page) -> None:
        """Take in a page."""
        self.start()
        with self._lock:
            self.pages.add(page)
            self._of_account[page.visitor.id] += 1

    def part(self, page: Page) -> None:
        """Forget a page."""
        with self._lock:
            self.pages.discard(page)
            account = page.visitor.id
            self._of_account[account] -= 1
            if not self._of_account[account]:
                del self._of_account[account]
            self._topics.listen(page, set())

    def close_all(self, code: int) -> None:
        """Ask every page to connect elsewhere, and take in no more."""
        self.leaving = True
        for page in list(self.pages):
            page.close(code)

    def listen(self, page: Page, sections: frozenset[int], wanted: set[Topic]) -> None:
        """Let the page listen to what is wanted, and send it the counts that are new to it."""
        fresh = self.counts.of(page.term) if sections else {}
        with self._lock:
            if page not in self.pages:
                return
            new, page.sections = sections - page.sections, sections
            self._topics.listen(page, wanted | _queues(page))
            if new:
                page.show(Batch(self.counts.fragments(fresh, new, page.language)))

    def wait(self, page: Page, sections: Iterable[int]) -> None:
        """Let the page hear when the waitlists of these sections move, and of no others."""
        queues = {topics.queue(page.term, section) for section in sections}
        with self._lock:
            if page in self.pages:
                self._topics.listen(page, (page.topics - _queues(page)) | queues)

    # News in

    def _hear(self, term: int, event: dict[str, Any]) -> None:
        with self._lock:
            if "seats" in event and self.counts.hear(term, event):
                self._news.counts[term].add(event["section"])
            self._news.hear(term, event)
            if event["name"] == "waitlisted":
                queue = topics.queue(term, event["section"])
                for page in list(self._topics.of(topics.student(term, event["student"]))):
                    self._topics.listen(page, page.topics | {queue})
        self._waiting.set()

    def _gather(self, take: Callable[[News, int, Any], None]) -> Hear:
        """What takes in notes of one kind, to be told when a moment has passed."""

        def hear(term: int, note: Any) -> None:
            with self._lock:
                take(self._news, term, note)
            self._waiting.set()

        return hear

    def _hear_ended(self, account: int, _: Any) -> None:
        """Pages whose session goes on come back at once; the others can't."""
        accounts.doubt(account)
        for page in list(self.pages):
            if page.visitor.id == account:
                page.close(REFUSED)

    def _catch_up(self) -> None:
        """Nobody knows what was missed, so everything that differs is told."""
        try:
            for term in self.counts.terms:
                changed = self.counts.reload(term)
                with self._lock:
                    self._news.counts[term] |= changed
            self._rooms.touch()
        except LedgerUnavailable as error:
            raise OSError(str(error)) from error
        with self._lock:
            for topic in {topic for page in self.pages for topic in page.topics}:
                for name in MISSED.get(topic[0], ()):
                    self._news.say(topic, Signal(name, {}, SPREAD_MS))
        self._waiting.set()

    # Fragments out

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
        """Hand what has gathered to the pages that it is for; counts not more often than is due."""
        with self._lock:
            news, self._news = self._news, News()
            if time.monotonic() < self._counts_due:
                news.counts, self._news.counts = self._news.counts, news.counts
                self._waiting.set()
            self._tell_counts(news)
            self._tell_students(news)
            if early := self._rooms.tell(news.rooms):
                self._news.rooms = early
                self._waiting.set()
            for topic, signals in news.signals.items():
                for page in self._topics.of(topic):
                    for signal in signals.values():
                        page.signal(signal)

    def _tell_counts(self, news: News) -> None:
        """Pages that show the same sections in one language are sent the same text."""
        if not news.counts:
            return
        told = 0
        for (term, shown, language), pages in self._alike().items():
            changed = news.counts.get(term, set()) & shown
            if changed:
                known = self.counts.of(term)
                batch = Batch(self.counts.fragments(known, changed, language))
                told += len(pages)
                for page in pages:
                    page.show(batch)
        self._counts_due = time.monotonic() + min(LONGEST_SECONDS, told / PAGES_A_SECOND)

    def _alike(self) -> dict[Alike, list[Page]]:
        alike: dict[Alike, list[Page]] = {}
        for page in self.pages:
            if page.sections:
                alike.setdefault((page.term, page.sections, page.language), []).append(page)
        return alike

    def _tell_students(self, news: News) -> None:
        for topic, moments in news.moments.items():
            for page in self._topics.of(topic):
                touched = {each.get(name, 0) for each in moments for name in ("section", "instead")}
                page.own(touched - {0}, moments)
        for topic in news.queues:
            for page in self._topics.of(topic):
                page.own({topic[2]})


def _queues(page: Page) -> set[Topic]:
    return {topic for topic in page.topics if topic[0] == "queue"}
