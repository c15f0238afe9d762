"""Seat counts as last heard from the ledger, each with its fragment rendered once."""

from collections.abc import Callable, Iterable, Mapping
from threading import Lock
from typing import Any

from portal.seats.answers import Seats


class Counts:
    """The counts of every term that somebody watches."""

    def __init__(
        self, read: Callable[[int], dict[int, Seats]], render: Callable[[Seats], str]
    ) -> None:
        self._read = read
        self._render = render
        self._lock = Lock()
        self._loading = Lock()
        self._seats: dict[int, dict[int, Seats]] = {}
        self._html: dict[int, tuple[Seats, str]] = {}

    @property
    def terms(self) -> list[int]:
        """The terms that have been asked for."""
        return list(self._seats)

    def of(self, term: int) -> dict[int, Seats]:
        """The counts of a term, from the ledger when first asked for."""
        if term not in self._seats:
            with self._loading:
                if term not in self._seats:
                    self.reload(term)
        return self._seats.get(term, {})

    def reload(self, term: int) -> set[int]:
        """Read a term from the ledger anew; gives the sections that have changed."""
        found = self._read(term)
        if not found:
            return set()  # such a term would be kept for nothing
        with self._lock:
            known = self._seats.get(term, {})
            self._seats[term] = found
        return {section for section, seats in found.items() if known.get(section) != seats}

    def hear(self, term: int, event: dict[str, Any]) -> bool:
        """Take the counts from an event; False where they are known already."""
        with self._lock:
            known = self._seats.get(term)
            if known is None:
                return False
            section = event["section"]
            if section in known and known[section].seq >= event["seq"]:
                return False
            known[section] = Seats(section=section, seq=event["seq"], **event["seats"])
        return True

    def fragments(self, seats: Mapping[int, Seats], sections: Iterable[int]) -> dict[str, str]:
        """The HTML of those of the sections that are among `seats`, by element id."""
        return {f"seats-{each}": self._fragment(seats[each]) for each in sections if each in seats}

    def _fragment(self, seats: Seats) -> str:
        rendered, html = self._html.get(seats.section, (None, ""))
        if rendered is not seats:
            html = self._render(seats)
            self._html[seats.section] = (seats, html)
        return html
