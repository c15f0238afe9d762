"""The ledger once more, in plain Python: what it must say, told the time at which it says it."""

from collections.abc import Sequence
from dataclasses import replace

from portal.seats.ledger import Answer, Candidate, Outcome, Promotion, Reason, SectionSpec, Waiting
from tests.ledger.courses import fulfilled, minutes, missing
from tests.ledger.model_book import Section
from tests.ledger.model_windows import Calendar


class Model(Calendar):
    """One term: who may claim, drop and leave, and who comes next."""

    # Why not

    def objections(self, section: int, wanted: int, who: Candidate, at: int) -> list[Reason]:
        reasons = self.window(who.windows, at)
        if section not in self.sections:
            return [*reasons, Reason("section_unknown"), *who.rules]
        spec = self.sections[section].spec
        mine = {
            held.section: self.sections[held.section].spec
            for held in self.standing(who.student).enrolled
        }
        courses = {each.course for each in mine.values()}
        if spec.status != "OPEN":
            reasons.append(Reason(f"section_{spec.status.lower()}"))
        reasons += [
            Reason("same_course", {"section": number})
            for number, other in mine.items()
            if other.course == spec.course
        ]
        reasons += [
            Reason("time_conflict", {"section": number})
            for number, other in mine.items()
            if minutes(spec.times) & minutes(other.times)
        ]
        if not spec.credits_min <= wanted <= spec.credits_max:
            reasons.append(
                Reason("credit_range", {"min": spec.credits_min, "max": spec.credits_max})
            )
        held_credits = sum(held.credits for held in self.standing(who.student).enrolled)
        if held_credits + wanted > who.limit:
            sum_ = {"held": held_credits, "adds": wanted, "limit": who.limit}
            reasons.append(Reason("credit_limit", sum_))
        if who.corequisites and not fulfilled(who.corequisites, courses):
            reasons.append(Reason("corequisite", {"missing": missing(who.corequisites, courses)}))
        return [*reasons, *who.rules]

    # Selections

    def claim(self, section: int, who: Candidate, wanted: int, at: int, *, wait: bool) -> Answer:
        standing = self.standing(who.student)
        for place in standing.waiting:
            if place.section == section:
                if self.sections[section].passed.pop(who.student, None):
                    self.tell("reconsidered", section, who.student)
                position = {"position": place.position}
                return self.refuse(section, at, [Reason("already_waiting", position)])
        if any(held.section == section for held in standing.enrolled):
            return self.refuse(section, at, [Reason("already_enrolled")])
        reasons = self.objections(section, wanted, who, at)
        each = self.sections.get(section)
        seat = each and each.free and not each.actives
        if each and not seat:
            size = {"waiting": len(each.queue), "waitlist_capacity": each.spec.waitlist}
            if not wait:
                reasons.append(Reason("full", size))
            elif len(each.queue) >= each.spec.waitlist:
                reasons.append(Reason("waitlist_full", size))
        if reasons or not each:
            return self.refuse(section, at, reasons)
        if seat:
            seq = self.enroll("enrolled", section, who.student, wanted, at)
            return self.answer(Outcome.ENROLLED, section, at, seq=seq, registration=seq)
        ticket = len(self.events) + 1
        each.queue[who.student] = Waiting(section, wanted, ticket, at, 0, 0)
        self.tell("waitlisted", section, who.student)
        position = len(each.queue)
        return self.answer(Outcome.WAITLISTED, section, at, seq=ticket, position=position)

    def drop(
        self, section: int, who: Candidate, days: list[tuple[int, str]], limit: int, at: int
    ) -> Answer:
        held = {each.section: each for each in self.standing(who.student).enrolled}
        day = max(index for index, (start, _) in enumerate(days) if start <= at)
        used = self.drops.get((who.student, days[day][1]), 0)
        reasons = self.window(who.windows, at)
        if section not in held:
            reasons.append(Reason("not_enrolled"))
        if used >= limit:
            reasons.append(Reason("drop_limit", {"limit": limit, "resets": days[day + 1][0]}))
        if reasons:
            return self.refuse(section, at, reasons)
        self.drops[who.student, days[day][1]] = used + 1
        del self.sections[section].roster[who.student]
        self.sections[section].passed.clear()
        seq = self.tell("dropped", section, who.student)
        self.reprieve(who.student)
        registration = held[section].registration
        return self.answer(Outcome.DROPPED, section, at, seq=seq, registration=registration)

    def leave(self, section: int, student: int, at: int) -> Answer:
        each = self.sections.get(section)
        if not each or student not in each.queue:
            return self.refuse(section, at, [Reason("not_waiting")])
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
            wanted = each.queue[student].credits
            reasons = self.objections(section, wanted, asked[student], at)
            if reasons:
                each.passed[student] = tuple(reasons)
                self.tell("passed_over", section, student)
                passed.append(student)
            else:
                del each.queue[student]
                self.enroll("promoted", section, student, wanted, at)
                promoted.append(student)
        if each:
            self.look_at(section)
        more = bool(each and each.vacant)
        wake, self.wake = tuple(self.wake), []
        return Promotion(tuple(promoted), tuple(passed), more, wake)

    # Sections

    def put_section(self, spec: SectionSpec) -> int:
        each = self.sections.setdefault(spec.section, Section(replace(spec, version=-1)))
        if spec.version <= each.spec.version:
            return 0
        each.spec = spec
        each.passed.clear()
        return self.tell("section_set", spec.section)
