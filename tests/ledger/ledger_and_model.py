"""The ledger and its model side by side."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import strategies as some
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from portal.core.ledger_servers import OneServer
from portal.ledger.client import Ledger
from portal.ledger.errors import KeyReused, WindowRefused
from portal.ledger.types import (
    Candidate,
    Change,
    LedgerChoice,
    ReserveSpec,
    SectionSpec,
    SubmissionResult,
)
from tests.ledger.model import Model
from tests.ledger.requests import DAY, OPEN, TERM, Desk
from tests.ledger.strategies import STUDENTS, specs
from tests.ledger_claims import submit

BATCH = 2  # seats and waitlist positions that a canceled section frees in one step
HOUR = 3_600_000
TURNS = {"window_opened", "window_closed", "reserve_opened", "deadline_passed"}


class Steps(Ledger):
    """Takes each step of a cancellation separately."""

    def _emptied(self, _term: int, _section: int, change: Change) -> Change:
        return change


class Pair(RuleBasedStateMachine):
    """The ledger and the model get the same requests and must show the same state."""

    address = ""
    turned: list[tuple[int, str]]

    @initialize()
    def begin(self) -> None:
        self.desk = Desk(self.address)
        self.desk.redis.flushall()
        self.ledger = self.desk.ledger = Steps(OneServer(self.desk.redis))
        self.ledger.at_once = BATCH
        self.model = Model()
        self.version = 0
        now = self.ledger.now()
        self.days = [(now - DAY, "first"), (now + 60, "second"), (now + DAY, "third")]
        self.schedule(OPEN, now - HOUR, now + HOUR)
        for section in (1, 2, 3):
            stored = (ReserveSpec(61, 1), ReserveSpec(62, 1))[: section - 1]
            self.put(SectionSpec(section, 2, 4, 0, "OPEN", section, 300, 500, (), 0, None, stored))

    def teardown(self) -> None:
        if hasattr(self, "desk"):
            self.desk.redis.connection_pool.disconnect()

    # Requests

    @rule(spec=specs, stale=some.sampled_from([0, 0, 0, 1, 2]))
    def put(self, spec: SectionSpec, stale: int = 0) -> None:
        self.version += 1
        spec = replace(spec, version=max(1, self.version - stale))
        answer = self.ask(self.ledger.put_section, TERM, spec)
        self.emptied(spec.section, self.model.put_section(spec, answer.at), answer)

    def emptied(self, section: int, seq: int, change: Change) -> None:
        """Free a canceled section step by step; due windows turn before each step."""
        canceled = self.model.sections[section].spec.status == "CANCELED"
        more = canceled and self.model.empty(section, BATCH, change.at)
        assert change == replace(self.model.change(seq, change.at), more=more)
        if more:
            self.emptied(section, 0, self.ask(self.ledger.empty, TERM, section))

    def seats_of(self, student: int) -> list[tuple[int, int]]:
        return [(student, held.section) for held in self.model.registrations(student).enrolled]

    def ask_submit(
        self, who: Candidate, lines: Sequence[LedgerChoice], request: str | None
    ) -> SubmissionResult:
        return self.ask(
            submit,
            self.ledger,
            TERM,
            lines,
            student=who.student,
            idempotency_key=request,
            credit_limit=who.credit_limit,
            windows=who.windows,
            actor=f"student:{who.student}",
            correlation="c",
        )

    def ask(self, call: Callable[..., Any], *args: Any, **fields: Any) -> Any:
        """Return the ledger's answer; due windows turn first, also in the model."""
        self.model.during = 0
        try:
            return call(*args, **fields)
        finally:
            messages = self.desk.events()[len(self.model.events) :]
            turns = [event["at"] for event in messages if event["name"] in TURNS]
            self.turned = self.model.turn(turns[0]) if turns else []

    def replay(self, student: int, request: str | None, content: Any) -> Any:
        answer = self.model.once(student, request, content)
        if answer:
            self.model.wake.clear()
        return answer

    def reused(self, student: int, request: str | None, content: Any) -> bool:
        try:
            self.model.once(student, request, content)
        except KeyReused:
            return True
        return False

    def schedule(self, window: int, opens: int, closes: int) -> None:
        try:
            answer = self.ask(self.desk.put_window, window, opens, closes)
        except WindowRefused as refused:
            with pytest.raises(WindowRefused, match=refused.code):
                self.model.put_window(window, "Selection", opens, closes, refused.at)
            self.model.wake.clear()
        else:
            seq = self.model.put_window(window, "Selection", opens, closes, answer.at)
            assert answer == self.model.change(seq, answer.at)

    # Invariants after each step

    @invariant()
    def the_same_is_seen(self) -> None:
        model = self.model
        assert self.ledger.seats(TERM) == {n: each.seats for n, each in model.sections.items()}
        assert self.ledger.vacant(TERM) == model.vacant()
        assert self.ledger.emptying(TERM) == set()
        for number, each in model.sections.items():
            assert self.desk.queue(number) == list(each.queue)
            assert sorted(self.desk.roster(number)) == sorted(each.roster)
            assert self.ledger.reserved(TERM, number) == Counter(each.reserved.values())
        for student in STUDENTS:
            assert self.ledger.registrations(TERM, student) == model.registrations(student)
        for view in self.ledger.windows(TERM):
            window = model.windows[view.id]
            assert (view.opens, view.closes, view.state) == (
                window.opens,
                window.closes,
                window.state,
            )

    @invariant()
    def the_journal_is_gapless(self) -> None:
        events = self.desk.events()
        assert [event["seq"] for event in events] == list(range(1, len(events) + 1))
        assert [subject(event) for event in events] == self.model.events


def subject(event: dict[str, Any]) -> tuple[str, int, int, int, list[str]]:
    of, permitted = event.get("section") or event.get("window", 0), event.get("permitted", [])
    return event["name"], of, event.get("student", 0), event.get("during", 0), permitted
