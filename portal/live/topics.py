"""The topics of live updates, except counts, and the open pages that listen to each."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from portal.live.page import Page

# kind, term, and the id of the section, student or window (0: the whole term)
Topic = tuple[str, int, int]


def student(term: int, student_id: int) -> Topic:
    """Return the topic of a student's events, for the student and for admins on the record."""
    return ("student", term, student_id)


def waitlist(term: int, section: int) -> Topic:
    """Return the topic of a waitlist's order, for students on it."""
    return ("waitlist", term, section)


def roster(term: int, section: int) -> Topic:
    """Return the topic of a section's roster, for its instructors."""
    return ("roster", term, section)


def room(term: int, window: int) -> Topic:
    """Return the topic of a window's waiting room, for those in it."""
    return ("room", term, window)


def account(account_id: int) -> Topic:
    """Return the topic of an account's messages outside any term."""
    return ("account", 0, account_id)


def operations() -> Topic:
    """Return the topic of the operations figures, for admins."""
    return ("operations", 0, 0)


def windows(term: int) -> Topic:
    """Return the topic of a term's windows."""
    return ("windows", term, 0)


class Listeners:
    """The listeners of each topic; not locked, because the hub locks."""

    def __init__(self) -> None:
        self._listeners: dict[Topic, set[Page]] = {}

    def of(self, topic: Topic) -> Iterable["Page"]:
        return self._listeners.get(topic, ())

    def by_topic(self, kind: str) -> dict[Topic, set["Page"]]:
        """Return the pages that listen to each topic of a kind."""
        return {topic: pages for topic, pages in self._listeners.items() if topic[0] == kind}

    def subscribe(self, page: "Page", wanted: set[Topic]) -> None:
        """Subscribe the page to these topics and to nothing else."""
        for topic in page.topics - wanted:
            self._listeners[topic].discard(page)
            if not self._listeners[topic]:
                del self._listeners[topic]
        for topic in wanted - page.topics:
            self._listeners.setdefault(topic, set()).add(page)
        page.topics = wanted
