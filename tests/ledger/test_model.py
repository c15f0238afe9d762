"""For any requests in any order, the ledger's answers and state equal the model's."""

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as some
from hypothesis.stateful import rule, run_state_machine_as_test

from portal.ledger.errors import KeyReused, WindowRefused
from portal.ledger.types import (
    Candidate,
    Claim,
    LedgerChoice,
    PoolSpec,
    ReserveSpec,
    RoundMove,
    SkipRule,
    SubmissionResult,
)
from tests.ledger.adjustment_steps import AdjustmentRules
from tests.ledger.model_submissions import claim_of
from tests.ledger.requests import OPEN, TERM
from tests.ledger.strategies import (
    SECTIONS,
    STUDENTS,
    bare,
    candidates,
    credits_,
    deadlines,
    ends,
    limits,
    moments,
    moves,
    passes,
    picks,
    pools,
    requests,
    rounds_,
    students,
    windows,
    wishes,
)
from tests.soak import SOAK, rounds

pytestmark = pytest.mark.slow


class Term(AdjustmentRules):
    """Everything that can happen in a term, in any order."""

    # Selections

    @rule(lines=some.lists(wishes, min_size=1, max_size=3), who=candidates, request=requests)
    def submit(self, lines: list[LedgerChoice], who: Candidate, request: str | None) -> None:
        content = ("submit", [bare(line) for line in lines])
        if self.reused(who.student, request, content):
            with pytest.raises(KeyReused):
                self.ask_submit(who, lines, request)
            self.model.wake.clear()
            return
        answer = self.ask_submit(who, lines, request)
        expected = self.replay(who.student, request, content)
        if not expected:
            answers = self.model.submit(who, lines, answer.at)
            expected = SubmissionResult(answer.at, answers, wake=self.model.called())
            self.model.keep(who.student, request, content, expected)
        assert answer == expected
        assert answer.registrations == (
            None if answer.replayed else self.model.registrations(who.student)
        )

    @rule(section=SECTIONS, who=candidates, wanted=credits_, request=requests, wait=some.booleans())
    def claim(
        self, section: int, who: Candidate, wanted: int, request: str | None, *, wait: bool
    ) -> None:
        part = claim_of(who, section, wanted)
        self.submit([LedgerChoice(((part,),), wait)], who, request)

    @rule(section=SECTIONS, crowd=some.permutations(STUDENTS), credit_limit=limits)
    def rush(self, section: int, crowd: list[int], credit_limit: int) -> None:
        for student in crowd:
            reserves = (61,) if student % 2 else ()
            who = Candidate(student, (OPEN,), credit_limit, reserves=reserves)
            self.claim(section, who, 400, None, wait=True)

    @rule(asked=some.lists(some.tuples(SECTIONS, candidates, credits_), min_size=3, max_size=6))
    def claim_this_and_that(self, asked: list[tuple[int, Candidate, int]]) -> None:
        for section, who, wanted in asked:
            self.claim(section, who, wanted, None, wait=True)

    @rule(pick=picks, to=SECTIONS, wait=some.booleans())
    def swap_a_seat(self, pick: int, to: int, *, wait: bool) -> None:
        held = [each for who in STUDENTS for each in self.seats_of(who)]
        if held:
            student, swap_out = held[pick % len(held)]
            line = LedgerChoice(((Claim(to, 400),),), wait, swap_out)
            self.submit([line], Candidate(student, (OPEN,), 2100), None)

    @rule(
        section=SECTIONS,
        along=some.lists(SECTIONS, max_size=1),
        who=candidates,
        request=requests,
        limit=some.integers(1, 3),
    )
    def drop(
        self, section: int, along: list[int], who: Candidate, request: str | None, limit: int
    ) -> None:
        along = [each for each in along if each != section]
        content = ("drop", section, along)
        fields: dict[str, Any] = {
            "idempotency_key": request,
            "windows": who.windows,
            "along": along,
        }
        fields |= {"days": self.days, "drop_limit": limit}
        if self.reused(who.student, request, content):
            with pytest.raises(KeyReused):
                self.ask(self.desk.drop, who.student, section, **fields)
            self.model.wake.clear()
            return
        result = self.ask(self.desk.drop, who.student, section, **fields)
        expected = self.replay(who.student, request, content)
        if not expected:
            answer = self.model.drop([section, *along], who, self.days, limit, result.at)
            expected = replace(answer, wake=self.model.called())
            self.model.keep(who.student, request, content, expected)
        assert result == expected
        assert result.registrations == (
            None if result.replayed else self.model.registrations(who.student)
        )

    @rule(pick=picks)
    def drop_a_seat(self, pick: int) -> None:
        held = [each for who in STUDENTS for each in self.seats_of(who)]
        if held:
            who, section = held[pick % len(held)]
            self.drop(section, [], Candidate(who, (OPEN,), 2100), None, 9)

    @rule(section=SECTIONS, student=students)
    def leave(self, section: int, student: int) -> None:
        result = self.ask(self.desk.leave, student, section)
        answer = self.model.leave(section, student, result.at)
        assert result == replace(answer, wake=self.model.called())
        assert result.registrations == self.model.registrations(student)

    @rule(pick=picks)
    def leave_a_list(self, pick: int) -> None:
        waiting = [(who, n) for n, each in self.model.sections.items() for who in each.queue]
        if waiting:
            who, section = waiting[pick % len(waiting)]
            self.leave(section, who)

    # Waitlists

    @rule(
        section=SECTIONS,
        asked=some.lists(candidates, max_size=4, unique_by=lambda c: c.student),
        passes=passes,
    )
    def promote(self, section: int, asked: list[Candidate], passes: SkipRule | None = None) -> None:
        answer = self.ask(self.ledger.promote, TERM, section, asked, "c", passes)
        at = self.desk.last_event()["at"]  # of the promotion, if it did anything
        assert answer == self.model.promote(section, asked, at, passes)

    def next_vacant(self) -> int:
        """Return the first section whose next student can have a seat, 0 if there is none."""
        vacant = {each: self.model.sections[each].heads[0] for each in self.model.vacant()}
        # In a pool the ledger gives the seat only to the head that has waited longest.
        ready = (
            each for each, head in sorted(vacant.items()) if self.model.comes_first(each, head)
        )
        return next(ready, 0)

    @rule(credit_limit=limits, some_windows=windows, passes=passes)
    def promote_the_head(
        self, credit_limit: int, some_windows: tuple[int, ...], passes: SkipRule | None = None
    ) -> None:
        section = self.next_vacant()
        if not section:
            return
        head = self.ledger.head(TERM, section, 2)
        assert head == self.model.sections[section].heads[:2]
        cohorts = {student: (61,) if student % 2 else () for student in head}
        requested = [
            Candidate(student, some_windows, credit_limit, reserves=cohorts[student])
            for student in head
        ]
        self.promote(section, requested, passes)

    @rule()
    def pass_over_the_head(self) -> None:
        self.promote_the_head(0, (OPEN,))

    def reconsider(self, section: int) -> None:
        answer = self.ask(self.ledger.reconsider, TERM, section)
        assert answer == self.model.change(self.model.reconsider(section), answer.at)

    def begin_work(self, _section: int) -> None:
        for worker in ("record", "promote"):
            self.ledger.clear_woken(TERM, worker)
            self.model.woken.discard(worker)

    @rule(pick=picks)
    def drop_and_promote(self, pick: int) -> None:
        self.drop_a_seat(pick)
        while self.next_vacant():  # the head of a pool may be in a section of a round
            self.promote_the_head(2100, (OPEN,))

    # Allocation rounds

    @rule(number=rounds_, sections=some.lists(SECTIONS, max_size=3, unique=True))
    def hold_for_round(self, number: int, sections: list[int]) -> None:
        answer = self.ask(self.ledger.hold_for_round, TERM, number, sections)
        seq = self.model.hold_for_round(number, sections)
        assert answer == self.model.change(seq, answer.at)

    @rule(number=rounds_, moves=some.lists(moves, min_size=1, max_size=5))
    def allocate(self, number: int, moves: list[RoundMove]) -> None:
        answers = self.ask(self.ledger.allocate, TERM, number, moves, "system", "c")
        at = self.desk.last_event()["at"]  # of the batch, if it did anything
        expected = self.model.allocate(number, moves, at)
        wake = self.model.called()
        assert answers == [replace(each, wake=wake) for each in expected]

    @rule(number=rounds_, moves=some.lists(moves, min_size=1, max_size=5))
    def publish_a_round(self, number: int, moves: list[RoundMove]) -> None:
        """Give the seats of sections that are held back, as a round does."""
        wanted = {claim.section for each in moves for claim in each.claims}
        self.hold_for_round(number, sorted(wanted))
        self.allocate(number, moves)
        self.allocate(number, moves)  # as after a worker died
        self.end_round(number)

    @rule(number=rounds_)
    def end_round(self, number: int) -> None:
        answer = self.ask(self.ledger.end_round, TERM, number)
        seq = self.model.end_round(number)
        assert answer == self.model.change(seq, answer.at)

    # Sections and windows

    @rule(section=SECTIONS, capacity=some.integers(0, 4))
    def resize(self, section: int, capacity: int) -> None:
        if section in self.model.sections:
            self.put(replace(self.model.sections[section].spec, capacity=capacity))

    @rule(one=SECTIONS, other=SECTIONS, pool=pools)
    def share(self, one: int, other: int, pool: PoolSpec | None) -> None:
        for section in {one, other} & self.model.sections.keys():
            self.put(replace(self.model.sections[section].spec, pool=pool))

    @rule(section=SECTIONS, sizes=some.lists(some.integers(0, 2), max_size=2), ends=ends)
    def keep(self, section: int, sizes: list[int], ends: list[int]) -> None:
        now = self.ledger.now()
        reserves = tuple(
            ReserveSpec(61 + number, size, end and now + end)
            for number, (size, end) in enumerate(zip(sizes, ends, strict=False))
        )
        if section in self.model.sections:
            self.put(replace(self.model.sections[section].spec, reserves=reserves))

    @rule(section=SECTIONS, status=some.sampled_from(["CANCELED", "OPEN"]))
    def set_status(self, section: int, status: str) -> None:
        if section in self.model.sections:
            self.put(replace(self.model.sections[section].spec, status=status))

    @rule(window=some.integers(2, 4), opens=moments, closes=moments)
    def put_window(self, window: int, opens: int, closes: int) -> None:
        now = self.ledger.now()
        self.schedule(window, now + opens, now + closes)

    @rule(
        op=some.sampled_from(["move_window", "cancel_window", "extend_window", "close_window"]),
        window=some.integers(2, 5),
        opens=moments,
        closes=moments,
    )
    def change_window(self, op: str, window: int, opens: int, closes: int) -> None:
        now = self.ledger.now()
        times = {"move_window": (now + opens, now + closes), "extend_window": (now + closes,)}
        given = times.get(op, ())
        try:
            answer = self.ask(getattr(self.ledger, op), TERM, window, *given, "registrar")
        except WindowRefused as refused:
            with pytest.raises(WindowRefused, match=refused.code):
                self.model.change_window(op, window, given, refused.at)
            self.model.wake.clear()
        else:
            seq = self.model.change_window(op, window, given, answer.at)
            assert answer == self.model.change(seq, answer.at)

    @rule(deadlines=deadlines, stale=some.sampled_from([0, 0, 0, 1]))
    def put_deadlines(self, deadlines: dict[str, int], stale: int) -> None:
        self.version += 1
        now, version = self.ledger.now(), self.version - stale
        ends = {name: now + each for name, each in deadlines.items()}
        answer = self.ask(self.ledger.put_deadlines, TERM, ends, version)
        seq = self.model.put_deadlines(ends, version, answer.at)
        assert answer == self.model.change(seq, answer.at)

    def turn(self, _section: int) -> None:
        assert self.ask(self.ledger.turn, TERM) == self.turned
        self.model.wake.clear()

    def let_time_pass(self, section: int) -> None:
        time.sleep(3 * section / 1000)

    @rule(chore=some.sampled_from([reconsider, begin_work, turn, let_time_pass]), section=SECTIONS)
    def do(self, chore: Callable[["Term", int], None], section: int) -> None:
        chore(self, section)


@pytest.mark.timeout(3600 if SOAK else 600)  # shrinking a failure takes time
def test_ledger_agrees_with_the_model(address: str) -> None:
    Term.address = address
    run_state_machine_as_test(
        Term,
        settings=settings(
            max_examples=rounds(15, soak=1000),
            stateful_step_count=50,
            deadline=None,
            suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
        ),
    )
