"""Seat counts last received from the ledger; each fragment is rendered once per audience."""

from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Any, NamedTuple

from portal.core.i18n import in_language
from portal.ledger.types import SeatCounts


class Audience(NamedTuple):
    """Those who read the same: students the open seats, staff the enrolled students."""

    language: str
    staff: bool = False


class SeatCountCache:
    """The counts of every term that open pages show.

    `render` takes the counts, and whether staff read them.
    """

    def __init__(
        self,
        read: Callable[[int], dict[int, SeatCounts]],
        render: Callable[[SeatCounts, bool], str],
    ) -> None:
        self._read = read
        self._render = render
        self._lock = Lock()
        self._loading = Lock()
        self._seats: dict[int, dict[int, SeatCounts]] = {}
        self._received: dict[int, dict[int, SeatCounts]] = {}  # while a term is being read
        self._html: dict[tuple[int, Audience], tuple[SeatCounts, str]] = {}

    @property
    def terms(self) -> list[int]:
        """Return the terms that were requested."""
        with self._lock:
            return list({*self._seats, *self._received})

    def of(self, term: int) -> dict[int, SeatCounts]:
        """Return the counts of a term; the first request reads them from the ledger."""
        if term not in self._seats:
            with self._loading:
                if term not in self._seats:
                    self._load(term)
        return self._seats.get(term, {})

    def reload(self, term: int) -> set[int]:
        """Read a term from the ledger again; return the sections that have changed."""
        with self._loading:
            return self._load(term)

    def update(self, term: int, event: dict[str, Any]) -> set[int]:
        """Store an event's counts; return the sections whose counts were new."""
        found = [_seats(each, event["seq"]) for each in (event, *event.get("also", ()))]
        with self._lock:
            if term in self._received:
                for seats in found:
                    _store_newer(self._received[term], seats)
            known = self._seats.get(term)
            return {
                each.section for each in found if known is not None and _store_newer(known, each)
            }

    def fragments(
        self, seats: Mapping[int, SeatCounts], sections: Iterable[int], audience: Audience
    ) -> dict[str, str]:
        """Return the HTML of the given sections that are in `seats`, by element id."""
        known = (seats[each] for each in sections if each in seats)
        return {f"seats-{each.section}": self._fragment(each, audience) for each in known}

    def _load(self, term: int) -> set[int]:
        """Load a term; events during the read may be newer than the read, earlier ones are not."""
        with self._lock:
            self._received[term] = {}
        try:
            found = self._read(term)
            with self._lock:
                return self._merge(term, found, self._received.pop(term))
        finally:
            with self._lock:
                self._received.pop(term, None)

    def _merge(
        self, term: int, found: dict[int, SeatCounts], received: dict[int, SeatCounts]
    ) -> set[int]:
        for seats in received.values():
            _store_newer(found, seats)
        if not found:
            return set()  # a term without sections: no page shows it
        # Keep the same mapping: a page may be reading it.
        known = self._seats.setdefault(term, {})
        changed = {section for section, seats in found.items() if known.get(section) != seats}
        known.update(found)
        return changed

    def _fragment(self, seats: SeatCounts, audience: Audience) -> str:
        key = (seats.section, audience)
        rendered, html = self._html.get(key, (None, ""))
        if rendered is not seats:
            with in_language(audience.language):
                html = self._render(seats, audience.staff)
            self._html[key] = (seats, html)
        return html


def _seats(fields: dict[str, Any], seq: int) -> SeatCounts:
    return SeatCounts.of_event(fields["section"], seq, fields["seats"])


def _store_newer(known: dict[int, SeatCounts], seats: SeatCounts) -> bool:
    """Store the counts unless newer ones are known."""
    if seats.section in known and known[seats.section].seq >= seats.seq:
        return False
    known[seats.section] = seats
    return True
