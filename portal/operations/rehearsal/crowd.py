"""The students of a rehearsal: each is a thread that arrives, waits for admission, and acts."""

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from random import Random
from threading import Event, Thread
from typing import Any

from portal.operations.rehearsal import behavior
from portal.operations.rehearsal.behavior import RUSH, Act
from portal.operations.rehearsal.student import Answer, Student, Unanswered

ADMITTED = {"free", "in"}
RETRY = (1.0, 3.0)  # seconds until a student who waits asks again, as the page does
AFTER_OPENING = (0.5, 4.0)  # seconds until the page of an early student asks
THINKING = (0.5, 3.0)  # seconds before each press of a button
LEAVING = 20.0  # seconds in which all get their last answer


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

    since: float = 0.0
    admitted: float = 0.0


@dataclass
class Crowd:
    """Students who act until the time is over or `ended` is set."""

    students: Sequence[Student]
    password: str
    sections: list[int]  # those in most demand first
    timeline: Timeline
    answers: list[Answer]
    visits: list[Visit] = field(default_factory=list)  # of those who have come
    ended: Event = field(default_factory=Event)
    threads: list[Thread] = field(default_factory=list)
    # Times, each with the processor seconds that this process has used until then.
    cpu_used: list[tuple[float, float]] = field(default_factory=list)

    def start(self) -> None:
        self.measure_cpu()
        for student in self.students:
            self.threads.append(Thread(target=self._live, args=(student,), daemon=True))
            self.threads[-1].start()

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
        return {
            "phase": behavior.phase_at(self.timeline.moment(time.monotonic())).name,
            "come": len(self.visits),
            "admitted": sum(each.admitted > 0 for each in self.visits),
            "answers": len(self.answers),
        }

    def _live(self, student: Student) -> None:
        """Act as one student; repeat requests that get no answer."""
        chance = Random(student.username)  # noqa: S311  no secret
        wanted, acts = behavior.preferences(self.sections, chance), behavior.acts(chance)
        self.ended.wait(self.timeline.seconds_until(behavior.arrival(chance)))
        visit = Visit()
        while not (self.ended.is_set() or visit.admitted):
            try:
                if not student.csrf_token:
                    student.log_in(self.password)
                self._enter(student, visit, chance)
            except Unanswered:
                self.ended.wait(chance.uniform(*RETRY))
        for act in acts:
            self.ended.wait(self.timeline.seconds_until(act.at) + chance.uniform(*THINKING))
            if self.ended.is_set():
                return
            try:
                self._act(student, act, wanted, chance)
            except Unanswered:
                self.ended.wait(chance.uniform(*RETRY))

    def _enter(self, student: Student, visit: Visit, chance: Random) -> None:
        """Ask for admission once, and wait until it is time to ask again."""
        opening, polled = self.timeline.time_of(RUSH.begin), time.monotonic()
        state = student.enter()
        if not visit.since:
            visit.since = max(opening, polled)
            self.visits.append(visit)
        if time.monotonic() < opening:
            self.ended.wait(opening - time.monotonic() + chance.uniform(*AFTER_OPENING))
        elif state in ADMITTED:
            visit.admitted = time.monotonic()
            student.load_page()
        else:
            self.ended.wait(chance.uniform(*RETRY))

    def _act(self, student: Student, act: Act, wanted: list[int], chance: Random) -> None:
        if act.kind == "drop":
            if student.enrolled:
                student.drop(chance.choice(sorted(student.enrolled)))
            return
        while wanted and not self.ended.is_set():
            outcome = student.claim(wanted.pop(0), waits=act.waits)
            if outcome == "out":
                student.enter()
            elif outcome not in {"full", "refused"}:
                return
            self.ended.wait(chance.uniform(*THINKING))
