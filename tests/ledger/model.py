"""The ledger once more, in plain Python: what it must say, told the time at which it says it."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from portal.seats.ledger import (
    Answer,
    Candidate,
    Change,
    Held,
    KeyReused,
    Outcome,
    Promotion,
    Reason,
    Seats,
    SectionSpec,
    Standing,
    Waiting,
    WindowRefused,
)
from tests.ledger.courses import fulfilled, minutes, missing


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
class Model:
    """One term. What the ledger journals is in `events` as (name, section or window, student)."""

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

    # Why not

    def window(self, windows: Sequence[int], at: int) -> list[Reason]:
        known = [self.windows[each] for each in windows if each in self.windows]
        known = [each for each in known if each.state != "canceled"]
        if any(each.state == "scheduled" and each.opens <= at < each.closes for each in known):
            return []
        coming = [each.opens for each in known if at < each.opens]
        if coming:
            return [Reason("window_before", {"opens": min(coming)})]
        if known:
            return [Reason("window_ended", {"closes": max(each.closes for each in known)})]
        return [Reason("window_unscheduled")]

    def objections(self, section: int, wanted: int, who: Candidate, at: int) -> list[Reason]:
        reasons = self.window(who.windows, at)
        if section not in self.sections:
            return [*reasons, Reason("section_unknown"), *who.rules]
        spec = self.sections[section].spec
        mine = {
            held.section: self.sections[held.section].spec
            for held in self.standing(who.student).enrolled
        }
        courses = {each.course for each in mine.values()}
        if spec.status != "OPEN":
            reasons.append(Reason(f"section_{spec.status.lower()}"))
        reasons += [
            Reason("same_course", {"section": number})
            for number, other in mine.items()
            if other.course == spec.course
        ]
        reasons += [
            Reason("time_conflict", {"section": number})
            for number, other in mine.items()
            if minutes(spec.times) & minutes(other.times)
        ]
        if not spec.credits_min <= wanted <= spec.credits_max:
            reasons.append(
                Reason("credit_range", {"min": spec.credits_min, "max": spec.credits_max})
            )
        held_credits = sum(held.credits for held in self.standing(who.student).enrolled)
        if held_credits + wanted > who.limit:
            sum_ = {"held": held_credits, "adds": wanted, "limit": who.limit}
            reasons.append(Reason("credit_limit", sum_))
        if who.corequisites and not fulfilled(who.corequisites, courses):
            reasons.append(Reason("corequisite", {"missing": missing(who.corequisites, courses)}))
        return [*reasons, *who.rules]

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

    # Selections

    def claim(self, section: int, who: Candidate, wanted: int, at: int, *, wait: bool) -> Answer:
        standing = self.standing(who.student)
        for place in standing.waiting:
            if place.section == section:
                if self.sections[section].passed.pop(who.student, None):
                    self.tell("reconsidered", section, who.student)
                position = {"position": place.position}
                return self.refuse(section, at, [Reason("already_waiting", position)])
        if any(held.section == section for held in standing.enrolled):
            return self.refuse(section, at, [Reason("already_enrolled")])
        reasons = self.objections(section, wanted, who, at)
        each = self.sections.get(section)
        seat = each and each.free and not each.actives
        if each and not seat:
            size = {"waiting": len(each.queue), "waitlist_capacity": each.spec.waitlist}
            if not wait:
                reasons.append(Reason("full", size))
            elif len(each.queue) >= each.spec.waitlist:
                reasons.append(Reason("waitlist_full", size))
        if reasons or not each:
            return self.refuse(section, at, reasons)
        if seat:
            seq = self.enroll("enrolled", section, who.student, wanted, at)
            return self.answer(Outcome.ENROLLED, section, at, seq=seq, registration=seq)
        ticket = len(self.events) + 1
        each.queue[who.student] = Waiting(section, wanted, ticket, at, 0, 0)
        self.tell("waitlisted", section, who.student)
        position = len(each.queue)
        return self.answer(Outcome.WAITLISTED, section, at, seq=ticket, position=position)

    def drop(
        self, section: int, who: Candidate, days: list[tuple[int, str]], limit: int, at: int
    ) -> Answer:
        held = {each.section: each for each in self.standing(who.student).enrolled}
        day = max(index for index, (start, _) in enumerate(days) if start <= at)
        used = self.drops.get((who.student, days[day][1]), 0)
        reasons = self.window(who.windows, at)
        if section not in held:
            reasons.append(Reason("not_enrolled"))
        if used >= limit:
            reasons.append(Reason("drop_limit", {"limit": limit, "resets": days[day + 1][0]}))
        if reasons:
            return self.refuse(section, at, reasons)
        self.drops[who.student, days[day][1]] = used + 1
        del self.sections[section].roster[who.student]
        self.sections[section].passed.clear()
        seq = self.tell("dropped", section, who.student)
        self.reprieve(who.student)
        registration = held[section].registration
        return self.answer(Outcome.DROPPED, section, at, seq=seq, registration=registration)

    def leave(self, section: int, student: int, at: int) -> Answer:
        each = self.sections.get(section)
        if not each or student not in each.queue:
            return self.refuse(section, at, [Reason("not_waiting")])
        del each.queue[student]
        each.passed.pop(student, None)
        seq = self.tell("left", section, student)
        return self.answer(Outcome.LEFT, section, at, seq=seq)

    # Waitlists

    def promote(self, section: int, candidates: Sequence[Candidate], at: int) -> Promotion:
        each, asked = self.sections.get(section), {who.student: who for who in candidates}
        promoted, passed = [], []
        while each and each.vacant and each.actives[0] in asked:
            student = each.actives[0]
            wanted = each.queue[student].credits
            reasons = self.objections(section, wanted, asked[student], at)
            if reasons:
                each.passed[student] = tuple(reasons)
                self.tell("passed_over", section, student)
                passed.append(student)
            else:
                del each.queue[student]
                self.enroll("promoted", section, student, wanted, at)
                promoted.append(student)
        if each:
            self.look_at(section)
        more = bool(each and each.vacant)
        wake, self.wake = tuple(self.wake), []
        return Promotion(tuple(promoted), tuple(passed), more, wake)

    def reconsider(self, section: int) -> int:
        each = self.sections.get(section)
        if not each or not each.passed:
            return 0
        each.passed.clear()
        return self.tell("reconsidered", section)

    # Sections and windows

    def put_section(self, spec: SectionSpec) -> int:
        each = self.sections.setdefault(spec.section, Section(replace(spec, version=-1)))
        if spec.version <= each.spec.version:
            return 0
        each.spec = spec
        each.passed.clear()
        return self.tell("section_set", spec.section)

    def put_window(self, number: int, name: str, opens: int, closes: int, at: int) -> int:
        known = self.windows.get(number)
        if known:
            if (known.name, known.opens, known.closes) == (name, opens, closes):
                return 0
            raise WindowRefused("exists")
        check_times(opens, closes, at)
        self.windows[number] = Window(name, opens, closes)
        return self.journal("window_set", number)

    def change_window(self, op: str, number: int, times: Sequence[int], at: int) -> int:
        window = self.windows.get(number)
        if not window:
            raise WindowRefused("unknown")
        if window.state == "canceled":
            raise WindowRefused("canceled")
        if window.state == "closed" or at >= window.closes:
            raise WindowRefused("already_ended")
        started = at >= window.opens
        if op in ("move_window", "cancel_window") and started:
            raise WindowRefused("already_open")
        if op in ("extend_window", "close_window") and not started:
            raise WindowRefused("not_open")
        if op == "move_window":
            check_times(times[0], times[1], at)
            window.opens, window.closes = times
        elif op == "extend_window":
            if times[0] <= window.closes:
                raise WindowRefused("times_crossed")
            window.closes = times[0]
        elif op == "close_window":
            window.state, window.closes = "closed", at
        else:
            window.state = "canceled"
        return self.journal("window_set", number)

    def turn(self, at: int) -> list[tuple[int, str]]:
        turned = []
        for number, window in sorted(self.windows.items()):
            for moment, name in ((window.opens, "opened"), (window.closes, "closed")):
                if window.state == "canceled" or at < moment or name in window.told:
                    continue
                window.told.add(name)
                turned.append((number, name))
                self.journal(f"window_{name}", number)
                for section in sorted(self.sections) if name == "opened" else ():
                    self.reconsider(section)
        return turned

    def change(self, seq: int, at: int) -> Change:
        wake, self.wake = tuple(self.wake), []
        return Change(at, seq, wake)


def check_times(opens: int, closes: int, at: int) -> None:
    if opens >= closes:
        raise WindowRefused("times_crossed")
    if closes <= at:
        raise WindowRefused("in_the_past")
