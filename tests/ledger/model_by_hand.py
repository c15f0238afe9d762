"""What is done by hand in the model: every rule by the book, but those that are named."""

from collections.abc import Iterator, Sequence
from copy import deepcopy
from itertools import pairwise

from portal.ledger.types import AdminAdjustment, Candidate, Claim, Decision, Reason
from portal.seats.by_hand import FIRM
from tests.ledger.model_book import refused
from tests.ledger.model_wishes import Seats, Wishes, full, without


class ByHands(Wishes):
    """Additions, drops and moves."""

    leaver: AdminAdjustment | None = None  # whose seat the others look at as if it had been left

    def adjust(self, asked: AdminAdjustment, overrides: Sequence[str], at: int) -> Decision:
        passes = set(overrides) - FIRM
        left = [each for each in self.against(asked, at) if each.code not in passes]
        self.during = 0
        if left:
            section = asked.add.section if asked.add else asked.drop or 0
            return refused(section, at, left)
        if asked.add:
            return self.add(asked.student, asked.add, asked.drop or 0, at)
        if "drop_limit" not in overrides:
            day = self.day(asked.days, at)
            self.drops[asked.student, day] = self.drops.get((asked.student, day), 0) + 1
        return self.release(asked.drop or 0, asked.student, at)

    def against(self, asked: AdminAdjustment, at: int) -> Iterator[Reason]:
        """Everything that stands in the way."""
        held = self.held(asked.student)
        rest = without(held, asked.drop or 0)
        if asked.drop and asked.drop not in held:
            yield Reason("not_enrolled", {"section": asked.drop})
        if not asked.add:
            yield from self.window(asked.windows, at)
            yield from self.used_up(asked, at)
        elif asked.add.section in held:
            yield Reason("already_enrolled")
        else:
            yield from self.against_adding(asked, asked.add, rest, at)
            known = asked.add.section in self.sections
            rest |= {asked.add.section: asked.add.credits} if known else {}
        if asked.drop:
            yield from self.losses(asked.student, rest)

    def against_adding(
        self, asked: AdminAdjustment, add: Claim, rest: Seats, at: int
    ) -> Iterator[Reason]:
        who = Candidate(asked.student, asked.windows, asked.limit)
        yield from self.objections(add, who, rest, set(), at)
        each = self.sections.get(add.section)
        if each and not self.seat_for(asked.student, add, asked.drop or 0):
            yield Reason("full", full(each))

    def seat_for(self, student: int, part: Claim, gone: int) -> bool:
        """Whether a seat is there for the student, if only as the first in line."""
        if self.leaver:
            return self.seat_left(student, part)
        each = self.sections[part.section]
        open_ = each.taken + each.kept < each.spec.capacity
        mine = open_ or each.reserve_for(part.reserves)
        if each.room and mine and each.heads[:1] == [student]:
            return self.comes_first(part.section, student)
        return self.claimable(part, gone)

    def used_up(self, asked: AdminAdjustment, at: int) -> Iterator[Reason]:
        used = self.drops.get((asked.student, self.day(asked.days, at)), 0)
        if used >= asked.drop_limit:
            later = [start for start, _ in asked.days if start > at]
            yield Reason("drop_limit", {"limit": asked.drop_limit, "resets": later[0]})

    def day(self, days: Sequence[tuple[int, str]], at: int) -> str:
        return [name for start, name in days if start <= at][-1]

    # Rings

    def exchange(
        self, ring: Sequence[AdminAdjustment], overrides: Sequence[str], at: int
    ) -> tuple[Decision, ...]:
        """What comes of moves, each into the seat that the next leaves."""
        passes = set(overrides) - FIRM
        left = [
            [reason for reason in self.against_in_ring(*both, at) if reason.code not in passes]
            for both in pairwise([*ring, ring[0]])
        ]
        self.during = 0
        if any(left):
            return tuple(
                refused(into(each), at, reasons) for each, reasons in zip(ring, left, strict=True)
            )
        for each in ring:
            self.release(each.drop or 0, each.student, at)
        return tuple(self.seat(each, at) for each in ring)

    def closes(self, ring: Sequence[AdminAdjustment]) -> bool:
        """Whether each leaves a seat to the one before, and nobody and no seat comes twice."""
        seen = zip(*[(each.student, each.drop, into(each)) for each in ring], strict=True)
        if not 2 <= len(ring) <= 100 or any(len(set(each)) < len(ring) for each in seen):
            return False
        both = pairwise([*ring, ring[0]])
        return all(self.place(into(one)) == self.place(other.drop or 0) for one, other in both)

    def place(self, section: int) -> tuple[str, int]:
        """What its seats are of: its pool, or itself."""
        pool = self.sections[section].spec.pool if section in self.sections else None
        return ("pool", pool.id) if pool else ("section", section)

    def against_in_ring(
        self, asked: AdminAdjustment, leaver: AdminAdjustment, at: int
    ) -> list[Reason]:
        """Everything that stands in the way once the leaver is out, seen in a copy of the term."""
        trial = deepcopy(self)
        trial.leaver = leaver
        seats = trial.sections.get(leaver.drop or 0)
        if seats and leaver.student in seats.roster:
            del seats.roster[leaver.student]
            seats.reserved.pop(leaver.student, None)
        return list(trial.against(asked, at))

    def seat_left(self, student: int, part: Claim) -> bool:
        """Whether the seat that somebody leaves is the student's: all in line are asked again."""
        each = self.sections[part.section]
        if not each.room or not (
            each.taken + each.kept < each.spec.capacity or each.reserve_for(part.reserves)
        ):
            return False
        if each.queue and next(iter(each.queue)) != student:
            return False
        mine = each.queue[student].ticket if each.queue else float("inf")
        return all(
            next(iter(other.queue.values())).ticket > mine
            for other in each.others
            if other.spec.status == "OPEN" and other.queue and other.taken < other.spec.capacity
        )

    def seat(self, asked: AdminAdjustment, at: int) -> Decision:
        assert asked.add
        return self.take_in(asked.student, asked.add, asked.drop or 0, at)

    def add(self, student: int, part: Claim, gone: int, at: int) -> Decision:
        if gone:
            self.release(gone, student, at)
        return self.take_in(student, part, gone, at)

    def take_in(self, student: int, part: Claim, gone: int, at: int) -> Decision:
        place = student in self.sections[part.section].queue
        if place:
            self.unqueue(part.section, student)
        said = self.enroll("promoted" if place else "enrolled", part, student, at)
        return Decision(**{**vars(said), "given_up": gone})


def into(asked: AdminAdjustment) -> int:
    """The section that a move enters."""
    assert asked.add
    return asked.add.section
