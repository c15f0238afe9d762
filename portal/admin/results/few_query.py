"""Which sections of a term have too few students, by limits that the admin sets."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from portal.catalog.term_catalog import SectionView, TermCatalog
from portal.ledger.types import SeatCounts
from portal.web.admin.sections import RUNNING

if TYPE_CHECKING:
    from werkzeug.datastructures import MultiDict

NUMBERS = ("fewer", "percent", "least")
FIRST = 10  # students, until the admin sets limits
DIGITS = 6


@dataclass(frozen=True)
class Few:
    """A section with its seats."""

    card: SectionView
    seats: SeatCounts

    @property
    def share(self) -> float:
        """Which part of its seats is taken."""
        return self.seats.taken / self.seats.capacity


@dataclass(frozen=True)
class Limits:
    """Under-filled is what has fewer than `fewer` taken, or less than `percent` of its seats.

    0 is no limit. Sections with fewer seats than `least`, of other subjects, and those that are
    full or waited for don't count.
    """

    fewer: int = 0
    percent: int = 0
    least: int = 0
    subject: str = ""

    @classmethod
    def parse(cls, args: "MultiDict[str, str]") -> "Limits":
        """What the address asks for; the first limits where it names none."""
        if not any(name in args for name in NUMBERS):
            return cls(FIRST)
        fewer, percent, least = (_number(args.get(name, "")) for name in NUMBERS)
        return cls(fewer, percent, least, args.get("subject", ""))

    def args(self) -> dict[str, str]:
        """The arguments that `parse` reads back as this."""
        set_ones = {name: str(value) for name, value in vars(self).items() if value}
        return {"fewer": "0", **set_ones}

    def pick(self, offered: TermCatalog, counts: Mapping[int, SeatCounts]) -> list[Few]:
        """The sections that are under-filled, the emptiest first."""
        return sorted(self._found(offered, counts), key=lambda few: (few.share, few.seats.taken))

    def _found(self, offered: TermCatalog, counts: Mapping[int, SeatCounts]) -> Iterator[Few]:
        for card in offered.sections:
            seats = counts.get(card.id)
            if card.status in RUNNING and seats and seats.capacity and self._fits(card, seats):
                yield Few(card, seats)

    def _fits(self, card: SectionView, seats: SeatCounts) -> bool:
        if seats.capacity < self.least or self.subject not in {"", card.subject_code}:
            return False
        if wanted(seats):
            return False
        return seats.taken < self.fewer or seats.taken * 100 < self.percent * seats.capacity


def wanted(seats: SeatCounts) -> bool:
    """Whether a section is full, or waited for by somebody who may have a seat."""
    return full(seats) or seats.waiting > seats.passed


def full(seats: SeatCounts) -> bool:
    """Whether nobody could have a seat, not even one that is kept."""
    return not (seats.open or seats.keeping)


def _number(text: str) -> int:
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= DIGITS else 0
