"""Allocation rounds in the model: seats held back, given in batches, and let go."""

from collections.abc import Iterator, Sequence

from portal.ledger.types import Candidate, Outcome, Reason, RoundAnswer, RoundMove
from tests.ledger.model_adjustments import Adjustments
from tests.ledger.model_submissions import Tried, full, no_reason


class Rounds(Adjustments):
    """Gives seats without a window, of sections that no one else may take."""

    def hold_for_round(self, number: int, sections: Sequence[int]) -> int:
        added = [each for each in sections if each not in self.in_round]
        self.in_round |= dict.fromkeys(added, number)
        return self.journal("round_held", 0) if added else 0

    def end_round(self, number: int) -> int:
        freed = sorted(each for each, holder in self.in_round.items() if holder == number)
        if not freed:
            return 0
        for each in freed:
            del self.in_round[each]
        seq = self.journal("round_ended", 0)
        for each in freed:
            if each in self.sections:
                self.look_at(each)
        return seq

    def allocate(self, number: int, moves: Sequence[RoundMove], at: int) -> list[RoundAnswer]:
        """Decide each move once; a key that was used for something else does not stop it."""
        self.giving, answers = number, []
        for move in moves:
            content = ("allocate", number, move.turn, move.wait)
            stored = self.requests.get((move.student, move.idempotency_key))
            if stored and stored[0] == content:
                answers.append(stored[1])
                continue
            decide = self.queue_in_round if move.wait else self.give_in_round
            answers.append(decide(move, at))
            if not stored:
                self.keep(move.student, move.idempotency_key, content, answers[-1])
        self.giving = 0
        return answers

    def give_in_round(self, move: RoundMove, at: int) -> RoundAnswer:
        tried = self.trial(Candidate(move.student, (), move.credit_limit), move.claims, 0, at)
        if not (no_reason(tried) and all(each.sure for each in tried)):
            against = {each.part.section: (*each.reasons, *self.lacks(each)) for each in tried}
            return RoundAnswer(Outcome.REFUSED, against)
        for each in tried:
            if each.how == "seat":
                self.enroll("enrolled", each.part, move.student, at)
        return RoundAnswer(Outcome.ENROLLED)

    def queue_in_round(self, move: RoundMove, at: int) -> RoundAnswer:
        [part], student = move.claims, move.student
        held = self.held(student)
        if part.section in held or part.section in self.waits(student):
            return RoundAnswer(Outcome.WAITLISTED)
        reasons = self.objections(part, Candidate(student, (), move.credit_limit), held, set(), at)
        each = self.sections.get(part.section)
        if each and len(each.queue) >= each.spec.waitlist:
            reasons.append(Reason("waitlist_full", full(each)))
        if reasons:
            return RoundAnswer(Outcome.REFUSED, {part.section: tuple(reasons)})
        self.join(part, student, 0, at)
        return RoundAnswer(Outcome.WAITLISTED)

    def lacks(self, tried: Tried) -> Iterator[Reason]:
        if tried.how in {"room", "full"}:
            yield Reason("full", full(self.sections[tried.part.section]))

    def window(self, windows: Sequence[int], at: int) -> list[Reason]:
        """Return why no window is open; a round needs none."""
        return [] if self.giving else super().window(windows, at)
