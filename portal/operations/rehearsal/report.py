"""The report of a rehearsal: its figures, the limits that it advises, and what to doubt about them.

The audit trail keeps the report of each rehearsal, so it needs no table of its own.
"""

import os
import socket
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from math import ceil
from statistics import quantiles
from typing import Any

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.core.audit_trail import AuditEntry
from portal.core.i18n import _, _n
from portal.operations.rehearsal.behavior import PHASES, RUSH, phase_at
from portal.operations.rehearsal.crowd import Crowd, Timeline, Visit
from portal.operations.rehearsal.student import Answer
from portal.waiting_room.access_tokens import LIFETIME
from portal.waiting_room.admission_limits import AdmissionLimits

SLICE = 5.0  # seconds of answers that are judged together
MIN_ANSWERS = 50  # fewest answers in a slice that is judged
ON_TIME, ON_TIME_SHARE = 0.5, 95  # a slice is on time if 95 % of answers take at most 0.5 s
MAX_FAILED = 0.01  # share of a slice's answers that may fail
HEADROOM = 0.7  # share of the capacity to use: open pages and workers need the rest
BUSY = 0.7  # of a core; if the rehearsal itself needs more, its answers are late
ADMIT_ALL = 10.0  # minutes in which all students are to be admitted
STATUSES = {
    "refused": {403, 409, 422},
    "turned_away": {429, 503},
    "failed": {0, 500, 502, 504},
}
ENDED = "rehearsal.end"
OLD = timedelta(days=30)


def phases(answers: Sequence[Answer], timeline: Timeline) -> list[dict[str, Any]]:
    """Return the figures of each phase that has begun; percentiles in ms."""
    found = []
    for phase in PHASES:
        some = [each for each in answers if phase_at(timeline.moment(each.at)) is phase]
        if some:
            seconds = [each.seconds for each in some]
            figures: dict[str, Any] = {
                "name": phase.name,
                "answers": len(some),
                "per_second": round(len(some) / (phase.end - phase.begin) / timeline.seconds, 1),
                "p50": round(1000 * _percentile(seconds, 50)),
                "p99": round(1000 * _percentile(seconds, 99)),
            }
            for name, statuses in STATUSES.items():
                figures[name] = sum(each.status in statuses for each in some)
            found.append(figures)
    return found


def waits(visits: Sequence[Visit]) -> dict[str, float]:
    """Return how many were admitted, how many were not, and percentiles of the wait in seconds."""
    seconds = [each.admitted - each.since for each in visits if each.admitted]
    return {
        "admitted": len(seconds),
        "not_admitted": len(visits) - len(seconds),
        "p50": round(_percentile(seconds, 50), 1),
        "p99": round(_percentile(seconds, 99), 1),
    }


def advise(crowd: Crowd, processes: int, students: int) -> dict[str, Any] | None:
    """Return the limits and web processes for so many students.

    Return None if no student was admitted before the end of the rush.
    """
    end_of_rush = crowd.timeline.time_of(RUSH.end)
    admitted = [each.admitted for each in crowd.visits if 0 < each.admitted < end_of_rush]
    if not admitted:
        return None
    processes = max(1, processes)
    capacity, limit = _capacity(crowd, processes)
    rush = [
        each for each in crowd.answers if each.served and min(admitted) <= each.at < end_of_rush
    ]
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


def _capacity(crowd: Crowd, processes: int) -> tuple[float, str]:
    """Return the answers per second that the web processes can give, and what limited them.

    The limit is `web`; `crowd`, if this process was too busy; or `none`, if no slice was slow. Then
    the capacity is an estimate from the usual time of an answer.
    """
    opening = crowd.timeline.time_of(RUSH.begin)
    slices: dict[int, list[Answer]] = defaultdict(list)
    for each in crowd.answers:
        if each.received_at >= opening:
            slices[int((each.received_at - opening) // SLICE)].append(each)
    fast, slow = [0.0], {}
    for at, some in slices.items():
        seconds = [each.seconds for each in some if each.served]
        if len(some) < MIN_ANSWERS:
            continue
        failed = len(some) - len(seconds)
        if failed > MAX_FAILED * len(some) or _percentile(seconds, ON_TIME_SHARE) > ON_TIME:
            slow[at] = len(seconds) / SLICE
        else:
            fast.append(len(seconds) / SLICE)
    if slow:
        limit = "crowd" if slow.keys() <= _busy_times(crowd.cpu_used, opening) else "web"
        return max(*fast, HEADROOM * max(slow.values())), limit
    seconds = [each.seconds for some in slices.values() for each in some if each.served]
    return max(*fast, processes / max(0.001, _percentile(seconds, 50))), "none"


def _busy_times(cpu_used: Sequence[tuple[float, float]], opening: float) -> set[int]:
    """Return the slices in which this process needed more than BUSY of a core."""
    used, passed = defaultdict[int, float](float), defaultdict[int, float](float)
    for (start, used_before), (end, used_after) in pairwise(cpu_used):
        at = int(((start + end) / 2 - opening) // SLICE)
        used[at] += used_after - used_before
        passed[at] += end - start
    return {at for at in used if used[at] > BUSY * passed[at]}


def _percentile(seconds: list[float], percent: int) -> float:
    if len(seconds) < 2:
        return sum(seconds)
    return quantiles(seconds, n=100, method="inclusive")[percent - 1]


# The advice of the last rehearsal


@dataclass(frozen=True)
class Rehearsal:
    """A rehearsal: when it ended, on which machine, and its advice, which may be missing."""

    at: datetime
    machine: dict[str, Any]  # host and cores; empty for rehearsals of earlier versions
    stopped: bool
    advice: dict[str, Any] | None  # of `advise`

    @property
    def limits(self) -> AdmissionLimits | None:
        """Return the limits that it advises."""
        if self.advice is None:
            return None
        return AdmissionLimits(self.advice["per_minute"], self.advice["at_once"])

    def doubts(self, processes: int) -> Iterator[str]:
        """Yield sentences on why its advice may not fit a portal with so many web processes."""
        days = (datetime.now(UTC) - self.at) // timedelta(days=1)
        if days >= OLD // timedelta(days=1):
            yield _n(
                "It is %(count)s day old. Rehearse again before the opening.",
                "It is %(count)s days old. Rehearse again before the opening.",
                days,
                count=days,
            )
        if self.stopped:
            yield _("Someone stopped it early.")
        if self.advice is None:
            return
        if processes and processes != self.advice["processes_now"]:
            yield _(
                "It was measured with another number of web processes: %(then)s, now %(now)s.",
                then=self.advice["processes_now"],
                now=processes,
            )
        if self.advice["limit"] == "none":
            yield _("It is an estimate: the portal was not at its limit. Use more students.")
        if self.advice["limit"] == "crowd":
            yield _("The portal may be faster: the rehearsal itself was at its limit.")


def machine() -> dict[str, Any]:
    """Return the name and the cores of this machine."""
    return {"host": socket.gethostname(), "cores": len(os.sched_getaffinity(0))}


def last_rehearsal(session: Session) -> Rehearsal | None:
    """Return the last rehearsal that was played on this portal."""
    ended = select(AuditEntry).where(AuditEntry.action == ENDED)
    entry = session.scalar(ended.order_by(AuditEntry.id.desc()).limit(1))
    if entry is None or entry.after is None:
        return None
    found = entry.after
    return Rehearsal(
        at=entry.at,
        machine=found.get("machine", {}),
        stopped=bool(found.get("stopped")),
        advice=found.get("advice"),
    )
