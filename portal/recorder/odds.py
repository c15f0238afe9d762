"""The odds that a waitlist position gets a seat before selection ends.

Each section drops seats at its own rate, per held seat and day. The rates of a term's sections
follow a gamma distribution around the term's rate (the prior). The drops seen in a section move its
rate from the prior. The number of seats to come is then negative binomial; its tail is the chance.
"""

from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple

from sqlalchemy import Executable, Integer, case, func, not_, select

from portal.core.cache import AWAY, Cache
from portal.core.db import transaction
from portal.recorder.models import LoggedEvent

HOUR = 3600.0  # seconds
DAY = 24 * HOUR
FRESH_SECONDS = 45.0


class Moves(NamedTuple):
    """Moves within an hour.

    Seats taken minus seats freed; the same, each times its time (s); seats freed.
    """

    net: int = 0
    net_times: float = 0.0
    freed: int = 0

    def plus(self, more: "Moves") -> "Moves":
        return Moves(self.net + more.net, self.net_times + more.net_times, self.freed + more.freed)


class FreedLately(NamedTuple):
    """Seats freed, and the seat-days in which they could have been freed."""

    freed: int
    seat_days: float


@dataclass(frozen=True)
class Tally:
    """Seats taken and freed, by hour since 1970; excludes seats from before the import."""

    hours: Mapping[int, Moves] = field(default_factory=dict)

    @property
    def seats(self) -> int:
        """Return the number of held seats."""
        return sum(moves.net for moves in self.hours.values())

    @property
    def begun(self) -> float:
        """Return when the first seat was taken (s since 1970), to the hour."""
        return min(self.hours, default=0) * HOUR

    def plus(self, hours: Mapping[int, Moves]) -> "Tally":
        """Return the tally plus later moves."""
        none = Moves()
        added = {hour: self.hours.get(hour, none).plus(moves) for hour, moves in hours.items()}
        return Tally({**self.hours, **added})

    def since(self, start: float, now: float) -> FreedLately:
        """Return what was seen from the hour of `start` on (s since 1970)."""
        first, freed, seconds = start // HOUR, 0, 0.0
        for hour, moves in self.hours.items():
            if hour < first:
                seconds += moves.net * (now - first * HOUR)
            else:
                seconds += moves.net * now - moves.net_times
                freed += moves.freed
        return FreedLately(freed, max(0.0, seconds) / DAY)


@dataclass(frozen=True)
class FreedSeats:
    """The tallies of a term's sections and their sum, as of event `seq`."""

    seq: int = 0
    term: Tally = field(default_factory=Tally)
    sections: Mapping[int, Tally] = field(default_factory=dict)


def refresh_freed_seats(term: int) -> None:
    """Read new events, unless that was done within 45 s or PostgreSQL is unavailable."""
    with suppress(*AWAY):
        _freed.get(term)


def known_freed_seats(term: int) -> FreedSeats:
    """Return the term's tallies as last read in this process, without waiting."""
    return _freed.peek(term) or FreedSeats()


def read_freed_seats(term: int) -> FreedSeats:
    """Return the current tallies: the known ones plus later events."""
    before = known_freed_seats(term)
    added: dict[int, dict[int, Moves]] = defaultdict(dict)
    seq, whole = before.seq, before.term
    with transaction() as session:
        for aggregate, hour, last, net, net_times, freed in session.execute(_moves(term, seq)):
            section = int(aggregate.partition(":")[2])
            added[section][hour] = Moves(net, float(net_times), freed)
            seq = max(seq, last)
    for hours in added.values():
        whole = whole.plus(hours)
    moved = {key: before.sections.get(key, Tally()).plus(hours) for key, hours in added.items()}
    return FreedSeats(seq, whole, {**before.sections, **moved})


def forget_freed_seats() -> None:
    """Clear the cached tallies, as tests with a new database must."""
    _freed.clear()


def _moves(term: int, after: int) -> Executable:
    """Return the moves of each section and hour after event `after`."""
    moment = func.extract("epoch", LoggedEvent.occurred_at)
    hour = func.floor(moment / HOUR).cast(Integer)
    sign = case((LoggedEvent.name == "dropped", -1), else_=1)
    # Seats of a canceled section are not offered again.
    freed = func.count().filter(
        LoggedEvent.name == "dropped", not_(LoggedEvent.payload.has_key("canceled"))
    )
    return (
        select(
            LoggedEvent.aggregate,
            hour,
            func.max(LoggedEvent.seq),
            func.sum(sign),
            func.sum(sign * moment),
            freed,
        )
        .where(LoggedEvent.term_id == term, LoggedEvent.seq > after)
        .where(LoggedEvent.name.in_(("enrolled", "promoted", "dropped")))
        .group_by(LoggedEvent.aggregate, hour)
    )


_freed = Cache(read_freed_seats, FRESH_SECONDS)


LOOKBACK = 7 * DAY  # s: drop behavior changes from week to week
STRENGTH = 2.0  # the term's rate weighs as much as this many freed seats; fits real data best
ENOUGH = 5  # seats freed in a term, and seat-days, before its rate means anything
HORIZONS = (1, 24, 48, 168)  # hours
LIKELY, UNLIKELY = 0.7, 0.3


class Band(StrEnum):
    """How likely a seat is, no finer than the data allows."""

    EARLY = "early"  # too little data
    UNLIKELY = "unlikely"
    EVEN = "even"
    LIKELY = "likely"


@dataclass(frozen=True)
class Estimate:
    """How likely a seat is before selection ends, and the figures behind it."""

    band: Band
    position: int
    hours: int = 0  # likely already within this many hours; 0 = only by the end, if at all
    freed: int = 0  # freed seats of the section in `days`
    days: int = 0  # days looked back; 0 = since selection began
    # across the term, one in this many seats is freed before the end; 0 = hardly any
    one_in: int = 0


def estimate(seen: FreedSeats, section: int, position: int, *, now: int, ends: int) -> Estimate:
    """Return the odds of a position (from 1) on a section's waitlist.

    Times are in ms by the ledger's clock.
    """
    at, own = now / 1000, seen.sections.get(section, Tally())
    start = max(at - LOOKBACK, seen.term.begun)
    term, here = seen.term.since(start, at), own.since(start, at)
    left = (ends - now) / 1000 / DAY
    if min(term.freed, term.seat_days) < ENOUGH:
        return Estimate(Band.EARLY, position, freed=here.freed)
    rate = term.freed / term.seat_days
    per_day = own.seats * (STRENGTH + here.freed) / (STRENGTH / rate + here.seat_days)
    shape = STRENGTH + here.freed
    hours = (each for each in HORIZONS if each < left * 24)
    return Estimate(
        band=_band(tail(position, shape, per_day * left)),
        position=position,
        hours=next((h for h in hours if tail(position, shape, per_day * h / 24) >= LIKELY), 0),
        freed=here.freed,
        days=round(LOOKBACK / DAY) if start == at - LOOKBACK else 0,
        one_in=_one_in(rate * left),
    )


def tail(least: int, shape: float, mean: float) -> float:
    """Return the chance that a negative binomial number of that shape and mean is >= `least`."""
    stays = shape / (shape + mean)
    chance, below = stays**shape, 0.0
    for count in range(least):
        below += chance
        chance *= (shape + count) / (count + 1) * (1 - stays)
    return max(0.0, 1 - below)


def _band(chance: float) -> Band:
    if chance >= LIKELY:
        return Band.LIKELY
    return Band.EVEN if chance >= UNLIKELY else Band.UNLIKELY


def _one_in(share: float) -> int:
    """Return a share as one in 2, 5, 10, …, no finer than the data allows; 0 for hardly any."""
    steps = (1, 2, 3, 4, 5, 10, 20, 50, 100, 200)
    return min(steps, key=lambda each: abs(each * share - 1)) if share * 400 > 1 else 0
