"""Admin adjustments in the model: every rule applies except the overridden ones."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from dataclasses import replace

from portal.ledger.types import (
    NOT_OVERRIDABLE,
    AdminAdjustment,
    Candidate,
    Claim,
    Decision,
    HeldSeat,
    Reason,
)
from tests.ledger.model_state import refused
from tests.ledger.model_submissions import Seats, Wishes, full, without


class Adjustments(Wishes):
    """Additions, drops and moves."""

    def adjust(self, change: AdminAdjustment, overrides: Sequence[str], at: int) -> Decision:
        passes = set(overrides) - NOT_OVERRIDABLE
        held = self.held(change.student)
        rest = without(held, change.drop or 0)
        reasons = self.against(self, change, rest, change.drop or 0, at)
        left = [each for each in reasons if each.code not in passes]
        self.during = 0
        if left:
            section = change.add.section if change.add else change.drop or 0
            return refused(section, at, left)
        if change.add:
            return self.add(change.student, change.add, change.drop or 0, at)
        if "drop_limit" not in overrides:
            day = self.day(change.days, at)
            self.drops[change.student, day] = self.drops.get((change.student, day), 0) + 1
        return self.release(change.drop or 0, change.student, at)

    def against(
        self, seen: "Adjustments", change: AdminAdjustment, rest: Seats, gone: int, at: int
    ) -> Iterator[Reason]:
        """Return every reason against an adjustment, with the seats of the copy `seen`."""
        held = self.held(change.student)
        if change.drop and change.drop not in held:
            yield Reason("not_enrolled", {"section": change.drop})
        if not change.add:
            yield from self.window(change.windows, at)
            yield from self.used_up(change, at)
        elif change.add.section in held or change.add.section in rest:
            yield Reason("already_enrolled")
        else:
            yield from seen.against_adding(change, change.add, rest, gone, at)
            known = change.add.section in self.sections
            rest = rest | ({change.add.section: change.add.credits} if known else {})
        if change.drop:
            yield from self.late_to_leave()
            yield from self.losses(change.student, rest)

    def against_adding(
        self, change: AdminAdjustment, add: Claim, rest: Seats, gone: int, at: int
    ) -> Iterator[Reason]:
        who = Candidate(change.student, change.windows, change.credit_limit)
        yield from self.objections(add, who, rest, set(), at)
        each = self.sections.get(add.section)
        if each and not self.seat_for(change.student, add, gone):
            yield Reason("full", full(each))

    def seat_for(self, student: int, part: Claim, gone: int) -> bool:
        """Return whether there is a seat for the student, perhaps as the first on the waitlist."""
        each = self.sections[part.section]
        open_ = each.taken + each.reserved_left < each.spec.capacity
        mine = open_ or each.reserve_for(part.reserves)
        # A move gives them another chance.
        skipped = {who: why for who, why in each.skipped.items() if not gone or who != student}
        if each.room and mine and replace(each, skipped=skipped).heads[:1] == [student]:
            return self.comes_first(part.section, student)
        return self.claimable(part, gone)

    def used_up(self, change: AdminAdjustment, at: int) -> Iterator[Reason]:
        used = self.drops.get((change.student, self.day(change.days, at)), 0)
        if used >= change.drop_limit:
            later = [start for start, _ in change.days if start > at]
            yield Reason("drop_limit", {"limit": change.drop_limit, "resets": later[0]})

    def day(self, days: Sequence[tuple[int, str]], at: int) -> str:
        return [name for start, name in days if start <= at][-1]

    # Batches

    def adjust_batch(
        self, moves: Sequence[AdminAdjustment], overrides: Sequence[str], at: int
    ) -> list[Decision]:
        """Decide several in one step: drops count first; refused students keep their seats."""
        answers: dict[int, Decision] = {}
        seats = [(each.student, each.drop) for each in moves]
        for n, each in enumerate(moves):
            if each.drop and seats.index(seats[n]) < n:
                twice = Reason("not_enrolled", {"section": each.drop})
                answers[n] = refused(section_of(each), at, [twice])
        while left := self.refused_together(moves, answers, set(overrides) - NOT_OVERRIDABLE, at):
            answers |= {n: refused(section_of(moves[n]), at, left[n]) for n in left}
            if not any(moves[n].drop for n in left):
                break
        self.during = 0
        done = [n for n in range(len(moves)) if n not in answers]
        for n in done:
            each = moves[n]
            if not each.add and "drop_limit" not in overrides:
                day = self.day(each.days, at)
                self.drops[each.student, day] = self.drops.get((each.student, day), 0) + 1
            if each.drop:
                answers[n] = self.release(each.drop, each.student, at)
        for n in done:
            if add := moves[n].add:
                answers[n] = self.take_in(moves[n].student, add, moves[n].drop or 0, at)
        return [answers[n] for n in range(len(moves))]

    def refused_together(
        self,
        moves: Sequence[AdminAdjustment],
        known: dict[int, Decision],
        passes: set[str],
        at: int,
    ) -> dict[int, list[Reason]]:
        """Return what refuses the remaining moves, tried on a copy of the term."""
        trial, tried = deepcopy(self), [n for n in range(len(moves)) if n not in known]
        rests = {moves[n].student: self.held(moves[n].student) for n in tried}
        for n in tried:
            trial.vacate(moves[n].drop or 0, moves[n].student)
            rests[moves[n].student] = without(rests[moves[n].student], moves[n].drop or 0)
        found = {}
        for n in tried:
            student, add = moves[n].student, moves[n].add
            reasons = self.against(trial, moves[n], rests[student], 0, at)
            left = [each for each in reasons if each.code not in passes]
            if left:
                found[n] = left
            elif add:
                rests[student] = rests[student] | {add.section: add.credits}
                trial.give(student, add)
        self.permitted |= trial.permitted
        return found

    def vacate(self, section: int, student: int) -> None:
        """Free a seat: all waiting students are considered again."""
        each = self.sections.get(section)
        if each and each.roster.pop(student, None):
            each.reserved.pop(student, None)
            each.aside.clear()
            for one in (each, *each.others):
                one.skipped.clear()
            self.ask_again(student)

    def ask_again(self, student: int) -> None:
        """Consider a student again on their waitlists, as their seats have changed."""
        for each in self.sections.values():
            each.skipped.pop(student, None)

    def give(self, student: int, part: Claim) -> None:
        each = self.sections[part.section]
        if reserve := each.reserve_for(part.reserves):
            each.reserved[student] = reserve
        each.roster[student] = HeldSeat(part.section, part.credits, 0, 0)
        if student in each.queue:
            self.unqueue(part.section, student)
        self.ask_again(student)

    def add(self, student: int, part: Claim, gone: int, at: int) -> Decision:
        if gone:
            self.release(gone, student, at)
        return self.take_in(student, part, gone, at)

    def take_in(self, student: int, part: Claim, gone: int, at: int) -> Decision:
        position = student in self.sections[part.section].queue
        if position:
            self.unqueue(part.section, student)
        answer = self.enroll("promoted" if position else "enrolled", part, student, at)
        return Decision(**{**vars(answer), "swap_out": gone})


def section_of(change: AdminAdjustment) -> int:
    """Return the section that a refusal names."""
    return change.add.section if change.add else change.drop or 0
