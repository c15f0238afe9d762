"""What a student reads of a published round: each choice, what came of it, and why."""

from dataclasses import dataclass
from typing import Any

from portal.allocation.result import Why
from portal.catalog.term_catalog import TermCatalog, catalog_of
from portal.catalog.time_conflicts import same_time_in_words
from portal.core.db import transaction
from portal.core.i18n import _, _l
from portal.ledger.types import Reason
from portal.registration.next_steps import RefusalContext
from portal.registration.plans import unpack
from portal.registration.reasons import distinct, explain
from portal.registration.requests import Alternative, Choice
from portal.rounds.models import BallotRow
from portal.windows.models import Round

BEYOND_LIMITS = ["limits", {}]  # in place of what the ledger did


@dataclass(frozen=True)
class AlternativeOutcome:
    """One alternative of a choice: its sections by name, whether it was given, and why."""

    name: str
    seated: bool
    texts: tuple[str, ...]


@dataclass(frozen=True)
class ChoiceOutcome:
    """A choice and its alternatives by rank."""

    alternatives: tuple[AlternativeOutcome, ...]

    @property
    def seated(self) -> bool:
        """Return whether one of the alternatives was given."""
        return any(each.seated for each in self.alternatives)


def outcomes(found: Round, student: int) -> list[ChoiceOutcome]:
    """Return the outcome of each choice of a student's ballot; empty without a ballot."""
    with transaction() as session:
        row = session.get(BallotRow, (found.id, student))
    if row is None or row.result is None:
        return []
    catalog = catalog_of(found.term_id)
    refused: list[Any] = row.refused or []
    given, made = row.given or {}, []
    for at, (choice, reasons) in enumerate(zip(unpack(row.lines).choices, row.result, strict=True)):
        against = refused[at] if at < len(refused) else [{} for _each in reasons]
        barred = _without_position(choice, reasons, at, given) if found.state == "applied" else None
        made.append(
            ChoiceOutcome(
                tuple(
                    _outcome(
                        found,
                        catalog,
                        each,
                        why,
                        rules,
                        BEYOND_LIMITS if rank == barred else given.get(f"{at}-{rank}"),
                    )
                    for rank, (each, why, rules) in enumerate(
                        zip(choice.alternatives, reasons, against, strict=True)
                    )
                )
            )
        )
    return made


def _without_position(
    choice: Choice, reasons: list[Any], at: int, given: dict[str, Any]
) -> int | None:
    """Return the alternative that would have a waitlist position but for the ballot's limits."""
    if not choice.wait or any(why == Why.SEATED for why, _turn, _other in reasons):
        return None
    full = (
        rank
        for rank, (why, _turn, _other) in enumerate(reasons)
        if why == Why.FULL and len(choice.alternatives[rank]) == 1
    )
    first = next(full, None)
    return first if f"{at}-{first}" not in given else None


def _outcome(  # noqa: PLR0913, PLR0917  what is known of an alternative
    found: Round,
    catalog: TermCatalog,
    alternative: Alternative,
    why: list[Any],
    rules: dict[str, list[Any]],
    given: list[Any] | None,
) -> AlternativeOutcome:
    context = RefusalContext(catalog, None)
    name = context.names(part.section for part in alternative)
    code, turn, other = why
    if code == Why.RULE:
        together = _("These sections meet at the same time, so no one can take both.")
        usual = together if len(alternative) > 1 else _("Ask the registrar’s office why.")
        texts = _rules_in_words(catalog, rules, usual)
    else:
        texts = [_in_words(found, Why(code), turn, other + 1)]
    match given:
        case ["waitlisted", _]:
            texts.append(_("You are on its waitlist."))
        case ["limits", _]:
            texts.append(
                _("You are not on its waitlist: a seat could break the limits of your ballot.")
            )
        case ["refused", why_not] if code == Why.SEATED:
            texts = [_("The round gave you a seat, but we could not enroll you:")]
            texts += _rules_in_words(catalog, why_not)
            code = ""
        case ["refused", why_not]:
            texts += [_("You are not on its waitlist:"), *_rules_in_words(catalog, why_not)]
    return AlternativeOutcome(name, code == Why.SEATED, tuple(texts))


def _rules_in_words(
    catalog: TermCatalog, rules: dict[str, list[Any]], usual: str = ""
) -> list[str]:
    """Return the reasons in words; `usual` if there are none."""
    found = []
    for section, packed in rules.items():
        reasons = [Reason(code, facts) for code, facts in packed]
        context = RefusalContext(catalog, catalog.section(int(section)))
        found += explain(reasons, context)
    texts = [each.text for each in distinct(found)]
    return texts or [usual or _("Ask the registrar’s office why.")]


SAID = {
    Why.SEATED: _l("You got it."),
    Why.NOT_NEEDED: _l("Not needed: you got a section that you ranked higher."),
    Why.SAME_COURSE: _l("It is another section of the course you got with choice %(number)s."),
    Why.MOST_COURSES: _l("Your higher choices already gave you as many courses as you asked for."),
    Why.CREDITS: _l("Together with your higher choices, it would be over your maximum credits."),
    Why.JOINT: _l("Not everyone in the group could take it."),
    Why.FULL: _l("It was full: others had a higher priority, or came earlier in the draw."),
}
COSTS_JOINT = _l("With it, you would have lost your joint choice %(number)s.")
SAID_OF_TURN = {
    ("draft", Why.SEATED): _l("You got it in turn %(turn)s."),
    ("draft", Why.FULL): _l("It was full when your turn %(turn)s came."),
    ("serial", Why.FULL): _l(
        "It was already full when it was your turn (number %(turn)s in the draw)."
    ),
}


def _in_words(found: Round, why: Why, turn: int, other: int) -> str:
    """Return why an alternative was given or not; `other` is the number of another choice, or 0."""
    if why == Why.CLASH:
        return same_time_in_words(_("choice %(number)s", number=other))
    text = SAID_OF_TURN.get((found.mechanism, why)) if turn else None
    if why == Why.JOINT and other:
        text = COSTS_JOINT
    return str(text or SAID[why]) % {"turn": turn, "number": other}
