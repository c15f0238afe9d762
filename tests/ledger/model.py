"""A model of the ledger in plain Python: the expected answer at a given time."""

from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations

from portal.ledger.types import (
    Candidate,
    Decision,
    Outcome,
    Promotion,
    Reason,
    SectionSpec,
    SkipRule,
)
from tests.ledger.model_rounds import Rounds
from tests.ledger.model_state import Pool, Section
from tests.ledger.model_submissions import claim_of, without


class Model(Rounds):
    """One term of the model: drops, waitlists and sections."""

    # Selections

    def drop(
        self,
        leaving: Sequence[int],
        who: Candidate,
        days: list[tuple[int, str]],
        limit: int,
        at: int,
    ) -> Decision:
        held, student = self.held(who.student), who.student
        waits = self.waits(student)
        places = [each for each in leaving[1:] if each in waits and each not in held]
        section, *along = seats = [each for each in leaving if each not in places]
        number = self.drops_of(student, [each for each in seats if each in held])
        day = max(index for index, (start, _) in enumerate(days) if start <= at)
        used = self.drops.get((student, days[day][1]), 0)
        reasons = [*self.window(who.windows, at), *self.late_to_leave()]
        if section not in held:
            reasons.append(Reason("not_enrolled"))
        reasons += [Reason("not_enrolled", {"section": each}) for each in along if each not in held]
        if used + max(number, 1) > limit:
            facts = {"limit": limit, "resets": days[day + 1][0]}
            facts |= {"left": max(0, limit - used), "drops": number} if number > 1 else {}
            reasons.append(Reason("drop_limit", facts))
        reasons += self.losses(student, without(held, *leaving), waits - set(leaving))
        if reasons:
            return self.refuse(section, student, at, reasons)
        self.drops[student, days[day][1]] = used + number
        result, *_ = [self.release(each, student, at) for each in seats]
        for each in places:
            self.lose(each, student)
        return replace(result, left=tuple(places))

    def drops_of(self, student: int, seats: Sequence[int]) -> int:
        """Return the smallest set of drops from which all others follow."""
        found = (
            len(some)
            for size in range(len(seats) + 1)
            for some in combinations(seats, size)
            if set(seats) <= self.falls(student, set(some), set(seats))
        )
        return next(found)

    def falls(self, student: int, gone: set[int], among: set[int]) -> set[int]:
        """Return which of some seats are dropped with these."""
        held = self.held(student)
        lost = {each.facts["section"] for each in self.losses(student, without(held, *gone))}
        more = (lost & among) - gone
        return self.falls(student, gone | more, among) if more else gone

    def leave(self, section: int, student: int, at: int) -> Decision:
        each = self.sections.get(section)
        if not each or student not in each.queue:
            return self.refuse(section, student, at, [Reason("not_waiting")])
        lost = self.losses(student, self.held(student), self.waits(student) - {section})
        if lost:
            lost = [Reason(each.code, each.facts | {"waiting": True}) for each in lost]
            return self.refuse(section, student, at, lost)
        seq = self.lose(section, student)
        return self.answer(Outcome.LEFT, section, at, seq=seq)

    # Waitlists

    def promote(
        self,
        section: int,
        candidates: Sequence[Candidate],
        at: int,
        passes: SkipRule | None = None,
    ) -> Promotion:
        each, requested = self.sections.get(section), {who.student: who for who in candidates}
        promoted, skipped, aside = [], [], []
        while each and self.promises(section):
            student = each.heads[0]
            if student not in requested or not self.comes_first(section, student):
                break
            open_ = each.taken + each.reserved_left < each.spec.capacity
            if not open_ and not each.reserve_for(requested[student].reserves):
                each.aside.add(student)
                aside.append(student)
                continue
            reasons = self.consider(section, requested[student], at)
            if reasons:
                each.skipped[student] = tuple(reasons)
                each.aside.discard(student)
                self.tell("passed_over", section, student)
                skipped.append(student)
                if self.loses(each, student, reasons, passes):
                    self.lose(section, student)
            else:
                promoted.append(student)
        if each:
            self.look_at(section)
        more = bool(each and self.promises(section))
        return Promotion(tuple(promoted), tuple(skipped), more, self.called(), tuple(aside))

    def loses(
        self, each: Section, student: int, reasons: Sequence[Reason], passes: SkipRule | None
    ) -> bool:
        """Return whether the position is lost with this skip, by the term's rule."""
        codes = {reason.code for reason in reasons}
        if codes & {"drop_deadline", "withdraw_deadline"}:
            return False
        if not passes or (passes.codes and not codes & set(passes.codes)):
            return False
        each.passes[student] = each.passes.get(student, 0) + 1
        needed = self.losses(student, self.held(student), self.waits(student) - {each.spec.section})
        return each.passes[student] >= passes.most and not needed

    def lose(self, section: int, student: int) -> int:
        self.unqueue(section, student)
        return self.tell("left", section, student)

    def consider(self, section: int, who: Candidate, at: int) -> list[Reason]:
        """Return why a waiting student can't have the seat; no reasons if they now have it."""
        position, held = self.sections[section].queue[who.student], self.held(who.student)
        swap_out = position.swap_out if position.swap_out in held else 0
        rest = without(held, swap_out)
        part = claim_of(who, section, position.credits)
        reasons = self.objections(part, who, rest, set(), at)
        if swap_out:
            reasons += self.late_to_leave()
            reasons += self.losses(who.student, rest | {section: position.credits})
        if not reasons:
            self.unqueue(section, who.student)
            if swap_out:
                self.release(swap_out, who.student, at)
            self.enroll("promoted", part, who.student, at)
        return reasons

    # Sections

    def put_section(self, spec: SectionSpec, at: int) -> int:
        each = self.sections.setdefault(spec.section, Section(replace(spec, version=-1)))
        if spec.version <= each.spec.version:
            return 0
        each.spec, each.at = spec, at
        each.skipped.clear()
        each.aside.clear()
        left = self.share(each)
        seq = self.tell("section_set", spec.section)
        for other in (*each.others, *left):
            self.reconsider(other.spec.section)
        return seq

    def share(self, each: Section) -> list[Section]:
        """Put a section into its pool; return those that it no longer shares seats with."""
        number, wanted, before = each.spec.section, each.spec.pool, each.others
        if each.pool:
            del each.pool.sections[number]
        self.pools = {
            key: pool
            for key, pool in self.pools.items()
            if pool.sections or (wanted and key == wanted.id)
        }
        each.pool = None
        if wanted:
            pool = self.pools.setdefault(wanted.id, Pool(wanted.capacity, wanted.version))
            if wanted.version > pool.version:
                pool.capacity, pool.version = wanted.capacity, wanted.version
            pool.sections[number] = each
            each.pool = pool
            self.hold_with_pool(number, pool)
        return [other for other in before if other.pool is not each.pool]

    def hold_with_pool(self, section: int, pool: Pool) -> None:
        """Hold back a section that joins a pool if a round gives the pool's seats."""
        holders = [self.in_round[each] for each in sorted(pool.sections) if each in self.in_round]
        if holders and section not in self.in_round:
            self.hold_for_round(holders[0], [section])

    def empty(self, section: int, batch: int, at: int) -> bool:
        """Free one more batch; return whether a canceled section still has students."""
        each = self.sections[section]
        places = list(each.queue)[:batch]
        for student in places:
            self.unqueue(section, student)
            self.tell("left", section, student)
        for student in sorted(each.roster)[: batch - len(places)]:
            self.release(section, student, at)
        if each.queue or each.roster:
            self.call("promote")
        return bool(each.queue or each.roster)
