"""What can be promised to those in line, by the seats of a section, its pool and its reserves."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from portal.core.i18n import _, _n
from portal.ledger.types import SeatCounts

if TYPE_CHECKING:
    from portal.catalog.views import ReserveView


@dataclass(frozen=True)
class Promise:
    """How many of those in line get a seat at once, unless a rule stands in the way."""

    line: int  # who waits and was not passed over: a rule stands in the way of those
    open: int = 0  # get one that is kept for nobody
    kept: int = 0  # more get one if they are among those for whom it is kept
    shared_full: bool = False  # the seats that it shares with others are all taken

    @property
    def anyone(self) -> bool:
        """Whether a seat may come to somebody."""
        return self.open + self.kept > 0


def promise(seats: SeatCounts) -> Promise:
    """What those in line get of the seats that are free by these counts, as they will be."""
    line = seats.waiting - seats.passed if seats.status == "OPEN" else 0
    given = min(line, seats.open)
    full = seats.pool_capacity is not None and seats.pool_taken >= seats.pool_capacity
    return Promise(line, given, min(line - given, seats.keeping), full)


def in_words(promised: Promise) -> Iterable[str]:
    """The promise in sentences; nothing where nobody is in line."""
    if promised.open:
        yield _n(
            "The first student in line gets a seat at once, unless a rule stands in the way.",
            "The first %(num)s students in line get a seat at once, unless a rule stands in"
            " the way.",
            promised.open,
        )
    if promised.kept:
        yield _n(
            "%(num)s seat is kept: it goes to the first in line for whom it is kept.",
            "%(num)s seats are kept: they go to the first in line for whom they are kept.",
            promised.kept,
        )
    if promised.line and not promised.anyone:
        yield (
            _("Nobody in line gets a seat by it: the seats that it shares are all taken.")
            if promised.shared_full
            else _("Nobody in line gets a seat by it: none is free.")
        )


def heirs(left: SeatCounts, sharing: Iterable[SeatCounts]) -> dict[int, Promise]:
    """The lines, by section, to which a seat may go that was given up in `left`.

    Both are counts as they will be. As it is another seat, also who was passed over is asked again.
    """
    found = {each.section: promise(replace(each, passed=0)) for each in (left, *sharing)}
    return {section: promised for section, promised in found.items() if promised.anyone}


def kept(reserves: Iterable["ReserveView"], held: Mapping[int, int]) -> int:
    """Seats that these reserves keep, of which so many are `held` already, by reserve."""
    return sum(max(0, each.seats - held.get(each.id, 0)) for each in reserves if lasts(each))


def lasts(reserve: "ReserveView") -> bool:
    """Whether it keeps seats still."""
    return reserve.until is None or reserve.until > datetime.now(UTC)
