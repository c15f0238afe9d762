"""Listeners: open pages by topic."""

from collections.abc import Iterable

from portal.live.page import Page
from portal.live.topics import Topic


class Listeners:
    """The listeners of each topic; not locked, because the hub locks."""

    def __init__(self) -> None:
        self._listeners: dict[Topic, set[Page]] = {}

    def of(self, topic: Topic) -> Iterable[Page]:
        """Return the pages that listen to the topic."""
        return self._listeners.get(topic, ())

    def alike(self, kind: str) -> dict[Topic, set[Page]]:
        """Return the pages that listen to each topic of a kind."""
        return {topic: pages for topic, pages in self._listeners.items() if topic[0] == kind}

    def listen(self, page: Page, wanted: set[Topic]) -> None:
        """Subscribe the page to these topics and to nothing else."""
        for topic in page.topics - wanted:
            self._forget(page, topic)
        for topic in wanted - page.topics:
            self._listeners.setdefault(topic, set()).add(page)
        page.topics = wanted

    def _forget(self, page: Page, topic: Topic) -> None:
        listeners = self._listeners[topic]
        listeners.discard(page)
        if not listeners:
            del self._listeners[topic]
