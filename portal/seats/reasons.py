"""Refusals in plain words: what is wrong, and the next step as a link where there is one."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

from portal.ledger.types import Reason
from portal.seats.case import Case, Step
from portal.seats.sentences import SENTENCES, unknown

IN_THE_WAY = ("same_course", "time_conflict")
# What the student can do something about at once; beside any other reason, none of it helps.
OWN_DOING = {
    *IN_THE_WAY,
    *("credit_limit", "credit_range", "corequisite", "full", "needed_by", "together"),
    *("already_enrolled", "already_waiting", "not_enrolled", "not_waiting"),
}


@dataclass(frozen=True)
class Told:
    """A reason as a student reads it; `code` stays for those who test or count it."""

    code: str
    text: str
    step: Step | None = None

    @property
    def formless(self) -> "Told":
        """The same without a step to a form, where that would be refused."""
        return replace(self, step=None) if self.step and self.step.asks else self


def told(reasons: Iterable[Reason], case: Case) -> list[Told]:
    """Each reason with its sentence and next step, in the order given; no step comes twice.

    A form is offered only where nothing else would refuse what it asks for.
    """
    reasons, found, offered = list(reasons), [], set[str]()
    case = replace(case, swap=_in_exchange(reasons, case))
    for reason in reasons:
        text, step = SENTENCES.get(reason.code, unknown)(reason.facts, case)
        if step and (step.url in offered or (step.asks and not _helps(reason, reasons))):
            step = None
        offered |= {step.url} if step else set()
        found.append(Told(reason.code, text, step))
    return found


def lasting(reasons: Iterable[Reason]) -> bool:
    """Whether one of the reasons stays, whatever the student does about the others."""
    return any(each.code not in OWN_DOING for each in reasons)


def _helps(reason: Reason, reasons: list[Reason]) -> bool:
    """Whether a form that answers the reason leads on, as no other reason stays for good."""
    others = {each.code for each in reasons if each.code != reason.code}
    alone = reason.code != "full" or not others - {
        "corequisite",
        "together",
    }  # a list has rules too
    return alone and others <= OWN_DOING


def _in_exchange(reasons: list[Reason], case: Case) -> int:
    """The one seat that could be given up so that nothing held stands in the way; else 0."""
    seats = [each for each in reasons if not each.facts.get("planned")]
    blocking = {each.facts["section"] for each in seats if each.code in IN_THE_WAY}
    over = next((each.facts for each in seats if each.code == "credit_limit"), None)
    if case.instead or case.waits or len(blocking) > 1:
        return 0
    enough = blocking if over is None else _enough(case, over["held"] + over["adds"], over["limit"])
    fitting = enough & blocking if blocking else enough
    return fitting.pop() if len(fitting) == 1 else 0


def _enough(case: Case, total: int, limit: int) -> set[int]:
    """The seats without any one of which the total (hundredths) is within the limit."""
    return {section for section, amount in case.held.items() if total - amount <= limit}
