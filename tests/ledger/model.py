"""The ledger once more, in plain Python: what it must say, told the time at which it says it."""

from collections.abc import Sequence
from dataclasses import replace

from portal.seats.ledger import Answer, Candidate, Outcome, Part, Promotion, Reason, SectionSpec
from tests.ledger.model_book import Section
from tests.ledger.model_wishes import Wishes, without


class Model(Wishes):
    """One term: who may drop and leave, and who comes next."""

    # Selections

    def drop(
        self,
        leaving: Sequence[int],
        who: Candidate,
        days: list[tuple[int, str]],
        limit: int,
        at: int,
    ) -> Answer:
        held, student = self.held(who.student), who.student
        section, *along = leaving
        day = max(index for index, (start, _) in enumerate(days) if start <= at)
        used = self.drops.get((student, days[day][1]), 0)
        reasons = self.window(who.windows, at)
        if section not in held:
            reasons.append(Reason("not_enrolled"))
        reasons += [Reason("not_enrolled", {"section": each}) for each in along if each not in held]
        if used >= limit:
            reasons.append(Reason("drop_limit", {"limit": limit, "resets": days[day + 1][0]}))
        reasons += self.losses(student, without(held, *leaving))
        if reasons:
            return self.refuse(section, student, at, reasons)
        self.drops[student, days[day][1]] = used + 1
        said, *_ = [self.release(each, student, at) for each in leaving]
        return said

    def leave(self, section: int, student: int, at: int) -> Answer:
        each = self.sections.get(section)
        if not each or student not in each.queue:
            return self.refuse(section, student, at, [Reason("not_waiting")])
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
            reasons = self.consider(section, asked[student], at)
            if reasons:
                each.passed[student] = tuple(reasons)
                self.tell("passed_over", section, student)
                passed.append(student)
            else:
                promoted.append(student)
        if each:
            self.look_at(section)
        more = bool(each and each.vacant)
        return Promotion(tuple(promoted), tuple(passed), more, self.called())

    def consider(self, section: int, who: Candidate, at: int) -> list[Reason]:
        """Why a waiter can't have the seat; none once it is theirs."""
        place, held = self.sections[section].queue[who.student], self.held(who.student)
        instead = place.instead if place.instead in held else 0
        rest = without(held, instead)
        part = Part(section, place.credits, who.corequisites, who.rules, who.waived)
        reasons = self.objections(part, who, rest, set(), at)
        if instead:
            reasons += self.losses(who.student, rest | {section: place.credits})
        if not reasons:
            del self.sections[section].queue[who.student]
            if instead:
                self.release(instead, who.student, at)
            self.enroll("promoted", part, who.student, at)
        return reasons

    # Sections

    def put_section(self, spec: SectionSpec) -> int:
        each = self.sections.setdefault(spec.section, Section(replace(spec, version=-1)))
        if spec.version <= each.spec.version:
            return 0
        each.spec = spec
        each.passed.clear()
        return self.tell("section_set", spec.section)
