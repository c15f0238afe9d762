"""What came of a rehearsal: how fast each phase was answered, who waited, and what to set."""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from math import ceil
from statistics import quantiles
from typing import Any

from portal.gate.passes import STAY
from portal.rehearsal.crowd import Time, Turn
from portal.rehearsal.curves import BEGINS, PHASES, phase_at
from portal.rehearsal.student import Answer

SOON, NEARLY_ALL = 0.5, 95  # seconds within which so many of 100 answers are to come
SLICE = 5.0  # seconds that are looked at together
FEWEST = 50  # answers of a slice that tell anything
SPARE = 0.7  # of what it bears: pages that are open and workers need some of it
ALL_IN = 10.0  # minutes in which everyone is to be let in
AWAY = {429, 503}


@dataclass(frozen=True)
class Figures:
    """Of one phase: answers, how many a second, half and 99 of 100 within (ms), and what failed."""

    name: str
    answers: int
    per_second: float
    p50: int
    p99: int
    refused: int  # seats and forms that were refused in words
    turned_away: int  # told to come again: limits, or a part that is away
    failed: int  # no answer, or an error


@dataclass(frozen=True)
class Advice:
    """Limits of the waiting room and web processes for so many students.

    `reached` is whether the web was at its limit: where not, this is worked out, not seen.
    """

    students: int
    per_minute: int
    at_once: int
    processes: int
    had: int
    bears: float  # answers a second
    each: float  # answers that a student takes in the rush
    reached: bool


def phases(answers: Iterable[Answer], time: Time) -> list[dict[str, Any]]:
    """The figures of each phase that has begun."""
    found: dict[str, list[Answer]] = {phase.name: [] for phase in PHASES}
    for each in answers:
        found[phase_at(time.of(each.at)).name].append(each)
    return [
        asdict(_figures(phase.name, found[phase.name], phase.lasts * time.lasts))
        for phase in PHASES
        if found[phase.name]
    ]


def waits(turns: Iterable[Turn]) -> dict[str, float]:
    """Seconds that students stood in the room's line, and how many never came in."""
    known = list(turns)
    times = [each.entered - each.since for each in known if each.entered]
    return {
        "in": len(times),
        "out": len(known) - len(times),
        "p50": round(_within(times, 50), 1),
        "p99": round(_within(times, 99), 1),
    }


def advise(
    answers: Sequence[Answer], turns: Iterable[Turn], time: Time, processes: int, students: int
) -> dict[str, Any] | None:
    """What to set for so many students; None where nobody was let in while it was the rush."""
    opens, ends = (time.begun + at * time.lasts for at in BEGINS[1:3])
    open_now = [each for each in answers if each.at >= opens]
    entered = [each.entered for each in turns if 0 < each.entered < ends]
    if not entered:
        return None
    rushing = [each for each in open_now if min(entered) <= each.at < ends]
    bears, reached = _borne(open_now, opens, max(1, processes))
    each = max(1.0, len(rushing) / len(entered))
    per_minute = max(1, int(60 * SPARE * bears / each))
    found = Advice(
        students=students,
        per_minute=per_minute,
        at_once=per_minute * (STAY // 60_000),
        processes=max(1, ceil(max(1, processes) * students / ALL_IN / per_minute)),
        had=processes,
        bears=round(bears, 1),
        each=round(each, 1),
        reached=reached,
    )
    return asdict(found)


def _borne(answers: Sequence[Answer], since: float, processes: int) -> tuple[float, bool]:
    """Answers a second that so many web processes bear, and whether they were at their limit.

    Where they were, what they did in the best slice in which they were not slow; else what they
    could do if they did nothing but answer, each in the time that half of the answers took.
    """
    slices: dict[int, list[float]] = {}
    for each in answers:
        slices.setdefault(int((each.at - since) / SLICE), []).append(each.seconds)
    busy = [some for some in slices.values() if len(some) >= FEWEST]
    quick = [len(some) / SLICE for some in busy if _within(some, NEARLY_ALL) <= SOON]
    best = max(quick, default=0.0)
    slow = [len(some) / SLICE for some in busy if _within(some, NEARLY_ALL) > SOON]
    if slow:
        return best or SPARE * max(slow), True
    usual = max(0.001, _within([each.seconds for each in answers], 50))
    return max(best, processes / usual), False


def _figures(name: str, answers: list[Answer], seconds: float) -> Figures:
    times = [each.seconds for each in answers]
    return Figures(
        name,
        len(answers),
        round(len(answers) / seconds, 1),
        round(1000 * _within(times, 50)),
        round(1000 * _within(times, 99)),
        sum(1 for each in answers if each.status in {403, 409, 422}),
        sum(1 for each in answers if each.status in AWAY),
        sum(1 for each in answers if not each.status or each.status in {500, 502, 504}),
    )


def _within(times: list[float], percent: int) -> float:
    """Seconds within which so many of a hundred were answered."""
    if len(times) < 2:
        return sum(times)
    return quantiles(times, n=100, method="inclusive")[percent - 1]
