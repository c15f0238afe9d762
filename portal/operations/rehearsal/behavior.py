"""When students act, as fractions of a real registration.

Reduced from the enrollment series of UC San Diego, Spring 2022: 522 undergraduate sections with a
limit (github.com/UCSD-Historical-Enrollment-Data/2022Spring @ 755b15f, MIT licence, Copyright 2022
Edward Wang). Their first pass is our rush, and their second pass, the first with waitlists, is our
`waitlists`. The month until classes is `drops`, and the first two weeks of classes `stragglers`.
Their students came at appointments. In our rush all students come at once: the worst case.
"""

from dataclasses import dataclass
from random import Random
from typing import Literal

# Per student who makes five adds; the series has 29,952 adds, 6,966 drops and 9,464 waitings.
CLAIMS = 5 * (29_952 + 9_464) / 29_952
DROPS = 5 * 6_966 / 29_952
LATE = 0.1  # share of the students who come in the last phase
# Students who want a section, per seat of it; one figure for each tenth of the sections.
DEMAND = (1.59, 1.41, 1.3, 1.2, 1.14, 1.09, 1.05, 0.97, 0.5, 0.25)
END = 0.97  # of the time; later requests would find the window closed


@dataclass(frozen=True)
class Phase:
    """A part of a rehearsal; moments run from 0 to 1.

    `claims` and `drops` are shares of the whole rehearsal, `waits` of the phase's claims.
    """

    name: str
    begin: float
    end: float
    claims: float = 0.0
    waits: float = 0.0  # claims that accept a waitlist position
    drops: float = 0.0


PHASES = (
    Phase("lobby", 0.0, 0.25),
    Phase("rush", 0.25, 0.5, claims=0.388, drops=0.139),
    Phase("waitlists", 0.5, 0.7, claims=0.294, waits=0.49, drops=0.097),
    Phase("drops", 0.7, 0.85, claims=0.185, waits=0.28, drops=0.365),
    Phase("stragglers", 0.85, 1.0, claims=0.133, waits=0.33, drops=0.398),
)
LOBBY, RUSH, *_, STRAGGLERS = PHASES


@dataclass(frozen=True, order=True)
class Act:
    """A student's action at a moment."""

    at: float
    kind: Literal["claim", "drop"]
    waits: bool = False


def phase_at(moment: float) -> Phase:
    return next((phase for phase in PHASES if moment < phase.end), STRAGGLERS)


def arrival(chance: Random) -> float:
    """Return the moment at which a student comes: nearly all come before the opening."""
    if chance.random() < LATE:
        return chance.uniform(STRAGGLERS.begin, END)
    return chance.uniform(0.0, 0.9 * LOBBY.end)


def acts(chance: Random) -> list[Act]:
    """Return what one student does, in order; in the rush all students claim at once."""
    claims = chance.choices(PHASES, [each.claims for each in PHASES], k=_about(CLAIMS, chance))
    drops = chance.choices(PHASES, [each.drops for each in PHASES], k=_about(DROPS, chance))
    found = [Act(_moment(phase, chance), "drop") for phase in drops]
    for phase in claims:
        at = RUSH.begin if phase is RUSH else _moment(phase, chance)
        found.append(Act(at, "claim", chance.random() < phase.waits))
    return sorted(found)


def preferences(sections: list[int], chance: Random) -> list[int]:
    """Return the sections in the order in which one student wants them; the first are in demand."""
    per_figure = len(sections) / len(DEMAND)
    weight = {each: DEMAND[int(at / per_figure)] for at, each in enumerate(sections)}
    return sorted(sections, key=lambda each: chance.random() ** (1 / weight[each]), reverse=True)


def _about(mean: float, chance: Random) -> int:
    """Round `mean` up or down at random, so that the average stays `mean`."""
    return int(mean) + (chance.random() < mean % 1)


def _moment(phase: Phase, chance: Random) -> float:
    return min(END, chance.uniform(phase.begin, phase.end))
