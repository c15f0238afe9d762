"""Receipts in words: a sentence for each kind of event, with the counts at that moment."""

from collections.abc import Callable
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from portal.backend import backend
from portal.catalog.local_time import LocalClock
from portal.catalog.term_catalog import catalog_of
from portal.core.i18n import _, _l
from portal.ledger.types import SeatCounts
from portal.recorder.events import Event
from portal.recorder.receipts import Receipt
from portal.registration.next_steps import RefusalContext
from portal.registration.reasons import Explanation, explain, reserved_seat_text

GIVEN = ("enrolled", "promoted")
Facts = dict[str, Any]
Telling = tuple[Callable[[Facts, str, RefusalContext], str], str, str]


@dataclass(frozen=True)
class ReceiptText:
    """What happened, why not if it was refused, and the seats at that moment."""

    text: str
    outcome: str  # the same in one or two words
    tone: str  # go, wait, few or stop; blank for dropped seats
    reasons: list[Explanation]
    seats: str = ""  # blank if the ledger did not know the section


def receipt_text(receipt: Receipt, case: RefusalContext) -> ReceiptText:
    """Return the receipt as its student reads it; `case` is its section's context."""
    came, tone = outcome(receipt.fact)
    facts = receipt.fact.payload
    text = _teller(receipt.fact)[0](facts, case.named(receipt.section), case)
    if facts.get("reserve") and receipt.fact.name in GIVEN:
        text = f"{text} {reserved_seat_text(facts['reserve'], case)}"
    return ReceiptText(
        text=text,
        outcome=came,
        tone=tone,
        reasons=explain(receipt.reasons, case),
        seats=counts(receipt.seats) if receipt.seats else "",
    )


def outcome(fact: Event) -> tuple[str, str]:
    """Return the outcome in one or two words, and its tone."""
    _tell, came, tone = _teller(fact)
    return str(came), tone


def counts(seats: SeatCounts) -> str:
    """Return how full a section was: "0 of 30 seats open, 4 waiting."."""
    facts = {"open": seats.open, "capacity": seats.capacity, "waiting": seats.waiting}
    if seats.waitlist_capacity or seats.waiting:
        return _("%(open)s of %(capacity)s seats open, %(waiting)s waiting.", **facts)
    return _("%(open)s of %(capacity)s seats open.", **facts)


def _teller(fact: Event) -> Telling:
    by_hand = BY_HAND.get(fact.name) if fact.by_hand else None
    return by_hand or TEXTS.get(fact.name, (_changed, _l("Changed"), ""))


def _enrolled(facts: Facts, name: str, case: RefusalContext) -> str:
    if facts.get("instead"):
        old = case.named(facts["instead"])
        return _("You swapped %(old)s for %(name)s.", old=old, name=name)
    if facts.get("rank", 1) > 1:
        return _(
            "You got a seat in %(name)s, your choice number %(rank)s.",
            name=name,
            rank=facts["rank"],
        )
    return _("You asked for %(name)s and got a seat.", name=name)


def _added(facts: Facts, name: str, case: RefusalContext) -> str:
    if facts.get("instead"):
        old = case.named(facts["instead"])
        return _("The registrar moved you from %(old)s to %(name)s.", old=old, name=name)
    return _("The registrar gave you a seat in %(name)s.", name=name)


def _waitlisted(facts: Facts, name: str, case: RefusalContext) -> str:
    position = {"name": name, "place": facts["position"]}
    if facts.get("instead"):
        old = case.named(facts["instead"])
        return _(
            "You joined the waitlist of %(name)s at place %(place)s, to swap %(old)s for it.",
            **position,
            old=old,
        )
    return _("You joined the waitlist of %(name)s at place %(place)s.", **position)


def _swap_planned(facts: Facts, name: str, case: RefusalContext) -> str:
    old = case.named(facts["instead"])
    return _(
        "You chose to give %(old)s up once a seat in %(name)s comes to you.", name=name, old=old
    )


def _promoted(facts: Facts, name: str, case: RefusalContext) -> str:
    if facts.get("instead"):
        old = case.named(facts["instead"])
        return _(
            "A seat in %(name)s came free and became yours, and %(old)s went for it.",
            name=name,
            old=old,
        )
    return _("A seat in %(name)s came free and became yours.", name=name)


def _dropped(facts: Facts, name: str, case: RefusalContext) -> str:
    if facts.get("swap"):
        new = case.named(facts["swap"])
        return _("Your seat in %(name)s went for one in %(new)s.", name=name, new=new)
    if facts.get("canceled"):
        return _("%(name)s has been canceled, and your seat in it is gone.", name=name)
    if facts.get("along"):
        other = case.named(facts["along"])
        return _("You canceled %(name)s together with %(other)s.", name=name, other=other)
    return _("You canceled %(name)s and gave your seat up.", name=name)


def _taken_out(facts: Facts, name: str, case: RefusalContext) -> str:
    if facts.get("swap"):
        return _dropped(facts, name, case)
    return _("The registrar took you out of %(name)s.", name=name)


def _left(facts: Facts, name: str, _case: RefusalContext) -> str:
    if facts.get("canceled"):
        return _("%(name)s has been canceled, and its waitlist with it.", name=name)
    if facts.get("lost"):
        return _(
            "By the rule of the term you lost your place on the waitlist of %(name)s.", name=name
        )
    return _("You left the waitlist of %(name)s.", name=name)


def _passed_over(_facts: Facts, name: str, _case: RefusalContext) -> str:
    return _("A seat in %(name)s came free, but it could not be yours.", name=name)


def _reconsidered(_facts: Facts, name: str, _case: RefusalContext) -> str:
    return _("Your place on the waitlist of %(name)s counts again.", name=name)


def _refused(facts: Facts, name: str, case: RefusalContext) -> str:
    if facts.get("act") == "drop":
        return _("You asked to cancel %(name)s and were refused.", name=name)
    if facts.get("act") == "leave":
        return _("You asked to leave the waitlist of %(name)s and were refused.", name=name)
    if facts.get("instead"):
        old = case.named(facts["instead"])
        return _("You asked to swap %(old)s for %(name)s and were refused.", old=old, name=name)
    return _("You asked for %(name)s and were refused.", name=name)


def _changed(_facts: Facts, name: str, _case: RefusalContext) -> str:
    """Return the text for an event without one here, such as one of a newer release."""
    return _("Something changed for you in %(name)s.", name=name)


TEXTS: dict[str, Telling] = {
    "enrolled": (_enrolled, _l("Selected"), "go"),
    "promoted": (_promoted, _l("Promoted"), "go"),
    "waitlisted": (_waitlisted, _l("On the waitlist"), "wait"),
    "swap_planned": (_swap_planned, _l("Swap planned"), "wait"),
    "dropped": (_dropped, _l("Canceled"), ""),
    "left": (_left, _l("Left the waitlist"), ""),
    "passed_over": (_passed_over, _l("Passed over"), "few"),
    "reconsidered": (_reconsidered, _l("Asked again"), ""),
    "refused": (_refused, _l("Refused"), "stop"),
}

BY_HAND: dict[str, Telling] = {
    "enrolled": (_added, _l("Selected"), "go"),
    "promoted": (_added, _l("Selected"), "go"),
    "dropped": (_taken_out, _l("Canceled"), ""),
}


# Receipts as pages show them: in words, by day, with their terms and sections.


@dataclass(frozen=True)
class ShownReceipt:
    """A receipt with its text."""

    receipt: Receipt
    story: ReceiptText
    name: str  # of the section, with its title while it is offered
    term: str

    @property
    def when(self) -> str:
        """Return the ledger's time to the ms: "Mon, Nov 23, 2026, 09:00:05.123 EST"."""
        times, at = LocalClock(backend().settings.zone), self.receipt.at
        clock = f"{times.at(at):%H:%M:%S}.{at % 1000:03d}"
        return f"{times.day(at)}, {clock} {times.name(at)}"


def shown(receipt: Receipt) -> ShownReceipt:
    """Return a receipt in words; raise LookupError if its term is deleted."""
    offered = catalog_of(receipt.term)
    card, zone = offered.published(receipt.section), backend().settings.zone
    case = RefusalContext(offered, card, zone, instead=receipt.fact.payload.get("instead") or 0)
    name = " ".join([case.named(receipt.section), *([card.title] if card and card.title else [])])
    return ShownReceipt(receipt, receipt_text(receipt, case), name, offered.term.name)


def by_day(receipts: list[Receipt]) -> list[tuple[str, list[ShownReceipt]]]:
    """Return the receipts in words, by the institution's days, in the given order."""
    times = LocalClock(backend().settings.zone)
    days = groupby(receipts, lambda each: times.day(each.at))
    return [(day, [shown(each) for each in lines]) for day, lines in days]
