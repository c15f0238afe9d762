"""What may be asked by hand of the ledger and of its model, in any order."""

from dataclasses import replace
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import strategies as some
from hypothesis.stateful import rule

from portal.ledger.errors import KeyReused, NoRing
from portal.ledger.types import AdminAdjustment, Candidate, Claim, Outcome
from tests.ledger.desk import OPEN, TERM
from tests.ledger.pair import Pair
from tests.ledger.wishes import (
    SECTIONS,
    STUDENTS,
    candidates,
    overrides_,
    parts,
    picks,
    requests,
)


class ByHandRules(Pair):
    """Additions, drops, moves and rings of moves."""

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
        asked = AdminAdjustment(
            who.student, add, drop, who.limit, who.windows, days, limit, credits_
        )
        wanted = add and (add.section, add.credits)
        content = ("adjust", drop, wanted, tuple(sorted(set(overrides))))
        fields: dict[str, Any] = {"overrides": overrides, "reason": "so", "request": request}
        fields |= {"actor": "account:9", "correlation": "c"}
        if self.reused(who.student, request, content):
            with pytest.raises(KeyReused):
                self.ask(self.ledger.adjust, TERM, asked, **fields)
            self.model.wake.clear()
            return
        said = self.ask(self.ledger.adjust, TERM, asked, **fields)
        expected = self.replay(who.student, request, content)
        if not expected:
            answer = self.model.adjust(asked, overrides, said.at)
            expected = replace(answer, wake=self.model.called())
            self.model.keep(who.student, request, content, expected)
        assert said == expected

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

    @rule(
        order=some.permutations(STUDENTS),
        size=some.integers(2, 3),
        overrides=overrides_,
        request=requests,
        who=candidates,
    )
    def exchange(
        self,
        order: list[int],
        size: int,
        who: Candidate,
        *,
        overrides: list[str],
        request: str | None = None,
    ) -> None:
        """Some of those who hold seats go on to the next one's."""
        held = [seats[0] for each in order if (seats := self.seats_of(each))][:size]
        if not held:
            return
        ring = [
            AdminAdjustment(
                student,
                Claim(into, 400, reserves=who.reserves),
                drop,
                who.limit,
                (OPEN,),
                tuple(self.days),
                0,
            )
            for (student, drop), (_, into) in pairwise([*held, held[0]])
        ]
        fields: dict[str, Any] = {"overrides": overrides, "reason": "so", "request": request}
        fields |= {"actor": "account:9", "correlation": "c"}
        wanted = [(each.student, each.drop, each.add) for each in ring]
        self.compare_rings(ring, fields, ("exchange", wanted, tuple(sorted(set(overrides)))))

    def compare_rings(
        self, ring: list[AdminAdjustment], fields: dict[str, Any], content: Any
    ) -> None:
        first, request = ring[0].student, fields["request"]
        wrong = KeyReused if self.reused(first, request, content) else None
        if not wrong and not self.model.once(first, request, content):
            wrong = None if self.model.closes(ring) else NoRing
        if wrong:
            with pytest.raises(wrong):
                self.ask(self.ledger.exchange, TERM, ring, **fields)
            self.model.wake.clear()
            return
        said = self.ask(self.ledger.exchange, TERM, ring, **fields)
        expected = self.replay(first, request, content)
        if not expected:
            answers = self.model.exchange(ring, fields["overrides"], said[0].at)
            called = self.model.called()
            expected = tuple(replace(each, wake=called) for each in answers)
            if answers[0].outcome != Outcome.REFUSED:  # imports ask until it is granted
                self.model.keep(first, request, content, expected)
        assert said == expected
