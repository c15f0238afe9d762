"""What came of a plan, line by line, as a student reads it."""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Literal

from portal.core.i18n import _, _n
from portal.ledger.types import ChoiceResult, Decision, Outcome, SubmissionResult
from portal.recorder.receipts import code
from portal.registration.next_steps import RefusalContext
from portal.registration.plans import Plan
from portal.registration.reasons import Explanation, explain
from portal.registration.requests import Alternative, Choice
from portal.student.scene import titled

Word = Literal["enrolled", "waitlisted", "had", "refused"]

HAD = {"already_enrolled", "already_waiting"}
# What is said once for the whole plan, as it stands in the way of each line alike.
COMMON = {"window_unscheduled", "window_before", "window_ended", "hold"}


@dataclass(frozen=True)
class Missed:
    """An option that could not be had, and why."""

    name: str
    reasons: list[Explanation]


@dataclass(frozen=True)
class Settled:
    """What came of a line: `name` is what was taken, or the first choice where nothing was."""

    word: Word
    name: str
    title: str
    text: str
    missed: list[Missed]
    receipts: list[str]


@dataclass(frozen=True)
class Result:
    """What came of all lines, those of one kind counted."""

    lines: list[Settled]
    common: list[Explanation]
    summary: str
    changed: bool


def result(plan: Plan, decided: SubmissionResult, case: RefusalContext) -> Result:
    """The answers to a plan in words; `case` is of no section."""
    lines = [_settled(*each, case) for each in zip(plan.choices, decided.lines, strict=True)]
    words = Counter(each.word for each in lines)
    return Result(lines, _common(decided, case), summary(words), words["refused"] < len(lines))


def fulfilled(plan: Plan, decided: SubmissionResult) -> list[int]:
    """A section of each line that is had or waited for now."""
    pairs = zip(plan.choices, decided.lines, strict=True)
    return [line.sections[0] for line, answer in pairs if _word(answer) != "refused"]


def summary(words: "Counter[Word]") -> str:
    """How many lines of each kind: `2 selected, 1 on a waitlist`."""
    texts: dict[Word, str] = {
        "enrolled": _n("%(num)s selected", "%(num)s selected", words["enrolled"]),
        "waitlisted": _n("%(num)s on a waitlist", "%(num)s on waitlists", words["waitlisted"]),
        "had": _n("%(num)s yours already", "%(num)s yours already", words["had"]),
        "refused": _n("%(num)s refused", "%(num)s refused", words["refused"]),
    }
    return ", ".join(text for word, text in texts.items() if words[word])


def _word(answer: ChoiceResult) -> Word:
    if answer.outcome == Outcome.ENROLLED:
        return "enrolled"
    if answer.outcome == Outcome.WAITLISTED:
        return "waitlisted"
    return "had" if any(map(_had, answer.refused)) else "refused"


def _had(answers: tuple[Decision, ...]) -> bool:
    codes = [{reason.code for reason in each.reasons} for each in answers]
    return all(found & HAD for found in codes)


def _settled(line: Choice, answer: ChoiceResult, case: RefusalContext) -> Settled:
    word, chosen = _word(answer), _chosen(line, answer)
    missed = [] if word == "had" else [_missed(each, case) for each in answer.refused]
    sections = [part.section for part in chosen]
    name, title = _named(sections, case), _titled(sections, case)
    decided = answer.taken or [each for option in answer.refused for each in option]
    receipts = _receipts(decided, case)
    return Settled(word, name, title, _text(word, answer, case), missed, receipts)


def _chosen(line: Choice, answer: ChoiceResult) -> Alternative:
    if answer.rank:
        return line.alternatives[answer.rank - 1]
    had = [{each.section for each in one} for one in answer.refused if _had(one)]
    found = (each for each in line.alternatives if {part.section for part in each} in had)
    return next(found, line.alternatives[0])


def _text(word: Word, answer: ChoiceResult, case: RefusalContext) -> str:
    """What more there is to say of a line that was had: which choice it is, and places in line."""
    choice = _("It is your choice no. %(rank)s.", rank=answer.rank) if answer.rank > 1 else ""
    if word != "waitlisted":
        return choice
    places = [
        _(
            "Place %(place)s on the waitlist of %(name)s.",
            place=each.position,
            name=case.named(each.section),
        )
        for each in answer.taken
        if each.outcome == Outcome.WAITLISTED
    ]
    return " ".join([*places, choice]).strip()


def _missed(answers: tuple[Decision, ...], case: RefusalContext) -> Missed:
    reasons = [told_ for each in answers for told_ in _told(each, case)]
    once = list({each.text: each for each in reasons}.values())
    return Missed(_named([each.section for each in answers], case), once)


def _told(answer: Decision, case: RefusalContext) -> list[Explanation]:
    all_ = explain(answer.reasons, replace(case, section=case.catalog.section(answer.section)))
    return [each for each in all_ if each.code not in COMMON]


def _common(decided: SubmissionResult, case: RefusalContext) -> list[Explanation]:
    refused = [each for line in decided.lines for option in line.refused for each in option]
    reasons = [each for answer in refused for each in answer.reasons if each.code in COMMON]
    return list({each.text: each for each in explain(reasons, case)}.values())


def _receipts(answers: Iterable[Decision], case: RefusalContext) -> list[str]:
    return [code(case.catalog.term.id, each.seq) for each in answers if each.seq]


def _named(sections: list[int], case: RefusalContext) -> str:
    return " + ".join(case.named(section) for section in sections)


def _titled(sections: list[int], case: RefusalContext) -> str:
    """What the first of the sections is called, that of a lecture rather than its lab's."""
    cards = [card for section in sections if (card := case.catalog.published(section))]
    return titled(case.catalog, cards[0]) if cards else ""
