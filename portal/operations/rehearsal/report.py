"""The figures of a rehearsal, and the limits that follow from them."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from math import ceil
from statistics import quantiles
from typing import Any

from portal.operations.rehearsal.behavior import OPENING, PHASES, STARTS, phase_at
from portal.operations.rehearsal.crowd import Timeline, Visit
from portal.operations.rehearsal.student import Answer
from portal.waiting_room.access_tokens import LIFETIME

SLICE = 5.0  # seconds of answers that are judged together
MIN_ANSWERS = 50  # in a slice, to judge it
ON_TIME, ON_TIME_SHARE = 0.5, 95  # a slice is on time if 95 % of answers take at most 0.5 s
MAX_FAILED = 0.01  # share of a slice's answers that may fail
HEADROOM = 0.7  # share of the capacity to use: open pages and workers need the rest
BUSY = 0.7  # of a core; a crowd that needs more is late itself
ADMIT_ALL = 10.0  # minutes in which all students are to be admitted


@dataclass(frozen=True)
class Observed:
    """What the crowd measured; see Crowd for `cpu_used`."""

    answers: Sequence[Answer]
    visits: Sequence[Visit]
    timeline: Timeline
    cpu_used: Sequence[tuple[float, float]] = ()


def phases(answers: Iterable[Answer], timeline: Timeline) -> list[dict[str, Any]]:
    """Return the figures of each phase that has begun; percentiles in ms."""
    found: dict[str, list[Answer]] = {phase.name: [] for phase in PHASES}
    for each in answers:
        found[phase_at(timeline.moment(each.at)).name].append(each)
    return [
        {
            "name": phase.name,
            "answers": len(some),
            "per_second": round(len(some) / (phase.duration * timeline.seconds), 1),
            "p50": round(1000 * _percentile([each.seconds for each in some], 50)),
            "p99": round(1000 * _percentile([each.seconds for each in some], 99)),
            "refused": sum(each.status in {403, 409, 422} for each in some),
            "turned_away": sum(each.status in {429, 503} for each in some),
            "failed": sum(each.status in {0, 500, 502, 504} for each in some),
        }
        for phase in PHASES
        if (some := found[phase.name])
    ]


def waits(visits: Sequence[Visit]) -> dict[str, float]:
    """Return how many were admitted, how many were not, and percentiles of the wait in seconds."""
    seconds = [each.admitted - each.since for each in visits if each.admitted]
    return {
        "admitted": len(seconds),
        "not_admitted": len(visits) - len(seconds),
        "p50": round(_percentile(seconds, 50), 1),
        "p99": round(_percentile(seconds, 99), 1),
    }


def advise(seen: Observed, processes: int, students: int) -> dict[str, Any] | None:
    """Return the limits and web processes for so many students.

    Return None if no student was admitted before the end of the rush.
    """
    end_of_rush = seen.timeline.time_of(STARTS[2])
    admitted = [each.admitted for each in seen.visits if 0 < each.admitted < end_of_rush]
    if not admitted:
        return None
    processes = max(1, processes)
    capacity, limit = _capacity(seen, processes)
    rush = [each for each in seen.answers if each.served and min(admitted) <= each.at < end_of_rush]
    per_student = max(1.0, len(rush) / len(admitted))
    per_minute = max(1, int(60 * HEADROOM * capacity / per_student))
    return {
        "students": students,
        "per_minute": per_minute,
        "at_once": per_minute * (LIFETIME // 60_000),
        "processes": max(1, ceil(processes * students / ADMIT_ALL / per_minute)),
        "processes_now": processes,
        "answers_per_second": round(capacity, 1),
        "answers_per_student": round(per_student, 1),
        "limit": limit,
    }


def _capacity(seen: Observed, processes: int) -> tuple[float, str]:
    """Return the answers per second that the web processes can give, and what limited them.

    The limit is `web`; `crowd`, if this process was too busy; or `none`, if no slice was slow. Then
    the capacity is an estimate from the usual time of an answer.
    """
    opening = seen.timeline.time_of(OPENING)
    slices: dict[int, list[Answer]] = defaultdict(list)
    for each in seen.answers:
        if each.received_at >= opening:
            slices[_slice(each.received_at, opening)].append(each)
    rates = {
        at: sum(each.served for each in some) / SLICE
        for at, some in slices.items()
        if len(some) >= MIN_ANSWERS
    }
    slow = {at for at in rates if _is_slow(slices[at])}
    best = max((rate for at, rate in rates.items() if at not in slow), default=0.0)
    if slow:
        busy = _busy_slices(seen.cpu_used, opening)
        limit = "crowd" if slow <= busy else "web"
        return max(best, HEADROOM * max(rates[at] for at in slow)), limit
    seconds = [each.seconds for some in slices.values() for each in some if each.served]
    return max(best, processes / max(0.001, _percentile(seconds, 50))), "none"


def _is_slow(answers: Sequence[Answer]) -> bool:
    seconds = [each.seconds for each in answers if each.served]
    failed = len(answers) - len(seconds)
    return failed > MAX_FAILED * len(answers) or _percentile(seconds, ON_TIME_SHARE) > ON_TIME


def _busy_slices(cpu_used: Sequence[tuple[float, float]], opening: float) -> set[int]:
    """Return the slices in which this process needed more than BUSY of a core."""
    used, passed = defaultdict[int, float](float), defaultdict[int, float](float)
    for (start, used_before), (end, used_after) in pairwise(cpu_used):
        at = _slice((start + end) / 2, opening)
        used[at] += used_after - used_before
        passed[at] += end - start
    return {at for at in used if used[at] > BUSY * passed[at]}


def _slice(at: float, opening: float) -> int:
    return int((at - opening) // SLICE)


def _percentile(seconds: list[float], percent: int) -> float:
    if len(seconds) < 2:
        return sum(seconds)
    return quantiles(seconds, n=100, method="inclusive")[percent - 1]
