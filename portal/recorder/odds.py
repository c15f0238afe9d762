"""How likely a seat comes to a place in line before selection ends: a count, a prior, a tail.

Seats of a section are given up at a rate of its own, so many a held seat and day. The rates of a
term's sections vary as a gamma distribution does round the rate of the term; what was seen in a
section moves its rate away from that, and the number of seats to come is then negative binomial.
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
    """What moved within an hour: seats taken less seats freed, each times its moment (s), freed."""

    net: int = 0
    moments: float = 0.0
    freed: int = 0

    def plus(self, more: "Moves") -> "Moves":
        """Both together."""
        return Moves(self.net + more.net, self.moments + more.moments, self.freed + more.freed)


class FreedLately(NamedTuple):
    """Seats that were freed, and how long seats were held in which they could have been."""

    freed: int
    seat_days: float


@dataclass(frozen=True)
class Tally:
    """Seats taken and freed, by hour since 1970; those from before the import are not in it."""

    hours: Mapping[int, Moves] = field(default_factory=dict)

    @property
    def seats(self) -> int:
        """Seats that are held."""
        return sum(moves.net for moves in self.hours.values())

    @property
    def begun(self) -> float:
        """When the first seat was taken (s since 1970), to the hour."""
        return min(self.hours, default=0) * HOUR

    def plus(self, hours: Mapping[int, Moves]) -> "Tally":
        """The tally with what has moved since."""
        none = Moves()
        added = {hour: self.hours.get(hour, none).plus(moves) for hour, moves in hours.items()}
        return Tally({**self.hours, **added})

    def since(self, start: float, now: float) -> FreedLately:
        """What was seen from the hour of `start` on (s since 1970)."""
        first, freed, seconds = start // HOUR, 0, 0.0
        for hour, moves in self.hours.items():
            if hour < first:
                seconds += moves.net * (now - first * HOUR)
            else:
                seconds += moves.net * now - moves.moments
                freed += moves.freed
        return FreedLately(freed, max(0.0, seconds) / DAY)


@dataclass(frozen=True)
class FreedSeats:
    """The tallies of a term's sections and their sum, as of event `seq`."""

    seq: int = 0
    term: Tally = field(default_factory=Tally)
    sections: Mapping[int, Tally] = field(default_factory=dict)


def refresh_freed_seats(term: int) -> None:
    """Read what has happened since, unless that was done within 45 s or PostgreSQL is away."""
    with suppress(*AWAY):
        _freed.get(term)


def known_freed_seats(term: int) -> FreedSeats:
    """The term's tallies as last read in this process, without a wait."""
    return _freed.peek(term) or FreedSeats()


def read_freed_seats(term: int) -> FreedSeats:
    """The tallies as they are now: those known, and what has happened since."""
    before = known_freed_seats(term)
    added: dict[int, dict[int, Moves]] = defaultdict(dict)
    seq, whole = before.seq, before.term
    with transaction() as session:
        for aggregate, hour, last, net, moments, freed in session.execute(_moves(term, seq)):
            section = int(aggregate.partition(":")[2])
            added[section][hour] = Moves(net, float(moments), freed)
            seq = max(seq, last)
    for hours in added.values():
        whole = whole.plus(hours)
    moved = {key: before.sections.get(key, Tally()).plus(hours) for key, hours in added.items()}
    return FreedSeats(seq, whole, {**before.sections, **moved})


def forget_freed_seats() -> None:
    """Let go of what is known, as tests with a new database must."""
    _freed.clear()


def _moves(term: int, after: int) -> Executable:
    """What moved in each section and hour behind event `after`."""
    moment = func.extract("epoch", LoggedEvent.occurred_at)
    hour = func.floor(moment / HOUR).cast(Integer)
    sign = case((LoggedEvent.name == "dropped", -1), else_=1)
    # The seats of a canceled section come to nobody.
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


LOOKBACK = 7 * DAY  # s: how people hold on to seats changes from week to week
STRENGTH = 2.0  # the term's rate counts as much as so many freed seats; fits real curves best
ENOUGH = 5  # seats freed in a term, and days that seats were held, before its rate is worth a word
HORIZONS = (1, 24, 48, 168)  # hours
LIKELY, UNLIKELY = 0.7, 0.3


class Band(StrEnum):
    """How likely, no finer than it can be known."""

    EARLY = "early"  # too little has been seen
    UNLIKELY = "unlikely"
    EVEN = "even"
    LIKELY = "likely"


@dataclass(frozen=True)
class Estimate:
    """How likely a seat is before selection ends, and what that rests on."""

    band: Band
    place: int
    hours: int = 0  # within so many it is likely already; 0 = only by the end, if at all
    freed: int = 0  # seats of the section, in so many days
    days: int = 0  # that were looked back; 0 = since selection began
    one_in: int = 0  # across the term one of so many seats is freed before the end; 0 = hardly any


def estimate(seen: FreedSeats, section: int, place: int, *, now: int, ends: int) -> Estimate:
    """The odds of a place (from 1) on a section's list; times in ms by the ledger's clock."""
    at, own = now / 1000, seen.sections.get(section, Tally())
    start = max(at - LOOKBACK, seen.term.begun)
    term, here = seen.term.since(start, at), own.since(start, at)
    left = (ends - now) / 1000 / DAY
    if min(term.freed, term.seat_days) < ENOUGH:
        return Estimate(Band.EARLY, place, freed=here.freed)
    rate = term.freed / term.seat_days
    per_day = own.seats * (STRENGTH + here.freed) / (STRENGTH / rate + here.seat_days)
    shape = STRENGTH + here.freed
    hours = (each for each in HORIZONS if each < left * 24)
    return Estimate(
        band=_band(tail(place, shape, per_day * left)),
        place=place,
        hours=next((h for h in hours if tail(place, shape, per_day * h / 24) >= LIKELY), 0),
        freed=here.freed,
        days=round(LOOKBACK / DAY) if start == at - LOOKBACK else 0,
        one_in=_one_in(rate * left),
    )


def tail(least: int, shape: float, mean: float) -> float:
    """The chance that a negative binomial number of that shape and mean is `least` or more."""
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
    """A share as one in 2, 5, 10, …, no finer than it can be known; 0 for hardly any."""
    steps = (1, 2, 3, 4, 5, 10, 20, 50, 100, 200)
    return min(steps, key=lambda each: abs(each * share - 1)) if share * 400 > 1 else 0
