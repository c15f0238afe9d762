"""The book that the model of the ledger keeps of a term: what is in it, and what it journals."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from portal.seats.ledger import (
    Answer,
    Change,
    Held,
    KeyReused,
    Outcome,
    Part,
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
    needs: dict[int, Any] = field(default_factory=dict)  # corequisites of those who are in it
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
    requests: dict[tuple[int, str], tuple[Any, Any]] = field(default_factory=dict)
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

    def held(self, student: int) -> dict[int, int]:
        """Credits by section."""
        seats = {number: each.roster.get(student) for number, each in self.sections.items()}
        return {number: seat.credits for number, seat in sorted(seats.items()) if seat}

    def courses(self, sections: Iterable[int]) -> set[int]:
        known = [self.sections[each] for each in sections if each in self.sections]
        return {each.spec.course for each in known}

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

    def enroll(self, name: str, part: Part, student: int, at: int) -> Answer:
        each, seq = self.sections[part.section], len(self.events) + 1
        each.roster[student] = Held(part.section, part.credits, seq, at)
        if part.corequisites:
            each.needs[student] = part.corequisites
        self.tell(name, part.section, student)
        said = self.answer(Outcome.ENROLLED, part.section, at, seq=seq, registration=seq)
        self.reprieve(student)
        return said

    def release(self, section: int, student: int, at: int) -> Answer:
        each = self.sections[section]
        registration = each.roster.pop(student).registration
        each.needs.pop(student, None)
        each.passed.clear()
        seq = self.tell("dropped", section, student)
        said = self.answer(Outcome.DROPPED, section, at, seq=seq, registration=registration)
        self.reprieve(student)
        return said

    def reprieve(self, student: int) -> None:
        for number, each in sorted(self.sections.items()):
            if each.passed.pop(student, None):
                self.tell("reconsidered", number, student)

    def answer(self, outcome: Outcome, section: int, at: int, **fields: Any) -> Answer:
        seats = self.sections[section].seats if section in self.sections else None
        return Answer(outcome, at, section=section, seats=seats, **fields)

    def refuse(self, section: int, student: int, at: int, reasons: Sequence[Reason]) -> Answer:
        seq = self.journal("refused", section, student)
        return self.answer(Outcome.REFUSED, section, at, seq=seq, reasons=tuple(reasons))

    def called(self) -> tuple[str, ...]:
        """The workers that the decision called."""
        wake, self.wake = tuple(self.wake), []
        return wake

    def once(self, student: int, request: str | None, content: Any) -> Any:
        """What was answered under this key, None where nothing was; raises KeyReused."""
        stored = self.requests.get((student, request or ""))
        if stored and stored[0] != content:
            raise KeyReused
        return replace(stored[1], replayed=True) if stored else None

    def keep(
        self, student: int, request: str | None, content: Any, said: Any, *, changed: bool
    ) -> Any:
        if request and changed:
            self.requests[student, request] = content, said
        return said

    def reconsider(self, section: int) -> int:
        each = self.sections.get(section)
        if not each or not each.passed:
            return 0
        each.passed.clear()
        return self.tell("reconsidered", section)

    def change(self, seq: int, at: int) -> Change:
        return Change(at, seq, self.called())
