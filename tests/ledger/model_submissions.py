"""Submissions in the model: every rule, alternative by alternative."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Literal

from portal.ledger.types import (
    Candidate,
    ChoiceResult,
    Claim,
    Decision,
    LedgerChoice,
    Outcome,
    Reason,
    RuleFacts,
    WaitlistPosition,
)
from tests.ledger.brute_force import fulfilled, minutes, missing
from tests.ledger.model_state import Section
from tests.ledger.model_windows import Calendar

Seats = dict[int, int]  # credits by section


@dataclass
class Tried:
    """A part of an alternative: its state, and the reasons against it."""

    part: Claim
    how: Literal["unknown", "had", "waits", "seat", "room", "full"]
    reasons: list[Reason]

    @property
    def sure(self) -> bool:
        return self.how in {"had", "seat"}


class Wishes(Calendar):
    """Decides submissions and swaps."""

    def submit(
        self, who: Candidate, lines: Sequence[LedgerChoice], at: int
    ) -> tuple[ChoiceResult, ...]:
        self.window(who.windows, at)
        return tuple(self.decide(who, line, at) for line in lines)

    def decide(self, who: Candidate, line: LedgerChoice, at: int) -> ChoiceResult:
        if self.plans_swap(who.student, line):
            late = [*self.late_to_add(), *self.late_to_leave()]
            if not late:
                return self.plan_swap(who.student, line, at)
            [tried] = self.trial(who, line.alternatives[0], 0, at)
            option = [replace(tried, reasons=late)]
            return ChoiceResult(
                Outcome.REFUSED, refused=(self.turn_down(who.student, option, line, at),)
            )
        for option in line.alternatives:
            tried = self.trial(who, option, 0, at)
            if all(each.how in {"had", "waits"} for each in tried):
                return ChoiceResult(
                    Outcome.REFUSED, refused=(self.turn_down(who.student, tried, line, at),)
                )
        trials = list(self.trials(who, line, at))
        whole = [each for each in trials if all(part.sure for part in each) and no_reason(each)]
        lined = [each for each in trials if line.wait and waitable(each)]
        chosen = next(iter(whole or lined), None)
        refused = [each for each in trials if each is not chosen]
        result = tuple(self.turn_down(who.student, each, line, at) for each in refused)
        if chosen is None:
            return ChoiceResult(Outcome.REFUSED, refused=result)
        taken = tuple(self.take(who.student, chosen, line, at))
        outcome = Outcome.ENROLLED if whole else Outcome.WAITLISTED
        return ChoiceResult(outcome, trials.index(chosen) + 1, taken, result)

    # Refusals

    def trials(self, who: Candidate, line: LedgerChoice, at: int) -> Iterator[list[Tried]]:
        """Return each alternative up to the first that can be taken completely."""
        for option in line.alternatives:
            tried = self.trial(who, option, line.swap_out or 0, at, wait=line.wait)
            yield tried
            if no_reason(tried) and all(part.sure for part in tried):
                return

    def trial(
        self, who: Candidate, option: Sequence[Claim], swap_out: int, at: int, *, wait: bool = False
    ) -> list[Tried]:
        held = self.held(who.student)
        rest = without(held, swap_out)
        tried: list[Tried] = []
        ways: list[Tried] = []
        for part in option:
            more = self.of_the_pool(part, ways)
            ways.append(Tried(part, self.outcome_of(who.student, part, swap_out, more), []))
        for part in option:
            more = self.of_the_pool(part, tried)
            how, reasons = self.outcome_of(who.student, part, swap_out, more), []
            if how == "had" and part.section == swap_out:
                reasons = [Reason("already_enrolled")]
            elif how == "waits":
                position = list(self.sections[part.section].queue).index(who.student) + 1
                reasons = [Reason("already_waiting", {"position": position})]
            elif how != "had":
                along, missed = self.company(part, ways, wait=wait)
                reasons = self.objections(part, who, rest, along, at)
                reasons = [waiting(each, missed) for each in reasons]
                rest |= {part.section: part.credits} if how != "unknown" else {}
            tried.append(Tried(part, how, reasons))
        if swap_out and swap_out not in held:
            tried[0].reasons.append(Reason("not_enrolled", {"section": swap_out}))
        gained = next((each for each in tried if each.how not in {"had", "waits"}), None)
        if swap_out and gained:
            seated = any(each.how == "seat" for each in tried)
            after = without(
                rest, *(each.part.section for each in tried if seated and not each.sure)
            )
            lined = {each.part.section for each in tried if each.part.section not in after}
            gained.reasons += self.late_to_leave()
            gained.reasons += self.losses(
                who.student, after, self.waits(who.student) | lined & self.sections.keys()
            )
        return tried

    def company(
        self, part: Claim, ways: Sequence[Tried], *, wait: bool
    ) -> tuple[set[int], set[int]]:
        """Return the courses that a part is taken with, and those that are only waitlisted."""
        [own] = [each for each in ways if each.part is part]
        own_course = self.courses([part.section])
        along, missed = set(), set()
        for other in ways:
            course = self.courses([other.part.section])
            back = own_course & named(other.part.corequisites)
            if other.sure or not (wait and own.how == "seat") or back:
                along |= course
            else:
                missed |= course
        return along, missed

    def of_the_pool(self, part: Claim, tried: Sequence[Tried]) -> int:
        """Return the seats of its pool that go to other parts."""
        each = self.sections.get(part.section)
        members = each.pool.sections if each and each.pool else ()
        return sum(one.how == "seat" and one.part.section in members for one in tried)

    def outcome_of(
        self, student: int, part: Claim, swap_out: int, more: int
    ) -> Literal["unknown", "had", "waits", "seat", "room", "full"]:
        each = self.sections.get(part.section)
        if not each:
            return "unknown"
        if student in each.roster:
            return "had"
        if student in each.queue:
            return "waits"
        if self.claimable(part, swap_out, more):
            return "seat"
        return "room" if len(each.queue) < each.spec.waitlist else "full"

    def objections(
        self, part: Claim, who: Candidate, mine: Seats, along: set[int], at: int
    ) -> list[Reason]:
        reasons = [*self.window(who.windows, at), *self.late_to_add()]
        if part.section not in self.sections:
            reasons.append(Reason("section_unknown"))
        else:
            reasons += self.of_section(part, who.credit_limit, mine, along)
        reasons += part.rules
        found = {each.code for each in reasons}
        self.permitted[id(part)] = [code for code in part.waived if code in found]
        return [each for each in reasons if each.code not in part.waived]

    def of_section(
        self, part: Claim, credit_limit: int, mine: Seats, along: set[int]
    ) -> Iterator[Reason]:
        status = self.sections[part.section].spec.status
        if status != "OPEN":
            yield Reason(f"section_{status.lower()}")
        if self.round_of(part.section):
            yield Reason("in_round")
        yield from self.of_seats(part, mine)
        yield from self.of_credits(part, credit_limit, mine)
        courses = self.courses(mine) | along
        needs = part.corequisites or part.waived_corequisites
        if needs and not fulfilled(needs, courses):
            yield Reason("corequisite", {"missing": missing(needs, courses)})

    def of_seats(self, part: Claim, mine: Seats) -> Iterator[Reason]:
        spec = self.sections[part.section].spec
        others = {number: self.sections[number].spec for number in sorted(mine)}
        for number, other in others.items():
            if other.course == spec.course:
                yield Reason("same_course", {"section": number})
        for number, other in others.items():
            if minutes(spec.times) & minutes(other.times):
                yield Reason("time_conflict", {"section": number})

    def of_credits(self, part: Claim, credit_limit: int, mine: Seats) -> Iterator[Reason]:
        spec, held = self.sections[part.section].spec, sum(mine.values())
        if not spec.credits_min <= part.credits <= spec.credits_max:
            yield Reason("credit_range", {"min": spec.credits_min, "max": spec.credits_max})
        if held + part.credits > credit_limit:
            facts = {"held": held, "adds": part.credits, "limit": credit_limit}
            yield Reason("credit_limit", facts)

    def losses(self, student: int, after: Seats, lined: set[int] | None = None) -> list[Reason]:
        """Return seats that would lose a corequisite; a seat outranks a waitlist position."""
        held, waits = self.held(student), self.waits(student)
        places = waits if lined is None else lined
        needs = {each: self.sections[each].needs.get(student) for each in sorted(after)}
        return [
            Reason("needed_by", {"section": section, "missing": missing(tree, self.courses(after))})
            for section, tree in needs.items()
            if tree
            and self.level(tree, after, self.stand_ins(section, student, places))
            < self.level(tree, held, self.stand_ins(section, student, waits))
        ]

    def stand_ins(self, section: int, student: int, places: Iterable[int]) -> set[int]:
        """Return the waitlist positions taken in the same step as the seat; no others count."""
        since = self.sections[section].roster[student].at
        queues = {each: self.sections[each].queue for each in places if each in self.sections}
        return {
            each
            for each, queue in queues.items()
            if student in queue and queue[student].at == since
        }

    def level(self, tree: dict[str, Any], seats: Iterable[int], places: Iterable[int]) -> int:
        """Return 2 if seats meet it, 1 if it takes waitlist positions too, else 0."""
        courses = self.courses(seats)
        if fulfilled(tree, courses):
            return 2
        return int(fulfilled(tree, courses | self.courses(places)))

    def turn_down(
        self, student: int, tried: Sequence[Tried], line: LedgerChoice, at: int
    ) -> tuple[Decision, ...]:
        for each in tried:
            if each.how in {"room", "full"}:
                section = self.sections[each.part.section]
                code = "waitlist_full" if line.wait and each.how == "full" else "full"
                each.reasons.append(Reason(code, full(section)))
        culprits = [each.part.section for each in tried if each.reasons]
        for each in tried:
            if each.how == "had" and not each.reasons:
                each.reasons.append(Reason("already_enrolled"))
        return tuple(self.turned_down(student, each, culprits[:1], at) for each in tried)

    def turned_down(self, student: int, tried: Tried, culprit: Sequence[int], at: int) -> Decision:
        section = tried.part.section
        together = [Reason("together", {"section": each}) for each in culprit]
        answer = self.refuse(section, student, at, tried.reasons or together)
        if tried.how == "waits" and self.sections[section].skipped.pop(student, None):
            self.tell("reconsidered", section, student)
        return answer

    # Changes

    def take(
        self, student: int, tried: Sequence[Tried], line: LedgerChoice, at: int
    ) -> Iterator[Decision]:
        swap_out = line.swap_out or 0
        goes = any(each.how == "seat" for each in tried) and swap_out
        if goes:
            self.release(goes, student, at)
        for each in tried:
            section, part = each.part.section, each.part
            if each.how == "had":
                mine = [Reason("already_enrolled")]
                yield Decision(Outcome.REFUSED, at, section=section, reasons=tuple(mine))
            elif each.how == "seat":
                answer = self.enroll("enrolled", part, student, at)
                yield replace(answer, swap_out=goes or 0)
            else:
                yield self.join(part, student, 0 if goes else swap_out, at)

    def plans_swap(self, student: int, line: LedgerChoice) -> bool:
        if len(line.alternatives) > 1 or len(line.alternatives[0]) > 1 or not line.wait:
            return False
        each = self.sections.get(line.alternatives[0][0].section)
        position = each and each.queue.get(student)
        return bool(
            position and line.swap_out in self.held(student) and position.swap_out != line.swap_out
        )

    def plan_swap(self, student: int, line: LedgerChoice, at: int) -> ChoiceResult:
        section, swap_out = line.alternatives[0][0].section, line.swap_out or 0
        each = self.sections[section]
        each.queue[student] = replace(each.queue[student], swap_out=swap_out)
        each.skipped.pop(student, None)
        seq = self.tell("swap_planned", section, student)
        answer = self.answer(
            Outcome.WAITLISTED,
            section,
            at,
            seq=seq,
            position=list(each.queue).index(student) + 1,
            swap_out=swap_out,
        )
        return ChoiceResult(Outcome.WAITLISTED, 1, (answer,))

    def join(self, part: Claim, student: int, swap_out: int, at: int) -> Decision:
        section, ticket = part.section, len(self.events) + 1
        each = self.sections[section]
        each.queue[student] = WaitlistPosition(
            section, part.credits, ticket, at, 0, 0, swap_out=swap_out, band=part.band or 1
        )
        order = sorted(each.queue.items(), key=lambda entry: entry[1].place)
        each.queue.clear()
        each.queue |= dict(order)
        if each.reserved_left and not each.reserve_for(part.reserves):
            each.aside.add(student)
        self.tell("waitlisted", section, student, self.permitted[id(part)])
        position = list(each.queue).index(student) + 1
        return self.answer(
            Outcome.WAITLISTED, section, at, seq=ticket, position=position, swap_out=swap_out
        )


def claim_of(who: Candidate, section: int, worth: int) -> Claim:
    """Return the candidate's claim to a section."""
    return Claim(
        section, worth, **{each.name: getattr(who, each.name) for each in fields(RuleFacts)}
    )


def named(tree: dict[str, Any] | None) -> set[int]:
    """Return all courses of a tree."""
    if not tree:
        return set()
    if "course" in tree:
        return {tree["course"]}
    return set().union(*(named(each) for each in tree.get("all") or tree["any"]))


def waiting(reason: Reason, missed: set[int]) -> Reason:
    """Return the reason; a missing corequisite is marked as only waitlisted."""
    if reason.code != "corequisite" or not missed & set(reason.facts["missing"]):
        return reason
    return Reason(reason.code, reason.facts | {"waiting": True})


def full(section: Section) -> dict[str, Any]:
    """Return the reason of a section that has no seat for the student."""
    facts = {"waiting": len(section.queue), "waitlist_capacity": section.spec.waitlist}
    stored = (
        min(section.reserved_left, section.spec.capacity - section.taken) if section.room else 0
    )
    keepers = [each.id for each in section.spec.reserves if section.keeps(each.id)]
    return facts | ({"kept": stored, "kept_for": keepers} if stored else {})


def no_reason(tried: Iterable[Tried]) -> bool:
    return not any(each.reasons for each in tried)


def waitable(tried: Sequence[Tried]) -> bool:
    """Return whether full parts have waitlist room, and at least one part has a seat."""
    if not no_reason(tried) or any(each.how == "full" for each in tried):
        return False
    return len(tried) == 1 or any(each.sure for each in tried)


def without(seats: Seats, *gone: int) -> Seats:
    return {section: worth for section, worth in seats.items() if section not in gone}
