"""A model of the waiting room in plain Python, with any clock: the functions must agree with it.

Each call gets the time (ms). A student's reply is (kind, request, number, ahead, ends).
"""

from bisect import bisect_left, insort
from dataclasses import dataclass, field

from portal.waiting_room.room import RULES, RoomState

PATIENCE, SILENCE, CHANCE = RULES["PATIENCE"], RULES["SILENCE"], RULES["CHANCE"]
TAKE, BURST, LONGEST = RULES["TAKE"], RULES["BURST"], RULES["LONGEST"]
START = RULES["START"]
MOST, SLOT, SLOTS = RULES["MOST"], RULES["SLOT"], RULES["SLOTS"]

Told = tuple[str, str, int, int, int]
NOWHERE: Told = ("none", "", 0, 0, 0)


@dataclass(order=True)
class Held:
    """A place in the queue."""

    score: float
    request: str
    student: int = field(compare=False)
    seen: int | None = field(compare=False)  # None: the student has left
    chance: int | None = field(
        compare=False, default=None
    )  # when the last chance to come back ends
    shown_range: tuple[int, int, int] | None = field(compare=False, default=None)


@dataclass
class Model:
    """One room."""

    opens: int
    closes: int
    per_minute: int
    at_once: int
    off: bool = False
    line: list[Held] = field(default_factory=list)
    back: list[Held] = field(default_factory=list)
    mine: dict[int, Held] = field(default_factory=dict)
    left: dict[int, Held] = field(default_factory=dict)
    inside: dict[int, int] = field(default_factory=dict)  # end of each visit
    came: dict[int, int] = field(default_factory=dict)
    pace: dict[int, int] = field(default_factory=dict)
    called: int = 0
    late: int = 0
    allowance: float = 0.0
    allowed_at: int | None = None
    heard: int = 0
    patient: int = 0
    right: int = 0
    wrong: int = 0
    calls: list[tuple[int, int]] = field(default_factory=list)  # time and student of each admission

    def phase(self, at: int) -> str:
        if at >= self.closes:
            return "ended"
        return "open" if at >= self.opens else "before"

    def waiting(self) -> int:
        return self.remaining() - sum(map(self.has_left, self.line[self.called :]))

    def remaining(self) -> int:
        """Return how many entries are not admitted yet, with those of students who left."""
        return len(self.line) - self.called + len(self.back)

    def has_left(self, held: Held) -> bool:
        return self.left.get(held.student) is held

    def visit(self, at: int, student: int) -> int | None:
        """Return when the visit of a student ends."""
        return ends if (ends := self.inside.get(student, 0)) > at else None

    # Calls of the portal

    def enter(self, at: int, student: int, request: str, fraction: float) -> Told:
        if self.phase(at) == "ended":
            return NOWHERE
        if student in self.left:
            self.mine.setdefault(student, self.left[student])
            del self.left[student]
        self.touch(at, student)
        if self.place(at, student)[0] in {"none", "gone"}:
            self.join(at, student, request, fraction)
        self.step(at)
        return self.report(at, student)

    def look(self, at: int, student: int) -> Told:
        self.touch(at, student)
        self.step(at)
        return self.report(at, student)

    def touch_all(self, at: int, students: list[int]) -> list[int]:
        """Record signs of life; return students who no longer wait."""
        self.hear(at)
        others = []
        for student in students:
            held = self.mine.get(student)
            if held and held.chance is None and not self.visit(at, student):
                held.seen = at
            else:
                others.append(student)
        return others

    def stay(self, at: int, student: int, length: int) -> int | None:
        inside, ends = self.visit(at, student), at + length
        if self.phase(at) != "open" or not inside:
            return None
        held = self.mine[student]
        if held.chance is not None:
            held.chance, self.came[student] = None, at
        elif self.waiting():
            ends = max(inside, min(ends, self.came.get(student, 0) + LONGEST))
        self.inside[student] = ends
        return ends

    def leave(self, at: int, student: int) -> None:
        held = self.mine.pop(student, None)
        if not held:
            return
        if not self.visit(at, student):
            self.left[student] = held
        self.inside.pop(student, None)
        held.seen = None
        if held in self.back:
            self.back.remove(held)
        self.step(at)

    def limit(self, at: int, per_minute: int, at_once: int, *, off: bool) -> None:
        if not self.per_minute:
            self.allowed_at = None
        self.per_minute, self.at_once, self.off = per_minute, at_once, off
        self.step(at)

    # Steps

    def hear(self, at: int) -> None:
        if self.heard and at - self.heard > SILENCE:
            self.patient = at + PATIENCE
        self.heard = at

    def touch(self, at: int, student: int) -> None:
        self.hear(at)
        held = self.mine.get(student)
        if held:
            held.seen = at
        if not held or self.visit(at, student) or held.chance is None:
            return
        chance, held.chance = held.chance, None
        if chance > at and held not in self.back:
            insort(self.back, held)

    def join(self, at: int, student: int, request: str, fraction: float) -> None:
        score = fraction
        if self.phase(at) == "open" or self.called + self.late:
            self.late += 1
            score = self.late
        self.mine[student] = Held(score, request, student, at)
        insort(self.line, self.mine[student])

    def step(self, at: int) -> list[int]:
        """Admit students, and return them."""
        if self.phase(at) != "open" or not self.remaining() or at - self.heard > SILENCE:
            return []
        called: list[int] = []
        before, looked, allowed = self.called, 0, self.allow(at)
        while len(called) < allowed and looked < MOST and self.remaining():
            looked += 1
            if (held := self.next(at)) is not None:
                called.append(held.student)
                self.calls.append((at, held.student))
                self.inside[held.student] = at + TAKE
                self.compare(at, held)
        if not self.off:
            self.allowance, self.allowed_at = self.allowance - len(called), at
        self.note(at, self.called - before)
        return called

    def allow(self, at: int) -> int:
        if self.off:
            return MOST
        most = max(1, self.per_minute * BURST / 60_000) if self.per_minute else 0
        since = self.opens - START if self.allowed_at is None else self.allowed_at
        gained = max(0, at - since) * self.per_minute / 60_000
        self.allowance = min(most, max(0, self.allowance) + gained)
        self.inside = {each: ends for each, ends in self.inside.items() if ends > at}
        return int(min(self.allowance, self.at_once - len(self.inside)) // 1)

    def next(self, at: int) -> Held | None:
        """Return the next student, None if they are skipped."""
        if self.back:
            held = self.back.pop(0)
        else:
            held = self.line[self.called]
            self.called += 1
        if self.mine.get(held.student) is not held:
            return None
        held.chance = at + CHANCE
        if held.seen is not None and (held.seen + PATIENCE > at or self.patient > at):
            return held
        held.shown_range = None
        return None

    def compare(self, at: int, held: Held) -> None:
        if not held.shown_range:
            return
        since, least, most = held.shown_range
        held.shown_range = None
        right = least <= at - since <= most
        self.right, self.wrong = self.right + right, self.wrong + (not right)

    def note(self, at: int, count: int) -> None:
        slot = at // SLOT
        if count:
            self.pace[slot] = self.pace.get(slot, 0) + count
            self.pace = {each: n for each, n in self.pace.items() if each > slot - SLOTS}

    # Replies

    def place(self, at: int, student: int) -> Told:
        held = self.mine.get(student)
        if not held:
            return NOWHERE
        if self.phase(at) == "before":
            return ("early", held.request, 0, 0, 0)
        number = bisect_left(self.line, held) + 1
        if ends := self.visit(at, student):
            return ("called", held.request, number, 0, ends)
        if held in self.back:
            return ("waiting", held.request, number, self.back.index(held), 0)
        if number > self.called:
            before = self.line[self.called : number - 1]
            ahead = len(before) + len(self.back) - sum(map(self.has_left, before))
            return ("waiting", held.request, number, ahead, 0)
        return ("gone", held.request, number, 0, 0)

    def report(self, at: int, student: int) -> Told:
        result = self.place(at, student)
        if result[0] == "gone":
            del self.mine[student]
        return result

    def state(self, at: int) -> RoomState:
        """Return the state of the room."""
        return RoomState(
            at=at,
            opens=self.opens,
            phase=self.phase(at),
            per_minute=self.per_minute,
            at_once=self.at_once,
            off=self.off,
            line=len(self.line),
            called=self.called,
            waiting=self.waiting(),
            inside=sum(ends > at for ends in self.inside.values()),
            pace=tuple(sorted((slot * SLOT, count) for slot, count in self.pace.items())),
            right=self.right,
            wrong=self.wrong,
        )
