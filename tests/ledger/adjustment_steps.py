"""Admin adjustments of the ledger and its model, in any order."""

from dataclasses import replace
from itertools import pairwise
from typing import Any
from uuid import uuid4

import pytest
from hypothesis import strategies as some
from hypothesis.stateful import rule

from portal.ledger.errors import KeyReused
from portal.ledger.types import AdminAdjustment, Candidate, Claim
from tests.ledger.ledger_and_model import Pair
from tests.ledger.requests import OPEN, TERM
from tests.ledger.strategies import (
    SECTIONS,
    STUDENTS,
    candidates,
    overrides_,
    parts,
    picks,
    requests,
    students,
)

moves_ = some.lists(
    some.tuples(students, some.none() | parts, some.none() | SECTIONS), min_size=1, max_size=5
)


class AdjustmentRules(Pair):
    """Additions, drops and moves, alone and several in one step."""

    @rule(
        add=some.none() | parts,
        drop=some.none() | SECTIONS,
        who=candidates,
        overrides=overrides_,
        request=requests,
        limit=some.integers(0, 3),
    )
    def adjust(
        self,
        add: Claim | None,
        drop: int | None,
        who: Candidate,
        *,
        overrides: list[str],
        request: str | None = None,
        limit: int = 3,
    ) -> None:
        if not add and not drop:
            return
        days = tuple(self.days)
        credits_ = add.credits if add else 0
        requested = AdminAdjustment(
            who.student, add, drop, who.credit_limit, who.windows, days, limit, credits_
        )
        wanted = add and (add.section, add.credits)
        content = ("adjust", drop, wanted, tuple(sorted(set(overrides))))
        fields: dict[str, Any] = {
            "overrides": overrides,
            "reason": "so",
            "idempotency_key": request,
        }
        fields |= {"actor": "account:9", "correlation": "c"}
        if self.reused(who.student, request, content):
            with pytest.raises(KeyReused):
                self.ask(self.ledger.adjust, TERM, requested, **fields)
            self.model.wake.clear()
            return
        result = self.ask(self.ledger.adjust, TERM, requested, **fields)
        expected = self.replay(who.student, request, content)
        if not expected:
            answer = self.model.adjust(requested, overrides, result.at)
            expected = replace(answer, wake=self.model.called())
            self.model.keep(who.student, request, content, expected)
        assert result == expected

    @rule(pick=picks, to=SECTIONS, overrides=overrides_)
    def move_a_seat(self, pick: int, to: int, overrides: list[str]) -> None:
        held = [each for who in STUDENTS for each in self.seats_of(who)]
        if held:
            student, section = held[pick % len(held)]
            who = Candidate(student, (OPEN,), 2100)
            self.adjust(Claim(to, 400), section, who, overrides=["full", *overrides])

    @rule(pick=picks)
    def add_a_waiter(self, pick: int) -> None:
        waiting = [(who, n) for n, each in self.model.sections.items() for who in each.queue]
        if waiting:
            student, section = waiting[pick % len(waiting)]
            who = Candidate(student, (OPEN,), 2100)
            self.adjust(Claim(section, 400), None, who, overrides=["full", "time_conflict"])

    @rule(moves=moves_, overrides=overrides_)
    def adjust_batch(
        self, moves: list[tuple[int, Claim | None, int | None]], overrides: list[str]
    ) -> None:
        days = tuple(self.days)
        self.compare_batch(
            [
                AdminAdjustment(student, add, drop, 2100, (OPEN,), days, 3)
                for student, add, drop in moves
                if add or drop
            ],
            overrides,
        )

    @rule(order=some.permutations(STUDENTS), size=some.integers(2, 3), who=candidates)
    def go_round(self, order: list[int], size: int, who: Candidate) -> None:
        """Move some students with a seat to the next one's section."""
        held = [seats[0] for each in order if (seats := self.seats_of(each))][:size]
        days = tuple(self.days)
        ring = [
            AdminAdjustment(
                student,
                Claim(into, 400, reserves=who.reserves),
                drop,
                who.credit_limit,
                (OPEN,),
                days,
                0,
            )
            for (student, drop), (_, into) in pairwise([*held, *held[:1]])
        ]
        self.compare_batch(ring, ["same_course", "credit_range"])

    def compare_batch(self, moves: list[AdminAdjustment], overrides: list[str]) -> None:
        if not moves:
            return
        fields: dict[str, Any] = {"overrides": overrides, "reason": "so", "actor": "account:9"}
        changes = {uuid4().hex: each for each in moves}
        answer = self.ask(self.ledger.adjust_batch, TERM, changes, correlation="c", **fields)
        expected = self.model.adjust_batch(moves, overrides, answer[0].at)
        called = self.model.called()
        assert answer == [replace(each, wake=called) for each in expected]
