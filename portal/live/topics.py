"""Who listens to what, counts apart: open pages by topic."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from portal.live.page import Page

# kind, term, and the section, student or window that it is about (0: the whole term)
Topic = tuple[str, int, int]


def student(term: int, student_id: int) -> Topic:
    """What happens to one student."""
    return ("student", term, student_id)


def queue(term: int, section: int) -> Topic:
    """The order of a waitlist, for those who are on it."""
    return ("queue", term, section)


def roster(term: int, section: int) -> Topic:
    """Who is in a class, for those who teach it."""
    return ("roster", term, section)


def room(term: int, window: int) -> Topic:
    """How the waiting room of a window moves, for those who wait in it."""
    return ("room", term, window)


def windows(term: int) -> Topic:
    """The windows of a term."""
    return ("windows", term, 0)


class Topics:
    """The listeners of each topic; not locked, as the hub locks."""

    def __init__(self) -> None:
        self._listeners: dict[Topic, set[Page]] = {}

    def of(self, topic: Topic) -> Iterable["Page"]:
        """The pages that listen to the topic."""
        return self._listeners.get(topic, ())

    def alike(self, kind: str) -> dict[Topic, set["Page"]]:
        """The pages that listen to each topic of a kind."""
        return {topic: pages for topic, pages in self._listeners.items() if topic[0] == kind}

    def listen(self, page: "Page", wanted: set[Topic]) -> None:
        """Let the page listen to what is wanted and to nothing else."""
        for topic in page.topics - wanted:
            self._forget(page, topic)
        for topic in wanted - page.topics:
            self._listeners.setdefault(topic, set()).add(page)
        page.topics = wanted

    def _forget(self, page: "Page", topic: Topic) -> None:
        listeners = self._listeners[topic]
        listeners.discard(page)
        if not listeners:
            del self._listeners[topic]
