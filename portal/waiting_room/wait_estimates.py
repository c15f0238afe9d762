"""The expected wait in the queue, as a range, and how often to poll meanwhile.

At first an estimate follows from the limits, later from how far the queue has moved. The constants
come from bench/waits.py, which measures how often the actual wait is within the range.
"""

import math
import random
from dataclasses import dataclass
from typing import NamedTuple

from portal.waiting_room.room import RULES, QueueEntry, RoomState

MINUTE = 60_000
NEVER = 24 * 60 * MINUTE  # the end of a range that is unknown

# The average length of a visit (ms), before any has ended: the least and the most.
SHORT, LONG = 2 * MINUTE, 11 * MINUTE
FIRST = 4 * MINUTE  # until the first visits end
STAYING = 0.7  # the share of waiters who are still there when they are called
FULL = 0.9  # from this share of the room on, the queue moves only as visits end
# A slot that admits more than this share is the opening, and says nothing about the pace.
RUSH = 0.3
SLOT = RULES["SLOT"]
FEWEST, RECENT = 2, 3  # slots
DOUBT, YOUNG = 1.4, 1.2  # the error of a pace, and how much larger it is soon after the opening
YOUTH = 4 * MINUTE
NOTICE = 5_000  # ms until a student who is called notices

LEAST_SECONDS, MOST_SECONDS = 3.0, 120.0
# The delay after the soonest possible admission, by position ahead. With it, ten thousand students
# poll less than 250 times a second together, and early enough to enter when they are admitted.
PLACE_SECONDS, LATEST_SECONDS = 0.04, 20.0


@dataclass(frozen=True)
class WaitRange:
    """A wait in ms, rounded to minutes."""

    least: int
    most: int

    @property
    def minutes(self) -> tuple[int, int]:
        return self.least // MINUTE, self.most // MINUTE


class Pace(NamedTuple):
    """How long each student ahead takes (ms).

    While the room has space: `quick` by its limit, `slow` by its recent admissions after pages were
    slow. Then the others.
    """

    least: float
    most: float
    free: int = 0
    quick: float = 0.0
    delay: float = 0.0  # ms until the first visit ends
    slow: float = 0.0


def estimate(entry: QueueEntry) -> WaitRange:
    """Return the wait until the student is admitted; before the opening, counted from it."""
    pace, early = per_place(entry.room), entry.kind == "early"
    ahead = entry.room.waiting if early else entry.ahead
    first = min(ahead, pace.free)
    most = first * pace.slow + NOTICE
    if ahead >= pace.free:
        most += (ahead - first + 1) * pace.most + pace.delay
    least = 0 if early else STAYING * first * pace.quick + (ahead - first) * pace.least
    whole = NEVER if pace.most >= NEVER else min(NEVER, math.ceil(most / MINUTE) * MINUTE)
    return WaitRange(int(least // MINUTE) * MINUTE, whole)


def per_place(room: RoomState) -> Pace:
    """Return the expected time for each student ahead."""
    if room.off:
        return Pace(0, 0)
    if not room.per_minute or not room.at_once:
        return Pace(0, NEVER)
    quick = MINUTE / room.per_minute
    slow = quick
    if room.slowed:  # the share will rise, so the recent pace tells more
        slow = min(quick / room.share, max(quick, MINUTE / max(1, admitted_per_minute(room))))
    least, most = SHORT / room.at_once, LONG / room.at_once
    seen = _seen(room)
    if seen:
        least, most = max(least, seen[0]), min(most, seen[1])
    free = max(0, room.at_once - room.inside)
    least, most = max(STAYING * quick, min(least, most)), max(slow, most)
    return Pace(least, most, free, quick, 0 if seen else FIRST, slow)


def admitted_per_minute(room: RoomState) -> int:
    """Return how many students a room admits per minute.

    It averages the last half minute, or the last whole one.
    """
    begin = (room.at // SLOT - 1) * SLOT
    admitted = sum(count for at, count in room.pace if at >= begin)
    return round(admitted * MINUTE / max(SLOT, room.at - max(begin, room.opens)))


def _seen(room: RoomState) -> tuple[float, float] | None:
    """Return the shortest and longest time (ms) for each student ahead, in the last ten minutes."""
    moves = _moves(room)
    if room.inside < FULL * room.at_once or len(moves) < FEWEST or not sum(moves[-RECENT:]):
        return None
    fastest = max(sum(moves[at : at + FEWEST]) for at in range(len(moves) - 1))
    times = [FEWEST * SLOT / (fastest + math.sqrt(fastest))]
    for some in (moves[-RECENT:], moves):
        moved, took = sum(some), len(some) * SLOT
        by_chance = 2 * math.sqrt(moved)
        times += [took / (moved + by_chance), took / max(1.0, moved - by_chance)]
    young = YOUNG * math.exp(-len(moves) * SLOT / YOUTH)
    # Soon after the opening, more visits are about to end than have ended.
    return min(times) / DOUBT / (1 + young), max(times) * DOUBT * (1 + young / 3)


def _moves(room: RoomState) -> list[int]:
    """Return how far the queue moved in each whole slot, except while the room filled."""
    pace, now = dict(room.pace), room.at // SLOT * SLOT
    first = max(room.opens // SLOT * SLOT, min(pace, default=now))
    moves = [pace.get(at, 0) for at in range(first, now, SLOT)]
    return [each for each in moves if each < RUSH * room.at_once]


def poll_interval(entry: QueueEntry) -> float:
    """Return the seconds until a page without a socket polls again; a random part spreads them.

    The limit per minute sets the earliest admission, so pages far back poll seldom. Those that
    would poll after MOST_SECONDS do so at any time in its second half, not all at its end.
    """
    room = entry.room
    if entry.kind == "early":
        left = (room.opens - room.at) / 1000
        soonest = left + _spread(room.line)
    else:
        by_limit = entry.ahead * 60 / room.per_minute if room.per_minute else MOST_SECONDS
        soonest = by_limit + min(LATEST_SECONDS, entry.ahead * PLACE_SECONDS)
    if soonest > MOST_SECONDS:
        return _between(MOST_SECONDS / 2, MOST_SECONDS)
    return max(LEAST_SECONDS, soonest) * _between(0.9, 1.1)


def _spread(line: int) -> float:
    return _between(0, min(LATEST_SECONDS, line * PLACE_SECONDS))


def _between(least: float, most: float) -> float:
    return random.uniform(least, most)  # noqa: S311 - no secret
