"""All students of a rehearsal: each is a thread that comes, waits for admission, and acts."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from random import Random
from threading import Event, Thread
from typing import Any

from portal.operations.rehearsal import behavior
from portal.operations.rehearsal.behavior import OPENING, Act
from portal.operations.rehearsal.student import Answer, Student, Unanswered

ADMITTED = {"free", "in"}
RETRY = (1.0, 3.0)  # seconds until a student who waits asks again, as the page does
AFTER_OPENING = (0.5, 4.0)  # seconds until the page of an early student asks
THINKING = (0.5, 3.0)  # seconds before each press of a button
LEAVING = 20.0  # seconds in which all get their last answer
RECENT = 5.0  # seconds that `progress` averages over


@dataclass(frozen=True)
class Timeline:
    """The time of a rehearsal: its start on the clock of time.monotonic, and its seconds."""

    start: float
    seconds: float

    def moment(self, at: float) -> float:
        """Return the moment, from 0 to 1, of a time of the clock."""
        return min(1.0, max(0.0, (at - self.start) / self.seconds))

    def time_of(self, moment: float) -> float:
        """Return the time of the clock at a moment."""
        return self.start + moment * self.seconds

    def seconds_until(self, moment: float) -> float:
        return max(0.0, self.time_of(moment) - time.monotonic())


@dataclass
class Visit:
    """When a student could first be admitted, and when they were (0 = not yet)."""

    since: float
    admitted: float = 0.0


@dataclass
class Crowd:
    """Students who act until the time is over or `ended` is set."""

    students: Sequence[Student]
    password: str
    sections: list[int]  # those in most demand first
    timeline: Timeline
    answers: list[Answer]
    visits: dict[str, Visit] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    ended: Event = field(default_factory=Event)
    threads: list[Thread] = field(default_factory=list)
    # Times, each with the processor seconds that this process has used until then.
    cpu_used: list[tuple[float, float]] = field(default_factory=list)

    def start(self) -> None:
        self.threads = [
            Thread(target=self._live, args=(each, Random(each.username)), daemon=True)  # noqa: S311
            for each in self.students
        ]
        self.measure_cpu()
        for thread in self.threads:
            thread.start()

    def end(self) -> None:
        """Stop new requests, and wait a while for the last answers."""
        self.ended.set()
        deadline = time.monotonic() + LEAVING
        for thread in self.threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        self.measure_cpu()

    def measure_cpu(self) -> None:
        self.cpu_used.append((time.monotonic(), time.process_time()))

    def progress(self) -> dict[str, Any]:
        """Return the current figures."""
        now, visits = time.monotonic(), list(self.visits.values())
        recent = sum(each.received_at > now - RECENT for each in self.answers[-10_000:])
        return {
            "phase": behavior.phase_at(self.timeline.moment(now)).name,
            "come": len(visits),
            "admitted": sum(each.admitted > 0 for each in visits),
            "seats": self.outcomes["seat"],
            "positions": self.outcomes["position"],
            "per_second": round(recent / RECENT, 1),
        }

    def _live(self, student: Student, chance: Random) -> None:
        """Do all that one student does; a student who is refused entry tries again."""
        wanted = behavior.preferences(self.sections, chance)
        acts = behavior.acts(chance)
        self._sleep(self.timeline.seconds_until(behavior.arrival(chance)))
        while not (self.ended.is_set() or student.csrf_token):
            self._try(chance, partial(student.log_in, self.password))
        while not (self.ended.is_set() or self._admitted(student)):
            self._try(chance, partial(self._enter, student, chance))
        for act in acts:
            self._sleep(self.timeline.seconds_until(act.at) + chance.uniform(*THINKING))
            if self.ended.is_set():
                return
            self._try(chance, partial(self._act, student, act, wanted, chance))

    def _sleep(self, seconds: float) -> None:
        self.ended.wait(seconds)

    def _try(self, chance: Random, step: Callable[[], None]) -> None:
        try:
            step()
        except Unanswered:
            self._sleep(chance.uniform(*RETRY))

    def _admitted(self, student: Student) -> bool:
        visit = self.visits.get(student.username)
        return visit is not None and visit.admitted > 0

    def _enter(self, student: Student, chance: Random) -> None:
        opening, asked = self.timeline.time_of(OPENING), time.monotonic()
        state = student.enter()
        visit = self.visits.setdefault(student.username, Visit(max(opening, asked)))
        if time.monotonic() < opening:
            self._sleep(self.timeline.seconds_until(OPENING) + chance.uniform(*AFTER_OPENING))
        elif state in ADMITTED:
            visit.admitted = time.monotonic()
            student.load_page()
        else:
            self._sleep(chance.uniform(*RETRY))

    def _act(self, student: Student, act: Act, wanted: list[int], chance: Random) -> None:
        if act.kind == "drop":
            if student.enrolled:
                self.outcomes[student.give_up(chance.choice(sorted(student.enrolled)))] += 1
            return
        while wanted and not self.ended.is_set():
            outcome = student.claim(wanted.pop(0), waits=act.waits)
            self.outcomes[outcome] += 1
            if outcome == "out":
                student.enter()
            elif outcome not in {"full", "refused"}:
                return
            self._sleep(chance.uniform(*THINKING))
