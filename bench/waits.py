"""Accuracy and width of the wait estimates that students see, in simulated rushes.

There are nine kinds of rushes, from 8,000 students before the opening to a queue that never ends.
Visits take one to ten minutes; then some students leave and others just stop. A share gives up
while it waits. The waiting room is the simple model that the tests compare the real one with
(tests/waiting_room/test_room_model.py). It runs on a virtual clock, so an hour takes seconds. The
estimates were tuned on such rushes, so real shares may be lower.
"""

import heapq
import random
import statistics
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from itertools import count

from portal.waiting_room import wait_estimates
from portal.waiting_room.access_tokens import LIFETIME
from portal.waiting_room.room import QueueEntry
from tests.waiting_room.model import Model, Told

SECOND, MINUTE = 1000, 60_000
OPENS = 10 * MINUTE
TOUCH, RENEW = 10 * SECOND, (100 * SECOND, 240 * SECOND)


FIGURES = {
    "waits_came_true": ("share", "correct first wait estimates, over nine kinds of rushes"),
    "waits_came_true_later": ("share", "correct later wait estimates, one each minute"),
    "wait_width": ("ratio", "width of the first range over the wait, the median"),
}


@dataclass(frozen=True)
class Rush:
    """Arrivals and behavior of the students, and limits of the waiting room."""

    name: str
    early: int  # students who come before the opening
    late: float  # students a minute who come in the first half hour
    per_minute: int
    at_once: int
    minutes: tuple[float, float]  # shortest and longest visit
    leaving: float = 0.5  # share of visits that end with leaving; the others just stop
    giving_up: float = 0.2  # share of students who give up while they wait


RUSHES = (
    Rush("a university at noon", 8000, 60, 6000, 3000, (1, 10)),
    Rush("quick visits", 8000, 60, 6000, 3000, (1, 4), leaving=0.9),
    Rush("visits that just stop", 5000, 60, 6000, 2000, (2, 10), leaving=0.0),
    Rush("careful limits", 3000, 30, 600, 500, (1, 10)),
    Rush("few at once", 1000, 20, 6000, 150, (1, 10)),
    Rush("room for all, but slowly", 4000, 60, 300, 6000, (1, 10)),
    Rush("no one gives up", 4000, 60, 6000, 1000, (1, 10), giving_up=0.0),
    Rush("half give up", 4000, 60, 6000, 1000, (1, 10), giving_up=0.5),
    Rush("a trickle", 0, 400, 600, 1000, (1, 10)),
)


@dataclass
class Shown:
    """A range shown to a student, and the actual wait (ms; -1 while unknown)."""

    ahead: int
    least: int
    most: int
    since: int
    waited: int = -1

    @property
    def true(self) -> bool:
        return self.least <= self.waited <= self.most


@dataclass
class Hall:
    """The state of a simulated rush."""

    rush: Rush
    chance: random.Random
    model: Model
    todo: list[tuple[int, int, Callable[[int], None]]] = field(default_factory=list)
    awake: set[int] = field(default_factory=set)
    shown: dict[int, Shown] = field(default_factory=dict)
    later: list[tuple[int, Shown]] = field(default_factory=list)  # student, later estimate
    numbers: Iterator[int] = field(default_factory=count)
    seen: int = 0

    def at(self, moment: float, what: Callable[[int], None]) -> None:
        heapq.heappush(self.todo, (int(moment), next(self.numbers), what))

    def come(self, at: int, student: int) -> None:
        reply = self.model.enter(at, student, f"{student:032x}", self.chance.random())
        self.awake.add(student)
        self.show(at, student, reply)
        if reply[0] == "early":
            self.at(OPENS + self.chance.randint(500, 4000), lambda now: self.look(now, student))
        if self.chance.random() < self.rush.giving_up:
            late = max(at, OPENS) + self.chance.expovariate(1 / (5 * MINUTE))
            self.at(late, lambda _: self.awake.discard(student))

    def look(self, at: int, student: int) -> None:
        if student in self.awake:
            self.show(at, student, self.model.look(at, student))

    def show(self, at: int, student: int, reply: Told) -> None:
        """Store the range that a waiting student sees, the first one separately."""
        if reply[0] == "waiting" and student not in self.shown:
            self.shown[student] = self.range(at, reply)
            return
        if reply[0] == "waiting":
            self.later.append((student, self.range(at, reply)))

    def range(self, at: int, reply: Told) -> Shown:
        entry = QueueEntry("waiting", self.model.state(at), reply[1], 0, reply[2], reply[3])
        expected = wait_estimates.estimate(entry)
        return Shown(reply[3], expected.least, expected.most, at)

    def notice(self) -> None:
        """Let newly admitted students enter if they are still there."""
        for at, student in self.model.calls[self.seen :]:
            if student in self.shown and self.shown[student].waited < 0:
                self.shown[student].waited = at - self.shown[student].since
            if student in self.awake:
                ends = at + int(self.chance.uniform(*self.rush.minutes) * MINUTE)
                self.visit(at + self.chance.randint(100, 3000), student, ends)
        self.seen = len(self.model.calls)

    def visit(self, at: int, student: int, ends: int) -> None:
        def go_on(now: int) -> None:
            if now >= ends:
                if self.chance.random() < self.rush.leaving:
                    self.model.leave(now, student)
                self.awake.discard(student)
            elif self.model.stay(now, student, LIFETIME):
                self.at(min(ends, now + self.chance.randint(*RENEW)), go_on)

        self.at(at, go_on)

    def run(self, until: int) -> None:
        for now in range(0, until, SECOND):
            while self.todo and self.todo[0][0] <= now:
                when, _, what = heapq.heappop(self.todo)
                what(when)
                self.notice()
            if now % TOUCH == 0:
                self.model.touch_all(now, [each for each in self.awake if each in self.model.mine])
            self.model.step(now)
            self.notice()
            if now % MINUTE == 0 and now > OPENS:
                for student in self.chance.sample(sorted(self.awake), min(50, len(self.awake))):
                    if student in self.model.mine:
                        self.show(now, student, self.model.place(now, student))
            if now > OPENS + 31 * MINUTE and not self.model.waiting():
                return


def run(rush: Rush, seed: int) -> tuple[list[Shown], list[Shown]]:
    """Return the first ranges and the later ranges of all students who were admitted."""
    hall = Hall(rush, random.Random(seed), Model(OPENS, 10**9, rush.per_minute, rush.at_once))
    moments = [hall.chance.uniform(0, OPENS - 1) for _ in range(rush.early)]
    for student, moment in enumerate([*moments, *_later(rush, hall.chance)], start=1):
        hall.at(moment, lambda at, who=student: hall.come(at, who))
    hall.run(OPENS + 6 * 60 * MINUTE)
    first = {who: each for who, each in hall.shown.items() if each.waited >= 0}
    ends = {who: each.since + each.waited for who, each in first.items()}
    later = [
        replace(each, waited=ends[who] - each.since) for who, each in hall.later if who in ends
    ]
    return list(first.values()), later


def _later(rush: Rush, chance: random.Random) -> Iterator[float]:
    moment = float(OPENS)
    while rush.late:
        moment += chance.expovariate(rush.late / MINUTE)
        if moment > OPENS + 30 * MINUTE:
            return
        yield moment


def figures(seed: int = 1, *, quick: bool = False) -> dict[str, float]:
    """Return the figures above over all rushes, and print them by rush."""
    first, later = [], []
    for rush in RUSHES[4:5] if quick else RUSHES:
        some_first, some_later = run(rush, seed)
        print(f"{rush.name:28} {summary(some_first)}; later {summary(some_later)}")
        first += some_first
        later += some_later
    print(f"{'all':28} {summary(first)}; later {summary(later)}")
    return {
        "waits_came_true": true(first),
        "waits_came_true_later": true(later),
        "wait_width": width(first),
    }


def true(shown: list[Shown]) -> float:
    """Return the share of ranges that contain the actual wait."""
    return sum(each.true for each in shown) / len(shown)


def width(shown: list[Shown]) -> float:
    """Return the median width of the ranges, as a multiple of the wait."""
    return statistics.median((each.most - each.least) / max(MINUTE, each.waited) for each in shown)


def summary(shown: list[Shown]) -> str:
    """Return both as text, with the median wait."""
    waited = statistics.median(each.waited for each in shown) / MINUTE
    return f"{true(shown):.1%} of {len(shown)}, {width(shown):.2f} x {waited:.1f} min"
