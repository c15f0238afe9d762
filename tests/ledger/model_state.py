"""The state of a term in the model of the ledger, and the events it journals."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from portal.ledger.errors import KeyReused
from portal.ledger.types import (
    Change,
    Claim,
    Decision,
    HeldSeat,
    Outcome,
    Reason,
    Registrations,
    SeatCounts,
    SectionSpec,
    WaitlistPosition,
)


@dataclass
class Pool:
    """Seats that several sections share."""

    capacity: int
    version: int
    sections: dict[int, "Section"] = field(default_factory=dict)

    @property
    def taken(self) -> int:
        return sum(each.taken for each in self.sections.values())


@dataclass
class Section:
    """A section: its students, its waitlist (in order), and who was skipped and why."""

    spec: SectionSpec
    roster: dict[int, HeldSeat] = field(default_factory=dict)
    queue: dict[int, WaitlistPosition] = field(default_factory=dict)
    skipped: dict[int, tuple[Reason, ...]] = field(default_factory=dict)
    passes: dict[int, int] = field(default_factory=dict)  # skips that count by the term's rule
    needs: dict[int, Any] = field(default_factory=dict)  # corequisites of enrolled students
    seq: int = 0
    reserved: dict[int, int] = field(default_factory=dict)  # students by the reserve of their seat
    aside: set[int] = field(
        default_factory=set
    )  # waiting students who can't have the reserved seats
    at: int = 0  # time of the last count
    pool: Pool | None = field(default=None, compare=False, repr=False)

    @property
    def taken(self) -> int:
        return self.spec.prior + len(self.roster)

    @property
    def shared(self) -> tuple[int | None, int]:
        """Return the capacity of its pool and the seats taken of it."""
        return (self.pool.capacity, self.pool.taken) if self.pool else (None, 0)

    @property
    def seats(self) -> SeatCounts:
        spec, size = self.spec, len(self.queue)
        return SeatCounts(
            spec.section,
            spec.capacity,
            self.taken,
            size,
            spec.waitlist,
            spec.status,
            self.seq,
            len(self.skipped),
            self.reserved_left,
            *self.shared,
        )

    @property
    def actives(self) -> list[int]:
        return [student for student in self.queue if student not in self.skipped]

    def keeps(self, number: int) -> int:
        """Return the seats that its reserves still reserve."""
        found = [each for each in self.spec.reserves if each.id == number]
        held = list(self.reserved.values()).count(number)
        return sum(max(0, each.seats - held) for each in found if not 0 < each.until <= self.at)

    @property
    def reserved_left(self) -> int:
        return sum(self.keeps(each.id) for each in self.spec.reserves)

    @property
    def room(self) -> bool:
        """Return whether the section and its pool have a seat, reserved or not."""
        pooled = self.pool is None or self.pool.taken < self.pool.capacity
        return self.taken < self.spec.capacity and pooled

    def reserve_for(self, reserves: Sequence[int]) -> int:
        """Return the first of these reserves with a seat left; 0 = none."""
        mine = [each.id for each in self.spec.reserves if each.id in reserves]
        return next((each for each in mine if self.keeps(each)), 0)

    @property
    def heads(self) -> list[int]:
        """Return waiting students who may have one of the remaining seats."""
        if self.taken + self.reserved_left < self.spec.capacity:
            return self.actives
        return (
            [each for each in self.actives if each not in self.aside] if self.reserved_left else []
        )

    def wanted(self, left: int = 0) -> bool:
        """Return whether a waiting student could have a seat after so many drops, pool apart."""
        open_ = self.taken - left + self.reserved_left < self.spec.capacity
        stored = (
            self.taken < self.spec.capacity
            and self.reserved_left
            and set(self.actives) - self.aside
        )
        return self.spec.status == "OPEN" and bool((open_ and self.actives) or stored)

    @property
    def others(self) -> list["Section"]:
        """Return the sections that it shares seats with."""
        members = sorted(self.pool.sections.items()) if self.pool else []
        return [each for _, each in members if each is not self]

    @property
    def vacant(self) -> bool:
        return self.room and self.wanted()


@dataclass
class Window:
    name: str
    opens: int
    closes: int
    state: str = "scheduled"
    told: set[str] = field(default_factory=set)


@dataclass
class Book:
    """The state of a term.

    Journaled events are in `events` as (name, section or window, student, window of the decision
    or 0).
    """

    sections: dict[int, Section] = field(default_factory=dict)
    windows: dict[int, Window] = field(default_factory=dict)
    deadlines: dict[str, int] = field(default_factory=dict)
    deadlines_seen: int = 0  # the newest version
    passed: set[str] = field(default_factory=set)  # deadlines
    drops: dict[tuple[int, str], int] = field(default_factory=dict)
    requests: dict[tuple[int, str], tuple[Any, Any]] = field(default_factory=dict)
    events: list[tuple[str, int, int, int, list[str]]] = field(default_factory=list)
    # By the id() of a claim, the codes that a permission lifted when it was last tried.
    permitted: dict[int, list[str]] = field(default_factory=dict)
    during: int = 0  # the window of the current decision
    woken: set[str] = field(default_factory=set)
    wake: list[str] = field(default_factory=list)
    pools: dict[int, Pool] = field(default_factory=dict)
    shared: dict[int, tuple[int | None, int]] = field(default_factory=dict)  # as last published
    in_round: dict[int, int] = field(default_factory=dict)  # the round that holds a section back
    giving: int = 0  # the round that gives seats in this step

    # State

    def registrations(self, student: int) -> Registrations:
        held, waiting = [], []
        for _, each in sorted(self.sections.items()):
            if student in each.roster:
                held.append(each.roster[student])
            if student in each.queue:
                position = list(each.queue).index(student) + 1
                index = replace(each.queue[student], position=position, size=len(each.queue))
                waiting.append(replace(index, reasons=each.skipped.get(student, ())))
        return Registrations(tuple(held), tuple(waiting))

    def held(self, student: int) -> dict[int, int]:
        """Return the credits of the student's seats by section."""
        seats = {number: each.roster.get(student) for number, each in self.sections.items()}
        return {number: seat.credits for number, seat in sorted(seats.items()) if seat}

    def waits(self, student: int) -> set[int]:
        """Return the sections for which the student waits."""
        return {number for number, each in self.sections.items() if student in each.queue}

    def courses(self, sections: Iterable[int]) -> set[int]:
        known = [self.sections[each] for each in sections if each in self.sections]
        return {each.spec.course for each in known}

    @property
    def gives_seats(self) -> bool:
        """Return whether waitlists still get seats."""
        return "add_deadline" not in self.passed

    def vacant(self) -> set[int]:
        return {number for number in self.sections if self.promises(number)}

    def promises(self, section: int) -> bool:
        """Return whether a free seat of the section belongs to its waitlist."""
        free = self.sections[section].vacant and self.gives_seats
        return free and section not in self.in_round

    def round_of(self, section: int) -> int:
        """Return the round that keeps this step from taking the section's seats; 0 = none."""
        holder = self.in_round.get(section, 0)
        return holder if holder != self.giving else 0

    # Changes

    def call(self, worker: str) -> None:
        if worker not in self.woken:
            self.woken.add(worker)
            self.wake.append(worker)

    def journal(
        self, name: str, subject: int, student: int = 0, permitted: Sequence[str] = ()
    ) -> int:
        self.events.append((name, subject, student, self.during, list(permitted)))
        self.call("record")
        return len(self.events)

    def tell(self, name: str, section: int, student: int = 0, permitted: Sequence[str] = ()) -> int:
        """Journal an event, with the changed counts of sections that share seats."""
        each, known = self.sections[section], self.shared
        self.shared = {number: found.shared for number, found in self.sections.items()}
        each.seq = self.journal(name, section, student, permitted)
        for number, found in self.sections.items():
            if found.pool and known.get(number) != found.shared:
                found.seq = each.seq
                self.look_at(number)
        self.look_at(section)
        return each.seq

    def look_at(self, section: int) -> None:
        if self.promises(section):
            self.call("promote")

    def enroll(self, name: str, part: Claim, student: int, at: int) -> Decision:
        each, seq = self.sections[part.section], len(self.events) + 1
        each.at = at
        if reserve := each.reserve_for(part.reserves):
            each.reserved[student] = reserve
        each.roster[student] = HeldSeat(part.section, part.credits, seq, at)
        if part.corequisites:
            each.needs[student] = part.corequisites
        self.tell(name, part.section, student, self.permitted[id(part)])
        answer = self.answer(Outcome.ENROLLED, part.section, at, seq=seq, registration=seq)
        self.reprieve(student)
        return answer

    def release(self, section: int, student: int, at: int) -> Decision:
        each = self.sections[section]
        registration = each.roster.pop(student).registration
        each.needs.pop(student, None)
        each.reserved.pop(student, None)
        each.skipped.clear()
        each.aside.clear()
        seq = self.tell("dropped", section, student)
        answer = self.answer(Outcome.DROPPED, section, at, seq=seq, registration=registration)
        self.reprieve_pool(each)
        self.reprieve(student)
        return answer

    def claimable(self, part: Claim, gone: int = 0, more: int = 0) -> bool:
        """Return whether a student on no waitlist could have a seat, perhaps by a swap."""
        each = self.sections[part.section]
        for_round = bool(self.giving) and self.in_round.get(part.section) == self.giving
        before, stored = set() if for_round else set(each.actives), each.reserved_left
        if each.reserve_for(part.reserves):
            before, stored = before - each.aside, 0
        if before or each.taken + stored >= each.spec.capacity:
            return False
        if not each.pool:
            return True
        for other in each.others:
            if not for_round and other.wanted(left=int(other.spec.section == gone)):
                return False
        back = gone in {other.spec.section for other in each.others}
        return each.pool.taken - back + more < each.pool.capacity

    def comes_first(self, section: int, student: int) -> bool:
        """Return whether the student has waited longest of those who could have the seat."""
        each = self.sections[section]
        heads = [other.queue[other.heads[0]].place for other in each.others if other.vacant]
        return all(each.queue[student].place < place for place in heads)

    def reprieve_pool(self, section: Section) -> None:
        for other in section.others:
            self.reconsider(other.spec.section)

    def unqueue(self, section: int, student: int) -> None:
        each = self.sections[section]
        del each.queue[student]
        each.skipped.pop(student, None)
        each.passes.pop(student, None)
        each.aside.discard(student)

    def reprieve(self, student: int) -> None:
        for number, each in sorted(self.sections.items()):
            if each.skipped.pop(student, None):
                self.tell("reconsidered", number, student)

    def answer(self, outcome: Outcome, section: int, at: int, **fields: Any) -> Decision:
        seats = self.sections[section].seats if section in self.sections else None
        return Decision(outcome, at, section=section, seats=seats, **fields)

    def refuse(self, section: int, student: int, at: int, reasons: Sequence[Reason]) -> Decision:
        seq = self.journal("refused", section, student)
        return refused(section, at, reasons, seq)

    def called(self) -> tuple[str, ...]:
        """Return the workers that the decision enqueued."""
        wake, self.wake = tuple(self.wake), []
        return wake

    def once(self, student: int, request: str | None, content: Any) -> Any:
        """Return the answer stored under this key, None without one; raise KeyReused."""
        stored = self.requests.get((student, request or ""))
        if stored and stored[0] != content:
            raise KeyReused
        if stored and isinstance(stored[1], tuple):
            return tuple(replace(each, replayed=True) for each in stored[1])
        return replace(stored[1], replayed=True) if stored else None

    def keep(self, student: int, request: str | None, content: Any, answer: Any) -> None:
        if request:
            self.requests[student, request] = content, answer

    def reconsider(self, section: int) -> int:
        each = self.sections.get(section)
        if not each or not each.skipped:
            return 0
        each.skipped.clear()
        return self.tell("reconsidered", section)

    def change(self, seq: int, at: int) -> Change:
        return Change(at, seq, self.called())


def refused(section: int, at: int, reasons: Sequence[Reason], seq: int = 0) -> Decision:
    """Return a refusal, which has no counts."""
    return Decision(Outcome.REFUSED, at, section=section, seq=seq, reasons=tuple(reasons))
