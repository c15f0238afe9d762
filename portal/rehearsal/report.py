"""What came of a rehearsal: how fast each phase was answered, who waited, and what to set."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from math import ceil
from statistics import quantiles
from typing import Any, Literal

from portal.rehearsal.crowd import Time, Turn
from portal.rehearsal.curves import BEGINS, PHASES, phase_at
from portal.rehearsal.student import Answer
from portal.waiting_room.access_tokens import LIFETIME

SOON, NEARLY_ALL = 0.5, 95  # seconds within which so many of 100 answers are to come
SLICE = 5.0  # seconds that are looked at together
FEWEST = 50  # answers of a slice that tell anything
SPARE = 0.7  # of what it bears: pages that are open and workers need some of it
ALL_IN = 10.0  # minutes in which everyone is to be let in
FAILING = 0.01  # of a slice's answers: with more, it counts as slow
BUSY = 0.7  # of a core: with more, whoever plays it is late as well
AWAY = {429, 503}

Limit = Literal["web", "crowd", ""]


@dataclass(frozen=True)
class Seen:
    """What was seen of an opening; `work`: moments, with the processor time taken until each."""

    answers: Sequence[Answer]
    turns: Sequence[Turn]
    time: Time
    work: Sequence[tuple[float, float]] = ()


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

    `reached` is whether the web was at its limit, `crowded` whether those who played it were at
    theirs before it: then it bears this at least. Where neither was, this is worked out, not seen.
    """

    students: int
    per_minute: int
    at_once: int
    processes: int
    had: int
    bears: float  # answers a second
    each: float  # answers that a student takes in the rush
    reached: bool
    crowded: bool


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


def advise(seen: Seen, processes: int, students: int) -> dict[str, Any] | None:
    """What to set for so many students; None where nobody was let in while it was the rush."""
    opens, ends = (seen.time.begun + at * seen.time.lasts for at in BEGINS[1:3])
    entered = [each.entered for each in seen.turns if 0 < each.entered < ends]
    if not entered:
        return None
    rushing = [each for each in seen.answers if each.served and min(entered) <= each.at < ends]
    bears, limit = _borne(seen, opens, max(1, processes))
    each = max(1.0, len(rushing) / len(entered))
    per_minute = max(1, int(60 * SPARE * bears / each))
    found = Advice(
        students=students,
        per_minute=per_minute,
        at_once=per_minute * (LIFETIME // 60_000),
        processes=max(1, ceil(max(1, processes) * students / ALL_IN / per_minute)),
        had=processes,
        bears=round(bears, 1),
        each=round(each, 1),
        reached=limit == "web",
        crowded=limit == "crowd",
    )
    return asdict(found)


def _borne(seen: Seen, since: float, processes: int) -> tuple[float, Limit]:
    """Answers a second that so many web processes bear, and what was at its limit.

    Where something was, what they did in the best slice in which they were not slow, or a part of
    what they did when they were; else what they could do if they did nothing but answer, each in
    the time that half of the answers took.
    """
    slices: dict[int, list[Answer]] = defaultdict(list)
    for each in seen.answers:
        if each.heard >= since:
            slices[_slice(each.heard, since)].append(each)
    busy = {at: some for at, some in slices.items() if len(some) >= FEWEST}
    slow = {at for at, some in busy.items() if _slow(some)}
    rates = {at: sum(each.served for each in some) / SLICE for at, some in busy.items()}
    best = max((rate for at, rate in rates.items() if at not in slow), default=0.0)
    if slow:
        crowd = _crowd(seen.work, since)
        by_web = any(crowd.get(at, 0.0) <= BUSY for at in slow)
        return max(best, SPARE * max(rates[at] for at in slow)), "web" if by_web else "crowd"
    times = [each.seconds for some in slices.values() for each in some if each.served]
    return max(best, processes / max(0.001, _within(times, 50))), ""


def _slow(answers: Sequence[Answer]) -> bool:
    """Whether too many came late, or not as they should."""
    times = [each.seconds for each in answers if each.served]
    failed = len(answers) - len(times)
    return failed > FAILING * len(answers) or _within(times, NEARLY_ALL) > SOON


def _crowd(work: Sequence[tuple[float, float]], since: float) -> dict[int, float]:
    """By slice, how much of a core those who played it took themselves."""
    spent, lasted = defaultdict[int, float](float), defaultdict[int, float](float)
    for (begin, before), (end, after) in pairwise(work):
        at = _slice((begin + end) / 2, since)
        spent[at] += after - before
        lasted[at] += end - begin
    return {at: spent[at] / lasted[at] for at in spent if lasted[at]}


def _slice(at: float, since: float) -> int:
    return int((at - since) // SLICE)


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
