"""When students act, as fractions of a real registration.

Reduced from the enrolment series of UC San Diego, Spring 2022, 522 undergraduate sections with a
limit (github.com/UCSD-Historical-Enrollment-Data/2022Spring @ 755b15f, MIT licence, Copyright 2022
Edward Wang): their first pass is our rush, the second pass, the first with waitlists, our
`waitlists`, the month until classes our `drops`, the first two weeks of classes our `stragglers`.
Each of their phases had its seats polled every eight minutes and its students at appointments, so
nothing there tells of one minute: in our rush all come at once, which is the worst case.
"""

from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import accumulate
from random import Random
from typing import Literal

# Of each student: 29,952 adds, 6,966 drops and 9,464 entries into waitlists, for five adds.
TAKES = 5 * (29_952 + 9_464) / 29_952
DROPS = 5 * 6_966 / 29_952
LATE = 0.1  # of the students: they come when all others have been
# Those enrolled and waiting at most, over the seats, by tenth of the sections.
DEMAND = (0.25, 0.5, 0.97, 1.05, 1.09, 1.14, 1.2, 1.3, 1.41, 1.59)


@dataclass(frozen=True)
class Phase:
    """A part of a rehearsal, and its share of all that students do."""

    name: str
    lasts: float  # of the whole time
    takes: float = 0.0  # of all seats and places asked for
    waits: float = 0.0  # of these, how many are for a place in line where there is no seat
    drops: float = 0.0  # of all that is given up
    # How much of its takes and drops had been done by each fifth of it; none = all at once.
    taken: tuple[float, ...] = ()
    dropped: tuple[float, ...] = ()


PHASES = (
    Phase("lobby", 0.25),
    Phase("rush", 0.25, 0.388, 0.0, 0.139, (), (0.06, 0.15, 0.4, 0.69, 1.0)),
    Phase(
        "waitlists",
        *(0.2, 0.294, 0.49, 0.097),
        (0.11, 0.28, 0.49, 0.71, 1.0),
        (0.13, 0.3, 0.53, 0.75, 1.0),
    ),
    Phase(
        "drops",
        *(0.15, 0.185, 0.28, 0.365),
        (0.3, 0.55, 0.65, 0.77, 1.0),
        (0.14, 0.31, 0.48, 0.64, 1.0),
    ),
    Phase(
        "stragglers",
        *(0.15, 0.133, 0.33, 0.398),
        (0.45, 0.71, 0.78, 0.92, 1.0),
        (0.34, 0.52, 0.65, 0.84, 1.0),
    ),
)
BEGINS = (0.0, *accumulate(phase.lasts for phase in PHASES))
OPENS = BEGINS[1]
ENDS = 0.97  # of the time: what is asked for then is answered before the window closes


@dataclass(frozen=True, order=True)
class Act:
    """Something that a student does at a moment (of the whole time, 0 to 1)."""

    at: float
    kind: Literal["take", "drop"]
    waits: bool = False


def phase_at(moment: float) -> Phase:
    """The phase of a moment, 0 to 1."""
    return PHASES[min(bisect_right(BEGINS, moment), len(PHASES)) - 1]


def arrival(chance: Random) -> float:
    """When a student comes: nearly all before the opening."""
    late = chance.random() < LATE
    begin, end = (BEGINS[-2], ENDS) if late else (0.0, 0.9 * OPENS)
    return chance.uniform(begin, end)


def acts(chance: Random) -> list[Act]:
    """What one student does, in its order."""
    return sorted([*_takes(chance), *_drops(chance)])


def _takes(chance: Random) -> Iterator[Act]:
    for phase in chance.choices(PHASES, [each.takes for each in PHASES], k=_about(TAKES, chance)):
        waits = chance.random() < phase.waits
        yield Act(_moment(phase, phase.taken, chance), "take", waits)


def _drops(chance: Random) -> Iterator[Act]:
    for phase in chance.choices(PHASES, [each.drops for each in PHASES], k=_about(DROPS, chance)):
        yield Act(_moment(phase, phase.dropped, chance), "drop")


def _about(mean: float, chance: Random) -> int:
    """One of the two whole numbers around a mean, which many of them have."""
    return int(mean) + (chance.random() < mean % 1)


def _moment(phase: Phase, curve: tuple[float, ...], chance: Random) -> float:
    """A moment of the phase, as its curve makes them likely."""
    begin = BEGINS[PHASES.index(phase)]
    if not curve:
        return begin
    fifth = bisect_right(curve, chance.random() * curve[-1])
    within = (min(fifth, len(curve) - 1) + chance.random()) / len(curve)
    return min(ENDS, begin + within * phase.lasts)
