"""What has gathered for a moment, handed to the pages that it is for."""

from collections.abc import Iterable, Mapping

from portal.live.counts import Counts
from portal.live.listening import Topics
from portal.live.news import News
from portal.live.page import Batch, Page

Alike = tuple[int, frozenset[int], str]  # term, sections and language that pages have in common


def counts(changed: Mapping[int, set[int]], known: Counts, pages: Iterable[Page]) -> int:
    """Tell of sections by term whose counts have changed; gives how many pages were told.

    Pages that show the same sections in one language are sent the same text.
    """
    told = 0
    for (term, shown, language), group in _alike(pages).items():
        if found := changed.get(term, set()) & shown:
            batch = Batch(known.fragments(known.of(term), found, language))
            told += len(group)
            for page in group:
                page.show(batch)
    return told


def own(news: News, topics: Topics) -> None:
    """Tell students what has become of their own seats and places."""
    for topic, moments in news.moments.items():
        for page in topics.of(topic):
            touched = {each.get(name, 0) for each in moments for name in ("section", "instead")}
            page.own(touched - {0}, moments)
    for topic in news.queues:
        for page in topics.of(topic):
            page.own({topic[2]})


def signals(news: News, topics: Topics) -> None:
    """Give scripts their word."""
    for topic, words in news.signals.items():
        for page in topics.of(topic):
            for signal in words.values():
                page.signal(signal)


def _alike(pages: Iterable[Page]) -> dict[Alike, list[Page]]:
    alike: dict[Alike, list[Page]] = {}
    for page in pages:
        if page.sections:
            alike.setdefault((page.term, page.sections, page.language), []).append(page)
    return alike
