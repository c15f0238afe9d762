"""What stands in the way, in words: of one section, or of each that is asked for together."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain, repeat
from urllib.parse import urlsplit

from portal.ledger.types import Decision, Outcome, Reason
from portal.recorder.receipts import code
from portal.registration.next_steps import NextStep
from portal.registration.reasons import Explanation, any_lasting, explain
from portal.student.scene import Scene

BECAUSE_OF_ANOTHER = {"together", "already_enrolled"}


@dataclass(frozen=True)
class Refusal:
    """Why a section can't be had; its name is blank where only one was asked for."""

    name: str
    reasons: list[Explanation]


@dataclass(frozen=True)
class Refused:
    """All that stands in the way, and the receipts where the ledger has said so.

    `replayed` says when the form was answered before, `retry` that it may be sent again now.
    """

    refusals: list[Refusal]
    receipts: list[str]
    replayed: str = ""
    retry: bool = False

    @property
    def open(self) -> bool:
        """Whether the form has a button to send it."""
        return self.retry or not self.refusals

    @property
    def number(self) -> int:
        """How many things stand in the way."""
        return sum(len(each.reasons) for each in self.refusals)

    @property
    def urls(self) -> set[str]:
        """Where the next steps lead."""
        return {each.step.url for one in self.refusals for each in one.reasons if each.step}

    def with_step(self, code: str, step: NextStep) -> "Refused":
        """The same with one step for all reasons of that code, at the first of them."""
        steps = chain([step], repeat(None))
        refusals = [
            replace(
                one,
                reasons=[
                    replace(each, step=next(steps)) if each.code == code else each
                    for each in one.reasons
                ],
            )
            for one in self.refusals
        ]
        return replace(self, refusals=refusals)


NOTHING = Refused([], [])


def foreseen(section: int, reasons: Iterable[Reason]) -> Decision:
    """What would be refused, as if it had been."""
    return Decision(Outcome.REFUSED, at=0, section=section, reasons=tuple(reasons))


def to_show(answers: Sequence[Decision], section: int, known: Sequence[Reason]) -> list[Decision]:
    """The refusals that a form shows: the ledger's, or what is known to stand in the way now.

    A replayed refusal may be out of date: it is shown where nothing is known against the section.
    """
    if answers and not (answers[0].replayed and known):
        return list(answers)
    return [foreseen(section, known)]


def dated(
    told: Refused, now: Scene, answers: Sequence[Decision], known: Sequence[Reason]
) -> Refused:
    """The same with the time of a replayed answer, and its receipts."""
    if not answers or not answers[0].replayed:
        return told
    when = now.when(answers[0].at)
    codes = receipts(now.term.id, answers)
    return replace(told, receipts=codes, replayed=when, retry=not known)


def in_words(now: Scene, answers: Sequence[Decision], instead: int = 0) -> Refused:
    """The refusals among the answers; no next step comes twice, or leads back to their form."""
    offered: set[str] = set()
    stays = any_lasting(reason for each in answers for reason in each.reasons)
    own = [each for each in answers if {one.code for one in each.reasons} - BECAUSE_OF_ANOTHER]
    refusals = [
        _told(now, each, offered, instead, alone=len(answers) == 1)
        for each in own or answers
        if each.reasons
    ]
    if stays:  # all of them are had together or none
        refusals = [
            replace(one, reasons=[why.without_form for why in one.reasons]) for one in refusals
        ]
    return Refused(refusals, receipts(now.term.id, answers))


def receipts(term: int, answers: Iterable[Decision]) -> list[str]:
    """The receipts' codes of decisions."""
    return [code(term, each.seq) for each in answers if each.seq]


def _told(
    now: Scene, refused: Decision, offered: set[str], instead: int, *, alone: bool
) -> Refusal:
    case = replace(now.case(now.catalog.section(refused.section)), instead=instead)
    own = {case.url(refused.section, "pick")}
    if instead:
        own.add(case.url(refused.section, f"swap?instead={instead}"))
    reasons = [_without(each, own, offered) for each in explain(refused.reasons, case)]
    return Refusal("" if alone else case.named(refused.section), reasons)


def _without(reason: Explanation, own: set[str], offered: set[str]) -> Explanation:
    """The reason without a step that stands there already, or leads to the form it is told in."""
    if reason.step is None:
        return reason
    url = reason.step.url
    if url in offered or own & {url, urlsplit(url).path}:
        return replace(reason, step=None)
    offered.add(url)
    return reason
