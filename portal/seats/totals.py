"""What many sections have together."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import astuple, dataclass, replace

from portal.ledger.types import SeatCounts


@dataclass(frozen=True)
class Totals:
    """Seats offered, taken and free, and places taken on waitlists."""

    offered: int = 0
    taken: int = 0
    free: int = 0
    waiting: int = 0


def totals(seats: Iterable[SeatCounts], pools: Mapping[int, int]) -> Totals:
    """The sums; seats that sections of a pool share count once (`pools`: section → pool)."""
    alike: defaultdict[int, list[SeatCounts]] = defaultdict(list)
    for each in seats:
        alike[pools.get(each.section, 0)].append(each)
    found = [_shared(some) if pool else _sum(some) for pool, some in alike.items()]
    return Totals(*map(sum, zip(*map(astuple, found), strict=True)))


def _sum(seats: list[SeatCounts]) -> Totals:
    return Totals(
        offered=sum(each.capacity for each in seats),
        taken=sum(each.taken for each in seats),
        free=sum(each.open for each in seats),
        waiting=sum(each.waiting for each in seats),
    )


def _shared(seats: list[SeatCounts]) -> Totals:
    """Of sections of one pool; those of it that are not among them have their part in it too."""
    own, pool = _sum(seats), seats[0]
    if pool.pool_capacity is None:  # it has left the pool meanwhile
        return own
    left = pool.pool_capacity - pool.pool_taken
    return replace(
        own,
        offered=min(own.offered, max(0, left + own.taken)),
        free=min(own.free, max(0, left)),
    )
