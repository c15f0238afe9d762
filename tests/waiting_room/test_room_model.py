"""For any calls in any order, a waiting room agrees with the model."""

from dataclasses import replace
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as some
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    rule,
    run_state_machine_as_test,
)

from portal.backend import Backend
from portal.waiting_room import room
from portal.waiting_room.access_tokens import LIFETIME
from portal.waiting_room.room import QueueEntry, WindowEnded
from portal.windows import draw_seeds
from tests import cast as builders
from tests.waiting_room.model import Model, Told
from tests.waiting_room.rooms import stored_window

STUDENTS = range(1, 9)
students = picks = some.sampled_from(STUDENTS)
# Shorter and longer than every time limit of the room.
moments = some.sampled_from([0, 900, 9_000, 31_000, 61_000, 241_000, 301_000, 1_801_000])

# Lets time pass for a room: moves all its times into the past.
EARLIER = """
local base, ms = KEYS[1] .. ":room:" .. ARGV[1], tonumber(ARGV[2])
for _, kind in ipairs({ "seen", "in", "away" }) do
  local flat = redis.call("ZRANGE", base .. ":" .. kind, 0, -1, "WITHSCORES")
  for i = 1, #flat, 2 do redis.call("ZADD", base .. ":" .. kind, flat[i + 1] - ms, flat[i]) end
end
for _, field in ipairs({ "allowed_at", "heard", "patient" }) do
  if redis.call("HEXISTS", base, field) == 1 then redis.call("HINCRBY", base, field, -ms) end
end
for _, student in ipairs(redis.call("HKEYS", base .. ":came")) do
  redis.call("HINCRBY", base .. ":came", student, -ms)
end
redis.call("HSET", KEYS[1] .. ":windows", ARGV[1], ARGV[3])
"""


class Waiting(RuleBasedStateMachine):
    """Everything that can happen in a room."""

    backend: ClassVar[Backend]
    term: ClassVar[Any]

    def __init__(self) -> None:
        super().__init__()
        self.window = builders.a_coming_window(self.term, minutes=5)
        self.passed = 0
        self.model = Model(self.window.opens, self.window.closes, per_minute=30, at_once=2)
        self.base = f"{{t:{self.term.id}}}:room:{self.window.id}"

    @initialize(
        crowd=some.permutations(STUDENTS),
        early=some.integers(0, 8),
        at_once=some.sampled_from([2, 20]),
    )
    def begin(self, crowd: list[int], early: int, at_once: int) -> None:
        self.limit(30, at_once, off=False)
        for student in crowd[:early]:
            self.enter(student)
        self.wait(301_000)
        for student in crowd[early:]:
            self.enter(student)

    @rule(student=students)
    def enter(self, student: int) -> None:
        try:
            entry = room.enter(self.term.id, self.window.id, student)
        except WindowEnded:
            at = room.state(self.term.id, self.window.id).at + self.passed
            assert self.model.phase(at) == "ended"
            return
        fraction = draw_seeds.rank(draw_seeds.seed(self.term.id, self.window.id), entry.request)
        at = entry.room.at + self.passed
        assert self.reply(entry) == self.model.enter(at, student, entry.request, fraction)

    @rule(student=students)
    def look(self, student: int) -> None:
        entry = room.queue_entry(self.term.id, self.window.id, student)
        assert self.reply(entry) == self.model.look(entry.room.at + self.passed, student)

    @rule(some_students=some.lists(students, min_size=1, unique=True))
    def touch(self, some_students: list[int]) -> None:
        others = room.send_heartbeats(self.term.id, self.window.id, some_students)
        heard = int(self.stored_field("heard")) + self.passed
        assert others == self.model.touch_all(heard, some_students)

    @rule(student=students)
    def stay(self, student: int) -> None:
        before = self.now()
        ends = room.extend_stay(self.term.id, self.window.id, student)
        least = self.model.stay(before, student, LIFETIME)
        assert (ends is None) == (least is None)
        if ends and least:
            assert least <= ends + self.passed <= least + self.now() - before
            came = self.backend.redis.hget(f"{self.base}:came", str(student))
            self.model.came[student] = int(came) + self.passed
            self.model.inside[student] = ends + self.passed

    @rule(student=students)
    def leave(self, student: int) -> None:
        before = self.now()
        room.leave(self.term.id, self.window.id, student)
        stepped = int(self.stored_field("allowed_at")) + self.passed
        self.model.leave(max(before, stepped), student)

    @rule(
        per_minute=some.sampled_from([0, 1, 30, 600]),
        at_once=some.sampled_from([0, 1, 2, 3, 20]),
        off=some.sampled_from([False, False, True]),
    )
    def limit(self, per_minute: int, at_once: int, *, off: bool) -> None:
        state = room.set_limits(self.term.id, self.window.id, per_minute, at_once, off=off)
        self.model.limit(state.at + self.passed, per_minute, at_once, off=off)

    @rule()
    def attend(self) -> None:
        state = room.advance(self.term.id, self.window.id)
        self.model.step(state.at + self.passed)

    @rule(ms=moments)
    def wait(self, ms: int) -> None:
        self.passed += ms
        window = replace(
            self.window,
            opens=self.window.opens - self.passed,
            closes=self.window.closes - self.passed,
        )
        term = f"{{t:{self.term.id}}}"
        self.backend.redis.eval(EARLIER, 1, term, window.id, ms, stored_window(window))

    @rule(awake=some.lists(students, min_size=1, unique=True), steps=some.integers(1, 11))
    def watch(self, awake: list[int], steps: int) -> None:
        for _ in range(steps):
            self.wait(25_000)
            self.touch(awake)
            self.attend()

    @rule(pick=picks, steps=some.integers(2, 5))
    def be_busy(self, pick: int, steps: int) -> None:
        for _ in range(steps):
            if self.model.inside:
                self.stay(sorted(self.model.inside)[pick % len(self.model.inside)])
            self.watch([pick], 8)

    @rule(pick=picks)
    def come_back(self, pick: int) -> None:
        skipped = [who for who, held in self.model.mine.items() if held.chance is not None]
        if skipped:
            self.look(skipped[pick % len(skipped)])

    @invariant()
    def stands_like_the_model(self) -> None:
        state = room.state(self.term.id, self.window.id)
        expected = self.model.state(state.at + self.passed)
        known = {"at": expected.at, "opens": expected.opens, "pace": expected.pace, "free": 0}
        assert replace(state, **known) == expected

    @invariant()
    def nobody_has_two_places(self) -> None:
        redis = self.backend.redis
        places = redis.hvals(f"{self.base}:mine") + redis.hvals(f"{self.base}:left")
        assert len(places) == len(set(places))
        assert set(places) <= set(redis.zrange(f"{self.base}:line", 0, -1))

    def now(self) -> int:
        return room.state(self.term.id, self.window.id).at + self.passed

    def stored_field(self, field: str) -> bytes:
        stored: Any = self.backend.redis.hget(self.base, field)
        return stored or b"0"

    def reply(self, entry: QueueEntry) -> Told:
        ends = entry.ends and entry.ends + self.passed
        return (entry.kind, entry.request, entry.number, entry.ahead, ends)


@pytest.mark.timeout(600)  # shrinking a failure takes time
def test_room_agrees_with_the_model(backend: Backend, term: Any) -> None:
    Waiting.backend, Waiting.term = backend, term
    run_state_machine_as_test(
        Waiting,
        settings=settings(
            max_examples=40,
            stateful_step_count=25,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
