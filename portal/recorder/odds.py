"""How likely a seat comes to a place in line before selection ends: a count, a prior, a tail.

Seats of a section are given up at a rate of its own, so many a held seat and day. The rates of a
term's sections vary as a gamma distribution does round the rate of the term; what was seen in a
section moves its rate away from that, and the number of seats to come is then negative binomial.
"""

from dataclasses import dataclass
from enum import StrEnum

from portal.recorder.freed import DAY, Freed, Tally

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


def estimate(seen: Freed, section: int, place: int, *, now: int, ends: int) -> Estimate:
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
