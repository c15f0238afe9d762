"""Totals of sections' counts, and the waiting students who can get a free seat."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from portal.core.i18n import _, _n
from portal.core.moments import milliseconds
from portal.ledger.types import SeatCounts

if TYPE_CHECKING:
    from portal.catalog.models import Reserve
    from portal.catalog.views import ReserveView


@dataclass(frozen=True)
class Totals:
    """Seats of several sections: taken + free + reserved = offered + over; and who waits."""

    offered: int = 0
    taken: int = 0
    free: int = 0
    waiting: int = 0
    over: int = 0  # students beyond the capacity

    @property
    def reserved(self) -> int:
        """Return the seats that are neither taken nor open to everyone."""
        return self.offered + self.over - self.taken - self.free


def totals(seats: Iterable[SeatCounts], pools: Mapping[int, int]) -> Totals:
    """Return the sums; the seats of a pool count once (`pools`: section → pool)."""
    by_pool: defaultdict[int, list[SeatCounts]] = defaultdict(list)
    for each in seats:
        by_pool[pools.get(each.section, 0)].append(each)
    found = [_of_pool(some) if pool else _sum(some) for pool, some in by_pool.items()]
    return Totals(*map(sum, zip(*map(astuple, found), strict=True)))


def _sum(seats: list[SeatCounts]) -> Totals:
    return Totals(
        offered=sum(each.capacity for each in seats),
        taken=sum(each.taken for each in seats),
        free=sum(each.open for each in seats),
        waiting=sum(each.waiting for each in seats),
        over=sum(each.over for each in seats),
    )


def _of_pool(seats: list[SeatCounts]) -> Totals:
    """Return the sums of sections of one pool; other sections may use its seats too."""
    own, pool = _sum(seats), seats[0]
    if pool.pool_capacity is None:  # it has left the pool meanwhile
        return own
    left = pool.pool_capacity - pool.pool_taken
    offered = min(own.offered, max(0, left + own.taken))
    free = min(own.free, max(0, left))
    return replace(own, offered=offered, free=free, over=max(own.over, own.taken + free - offered))


@dataclass(frozen=True)
class WaitlistOutlook:
    """The numbers of waiting students who get a seat at once, unless a rule refuses them."""

    waiting: int  # students who were not skipped
    open: int = 0  # of them, students who get an unreserved seat
    reserved: int = 0  # further students who get a seat if it is reserved for them
    pool_full: bool = False

    @property
    def anyone(self) -> bool:
        """Return whether any waiting student may get a seat."""
        return self.open + self.reserved > 0


def waitlist_outlook(seats: SeatCounts) -> WaitlistOutlook:
    """Return how many waiting students get the seats that are free by these counts."""
    waiting = seats.waiting - seats.skipped if seats.status == "OPEN" else 0
    given = min(waiting, seats.open)
    full = seats.pool_capacity is not None and seats.pool_taken >= seats.pool_capacity
    return WaitlistOutlook(waiting, given, min(waiting - given, seats.free_reserved), full)


def outlook_in_words(outlook: WaitlistOutlook) -> Iterable[str]:
    """Yield the outlook in sentences; none if the waitlist is empty."""
    if outlook.open:
        yield _n(
            "The first student on the waitlist gets a seat at once, unless a rule prevents it.",
            "The first %(num)s students on the waitlist get a seat "
            "at once, unless a rule prevents it.",
            outlook.open,
        )
    if outlook.reserved:
        yield _n(
            "%(num)s seat is reserved. It goes to the first eligible student on the waitlist.",
            "%(num)s seats are reserved. They go to the first eligible students on the waitlist.",
            outlook.reserved,
        )
    if outlook.waiting and not outlook.anyone:
        yield (
            _("No one on the waitlist gets a seat: all shared seats are taken.")
            if outlook.pool_full
            else _("No one on the waitlist gets a seat: none is free.")
        )


def reached_waitlists(
    left: SeatCounts, sharing: Iterable[SeatCounts]
) -> dict[int, WaitlistOutlook]:
    """Return the waitlists, by section, that may get a seat dropped in `left`.

    The counts are those after the drop. Skipped students are considered again.
    """
    found = {each.section: waitlist_outlook(replace(each, skipped=0)) for each in (left, *sharing)}
    return {section: outlook for section, outlook in found.items() if outlook.anyone}


def reserved_left(reserves: Iterable["ReserveView"], held: Mapping[int, int]) -> int:
    """Return how many seats are still reserved, with `held` taken under each reserve."""
    return sum(max(0, each.seats - held.get(each.id, 0)) for each in reserves if is_active(each))


def is_active(reserve: "ReserveView | Reserve", at: int | None = None) -> bool:
    """Return whether the reserve has not ended at a moment (ms), by default now."""
    if reserve.until is None:
        return True
    return milliseconds(reserve.until) > (milliseconds(datetime.now(UTC)) if at is None else at)
