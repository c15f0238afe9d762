"""All students of a rehearsal, each a thread that comes, waits for its turn, and does its acts."""

import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import takewhile
from random import Random
from threading import Event, Thread
from typing import Any

from portal.rehearsal import curves
from portal.rehearsal.curves import Act
from portal.rehearsal.student import Answer, Student, Unanswered

INSIDE = {"free", "in"}
AGAIN = (1.0, 3.0)  # seconds until whoever waits asks again, as their page does
AT_OPENING = (0.5, 4.0)  # seconds after it until the page of whoever came early asks
THINKS = (0.5, 3.0)  # seconds before each press
LEAVING = 20.0  # seconds in which all have the answer to what they asked last
RECENT = 5.0  # seconds of which a standing tells


@dataclass(frozen=True)
class Time:
    """A rehearsal's time: begun on the clock of time.monotonic, so many seconds long."""

    begun: float
    lasts: float

    def now(self) -> float:
        """The moment, 0 to 1."""
        return self.of(time.monotonic())

    def of(self, at: float) -> float:
        """The moment of another one's clock."""
        return min(1.0, max(0.0, (at - self.begun) / self.lasts))

    def until(self, moment: float) -> float:
        """Seconds until a moment; none if it is past."""
        return max(0.0, self.begun + moment * self.lasts - time.monotonic())


@dataclass
class Turn:
    """When a student could first be let in, and when they were (on the clock of the crowd)."""

    since: float
    entered: float = 0.0


@dataclass
class Crowd:
    """Students that act until the time is over or they are told to end."""

    students: Sequence[Student]
    password: str
    sections: Sequence[int]  # the most wanted first
    time: Time
    answers: list[Answer]
    turns: dict[str, Turn] = field(default_factory=dict)
    outcomes: Counter[str] = field(default_factory=Counter)
    ended: Event = field(default_factory=Event)
    threads: list[Thread] = field(default_factory=list)
    work: list[tuple[float, float]] = field(default_factory=list)  # as report.Seen has it

    def begin(self) -> None:
        """Let them come."""
        self.threads = [
            Thread(target=self._be, args=(each, Random(each.username)), daemon=True)  # noqa: S311
            for each in self.students
        ]
        self.measure()
        for thread in self.threads:
            thread.start()

    def end(self) -> None:
        """Let everyone have their last answer, and go."""
        self.ended.set()
        until = time.monotonic() + LEAVING
        for thread in self.threads:
            thread.join(max(0.0, until - time.monotonic()))
        self.measure()

    def measure(self) -> None:
        """Note how much processor time this process has taken until now."""
        self.work.append((time.monotonic(), time.process_time()))

    def standing(self) -> dict[str, Any]:
        """How it stands now, for whoever watches."""
        turns = list(self.turns.values())
        inside = sum(1 for each in turns if each.entered)
        since = time.monotonic() - RECENT
        recent = sum(1 for _ in takewhile(lambda each: each.heard > since, reversed(self.answers)))
        return {
            "phase": curves.phase_at(self.time.now()).name,
            "done": round(self.time.now(), 3),
            "come": len(turns),
            "inside": inside,
            "seats": self.outcomes["seat"],
            "places": self.outcomes["place"],
            "gone": self.outcomes["gone"],
            "per_second": round(recent / RECENT, 1),
        }

    def _be(self, student: Student, chance: Random) -> None:
        """One life; who is turned away tries again."""
        wanted = _wishes(self.sections, chance)
        acts = curves.acts(chance)
        self.ended.wait(self.time.until(curves.arrival(chance)))
        while not (self.ended.is_set() or student.token):
            self._try(chance, partial(student.log_in, self.password))
        while not self.ended.is_set() and not self._inside(student):
            self._try(chance, partial(self._come, student, chance))
        for act in acts:
            self.ended.wait(self.time.until(act.at))
            self.ended.wait(chance.uniform(*THINKS))
            if self.ended.is_set():
                return
            self._try(chance, partial(self._do, student, act, wanted, chance))

    def _try(self, chance: Random, deed: Callable[[], None]) -> None:
        try:
            deed()
        except Unanswered:
            self.ended.wait(chance.uniform(*AGAIN))

    def _inside(self, student: Student) -> bool:
        turn = self.turns.get(student.username)
        return turn is not None and turn.entered > 0

    def _come(self, student: Student, chance: Random) -> None:
        """To the room once, and in or on to the next time."""
        opens = self.time.begun + curves.OPENS * self.time.lasts
        asked = time.monotonic()
        stands = student.come()
        turn = self.turns.setdefault(student.username, Turn(max(opens, asked)))
        if time.monotonic() < opens:
            self.ended.wait(self.time.until(curves.OPENS) + chance.uniform(*AT_OPENING))
        elif stands in INSIDE:
            turn.entered = time.monotonic()
            student.look()
        else:
            self.ended.wait(chance.uniform(*AGAIN))

    def _do(self, student: Student, act: Act, wanted: list[int], chance: Random) -> None:
        if act.kind == "drop":
            if student.mine:
                self.outcomes[student.give_up(chance.choice(sorted(student.mine)))] += 1
            return
        while wanted and not self.ended.is_set():
            outcome = student.take(wanted.pop(), waits=act.waits)
            self.outcomes[outcome] += 1
            if outcome == "out":
                student.come()
            elif outcome not in {"full", "refused"}:
                return
            self.ended.wait(chance.uniform(*THINKS))


def _wishes(sections: Sequence[int], chance: Random) -> list[int]:
    """Sections in the order in which one would have them, the last first; more want the first."""
    tenth = len(sections) / len(curves.DEMAND)
    demand = sorted(curves.DEMAND, reverse=True)
    weights = [demand[int(place / tenth)] for place in range(len(sections))]
    order = sorted(range(len(sections)), key=lambda at: chance.random() ** (1 / weights[at]))
    return [sections[at] for at in order]
