"""The book that the model of the ledger keeps of a term: what is in it, and what it journals."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from portal.seats.ledger import (
    Answer,
    Change,
    Held,
    KeyReused,
    Outcome,
    Reason,
    Seats,
    SectionSpec,
    Standing,
    Waiting,
)


@dataclass
class Section:
    """A section with who is in it, who waits (in order), and who was passed over and why."""

    spec: SectionSpec
    roster: dict[int, Held] = field(default_factory=dict)
    queue: dict[int, Waiting] = field(default_factory=dict)
    passed: dict[int, tuple[Reason, ...]] = field(default_factory=dict)
    seq: int = 0

    @property
    def seats(self) -> Seats:
        spec, taken = self.spec, self.spec.prior + len(self.roster)
        size = len(self.queue)
        return Seats(
            spec.section,
            spec.capacity,
            taken,
            size,
            spec.waitlist,
            spec.status,
            self.seq,
            passed=len(self.passed),
        )

    @property
    def actives(self) -> list[int]:
        return [student for student in self.queue if student not in self.passed]

    @property
    def free(self) -> bool:
        return self.seats.taken < self.spec.capacity

    @property
    def vacant(self) -> bool:
        return self.spec.status == "OPEN" and self.free and bool(self.actives)


@dataclass
class Window:
    name: str
    opens: int
    closes: int
    state: str = "scheduled"
    told: set[str] = field(default_factory=set)


@dataclass
class Book:
    """What a term holds.

    What the ledger journals is in `events` as (name, section or window, student).
    """

    sections: dict[int, Section] = field(default_factory=dict)
    windows: dict[int, Window] = field(default_factory=dict)
    drops: dict[tuple[int, str], int] = field(default_factory=dict)
    requests: dict[tuple[int, str], tuple[Any, Answer]] = field(default_factory=dict)
    events: list[tuple[str, int, int]] = field(default_factory=list)
    woken: set[str] = field(default_factory=set)
    wake: list[str] = field(default_factory=list)

    # What is

    def standing(self, student: int) -> Standing:
        held, waiting = [], []
        for _, each in sorted(self.sections.items()):
            if student in each.roster:
                held.append(each.roster[student])
            if student in each.queue:
                position = list(each.queue).index(student) + 1
                place = replace(each.queue[student], position=position, size=len(each.queue))
                waiting.append(replace(place, reasons=each.passed.get(student, ())))
        return Standing(tuple(held), tuple(waiting))

    def vacant(self) -> set[int]:
        return {number for number, each in self.sections.items() if each.vacant}

    # What happens

    def call(self, worker: str) -> None:
        if worker not in self.woken:
            self.woken.add(worker)
            self.wake.append(worker)

    def journal(self, name: str, subject: int, student: int = 0) -> int:
        self.events.append((name, subject, student))
        self.call("record")
        return len(self.events)

    def tell(self, name: str, section: int, student: int = 0) -> int:
        each = self.sections[section]
        each.seq = self.journal(name, section, student)
        self.look_at(section)
        return each.seq

    def look_at(self, section: int) -> None:
        if self.sections[section].vacant:
            self.call("promote")

    def enroll(self, name: str, section: int, student: int, wanted: int, at: int) -> int:
        seq = len(self.events) + 1
        self.sections[section].roster[student] = Held(section, wanted, seq, at)
        self.tell(name, section, student)
        self.reprieve(student)
        return seq

    def reprieve(self, student: int) -> None:
        for number, each in sorted(self.sections.items()):
            if each.passed.pop(student, None):
                self.tell("reconsidered", number, student)

    def answer(self, outcome: Outcome, section: int, at: int, **fields: Any) -> Answer:
        seats = self.sections[section].seats if section in self.sections else None
        wake, self.wake = tuple(self.wake), []
        return Answer(outcome, at, seats=seats, wake=wake, **fields)

    def refuse(self, section: int, at: int, reasons: Sequence[Reason]) -> Answer:
        return self.answer(Outcome.REFUSED, section, at, reasons=tuple(reasons))

    def once(self, student: int, request: str | None, content: Any) -> Answer | None:
        """What was answered under this key; raises KeyReused."""
        stored = self.requests.get((student, request or ""))
        if stored and stored[0] != content:
            raise KeyReused
        return replace(stored[1], replayed=True) if stored else None

    def keep(self, student: int, request: str | None, content: Any, answer: Answer) -> Answer:
        if request and answer.outcome != Outcome.REFUSED:
            self.requests[student, request] = content, answer
        return answer

    def reconsider(self, section: int) -> int:
        each = self.sections.get(section)
        if not each or not each.passed:
            return 0
        each.passed.clear()
        return self.tell("reconsidered", section)

    def change(self, seq: int, at: int) -> Change:
        wake, self.wake = tuple(self.wake), []
        return Change(at, seq, wake)
