"""Seat counts as last heard from the ledger, each with its fragment rendered once a language."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import fields
from threading import Lock
from typing import Any

from portal.core.i18n import in_language
from portal.ledger.types import SeatCounts

# A newer ledger may tell more than this process knows of.
TOLD = {field.name for field in fields(SeatCounts)} - {"section", "seq"}


class SeatCountCache:
    """The counts of every term that somebody watches."""

    def __init__(
        self, read: Callable[[int], dict[int, SeatCounts]], render: Callable[[SeatCounts], str]
    ) -> None:
        self._read = read
        self._render = render
        self._lock = Lock()
        self._loading = Lock()
        self._seats: dict[int, dict[int, SeatCounts]] = {}
        self._heard: dict[int, dict[int, SeatCounts]] = {}  # while a term is being read
        self._html: dict[tuple[int, str], tuple[SeatCounts, str]] = {}

    @property
    def terms(self) -> list[int]:
        """The terms that have been asked for."""
        with self._lock:
            return list({*self._seats, *self._heard})

    def of(self, term: int) -> dict[int, SeatCounts]:
        """The counts of a term, from the ledger when first asked for."""
        if term not in self._seats:
            with self._loading:
                if term not in self._seats:
                    self._load(term)
        return self._seats.get(term, {})

    def reload(self, term: int) -> set[int]:
        """Read a term from the ledger anew; gives the sections that have changed."""
        with self._loading:
            return self._load(term)

    def hear(self, term: int, event: dict[str, Any]) -> set[int]:
        """Take the counts from an event; gives the sections where they were not known already."""
        found = [_seats(each, event["seq"]) for each in (event, *event.get("also", ()))]
        with self._lock:
            if term in self._heard:
                for seats in found:
                    _take(self._heard[term], seats)
            known = self._seats.get(term)
            return {each.section for each in found if known is not None and _take(known, each)}

    def fragments(
        self, seats: Mapping[int, SeatCounts], sections: Iterable[int], language: str
    ) -> dict[str, str]:
        """The HTML of those of the sections that are among `seats`, by element id."""
        known = (seats[each] for each in sections if each in seats)
        return {f"seats-{each.section}": self._fragment(each, language) for each in known}

    def _load(self, term: int) -> set[int]:
        """What is heard meanwhile may be newer than what is read; what was heard before is not."""
        with self._lock:
            self._heard[term] = {}
        try:
            found = self._read(term)
            with self._lock:
                return self._merge(term, found, self._heard.pop(term))
        finally:
            with self._lock:
                self._heard.pop(term, None)

    def _merge(
        self, term: int, found: dict[int, SeatCounts], heard: dict[int, SeatCounts]
    ) -> set[int]:
        for seats in heard.values():
            _take(found, seats)
        if not found:
            return set()  # such a term would be kept for nothing
        # The same mapping for good, as a page may be looking at it.
        known = self._seats.setdefault(term, {})
        changed = {section for section, seats in found.items() if known.get(section) != seats}
        known.update(found)
        return changed

    def _fragment(self, seats: SeatCounts, language: str) -> str:
        key = (seats.section, language)
        rendered, html = self._html.get(key, (None, ""))
        if rendered is not seats:
            with in_language(language):
                html = self._render(seats)
            self._html[key] = (seats, html)
        return html


def _seats(told: dict[str, Any], seq: int) -> SeatCounts:
    counts = {name: value for name, value in told["seats"].items() if name in TOLD}
    return SeatCounts(section=told["section"], seq=seq, **counts)


def _take(known: dict[int, SeatCounts], seats: SeatCounts) -> bool:
    """Keep the counts unless newer ones are known."""
    if seats.section in known and known[seats.section].seq >= seats.seq:
        return False
    known[seats.section] = seats
    return True
