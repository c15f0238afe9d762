"""Receipts in words: a sentence for each kind of event, with the counts at that moment."""

import re
from dataclasses import dataclass
from itertools import groupby

from portal.catalog.local_time import local_clock
from portal.catalog.term_catalog import catalog_of
from portal.core.i18n import _, _k, _l, _n
from portal.ledger.types import SeatCounts
from portal.recorder.events import Event
from portal.recorder.receipts import Receipt
from portal.registration.next_steps import RefusalContext
from portal.registration.reasons import (
    Explanation,
    explain,
    permission_text,
    reserved_seat_text,
)

# The end of the seconds of a time such as 9:00:05 am.
LAST_NUMBER = re.compile(r"(?<=\d)(?=\D*$)")

# The outcome in one or two words, and its tone: go, wait, few or stop; blank for dropped seats.
OUTCOMES = {
    "enrolled": (_l("Enrolled"), "go"),
    "promoted": (_l("Promoted"), "go"),
    "waitlisted": (_l("On the waitlist"), "wait"),
    "swap_planned": (_l("Swap planned"), "wait"),
    "dropped": (_l("Dropped"), ""),
    "left": (_l("Left the waitlist"), ""),
    "canceled": (_l("Canceled"), "stop"),  # the section, with a seat in it or a position
    "passed_over": (_l("Skipped"), "few"),
    "reconsidered": (_l("No longer skipped"), ""),
    "refused": (_l("Refused"), "stop"),
}

BY_ADMIN = {"enrolled": "added", "promoted": "added", "dropped": "taken out"}
# The kind of event, what its payload must have if anything, and the text; the first one applies.
SENTENCES = (
    ("enrolled", "turn", _k("You got %(name)s in an allocation round, in turn %(turn)s.")),
    ("enrolled", "round", _k("You got %(name)s in an allocation round.")),
    ("enrolled", "instead", _k("You swapped %(old)s for %(name)s.")),
    (
        "enrolled",
        "rank",
        _k("You added %(name)s, backup %(backup)s, because your first choice was refused."),
    ),
    ("enrolled", "", _k("You added %(name)s.")),
    (
        "added",
        "application",
        _k("Your application was approved: you have a seat in %(name)s."),
    ),
    ("added", "instead", _k("The registrar moved you from %(old)s to %(name)s.")),
    ("added", "", _k("The registrar gave you a seat in %(name)s.")),
    (
        "waitlisted",
        "instead",
        _k("You joined the waitlist for %(name)s at position %(place)s, to swap %(old)s for it."),
    ),
    (
        "waitlisted",
        "round",
        _k("An allocation round put you on the waitlist for %(name)s at position %(place)s."),
    ),
    ("waitlisted", "", _k("You joined the waitlist for %(name)s at position %(place)s.")),
    (
        "swap_planned",
        "",
        _k("You chose to drop %(old)s when you get a seat in %(name)s."),
    ),
    (
        "promoted",
        "instead",
        _k("You got a seat in %(name)s from the waitlist and dropped %(old)s."),
    ),
    ("promoted", "", _k("You got a seat in %(name)s from the waitlist.")),
    ("dropped", "swap", _k("You dropped %(name)s for a seat in %(new)s.")),
    ("dropped", "canceled", _k("%(name)s was canceled. You no longer have a seat in it.")),
    ("dropped", "along", _k("You dropped %(name)s together with %(other)s.")),
    ("dropped", "", _k("You dropped %(name)s.")),
    (
        "taken out",
        "mark",
        _k("Your withdrawal from %(name)s was approved. Your record shows it as %(mark)s."),
    ),
    (
        "taken out",
        "application",
        _k("Your application was approved: you no longer have %(name)s."),
    ),
    ("taken out", "swap", _k("You dropped %(name)s for a seat in %(new)s.")),
    ("taken out", "", _k("The registrar dropped you from %(name)s.")),
    ("left", "canceled", _k("%(name)s was canceled, and so was its waitlist.")),
    (
        "left",
        "lost",
        _k("You lost your position on the waitlist for %(name)s, as the rules of the term say."),
    ),
    ("left", "", _k("You left the waitlist for %(name)s.")),
    ("passed_over", "", _k("A seat opened in %(name)s, but you couldn’t get it.")),
    ("reconsidered", "", _k("You can get a seat from the waitlist for %(name)s again.")),
    ("refused", "drop", _k("You couldn’t drop %(name)s.")),
    ("refused", "leave", _k("You couldn’t leave the waitlist for %(name)s.")),
    ("refused", "instead", _k("You couldn’t swap %(old)s for %(name)s.")),
    ("refused", "", _k("You couldn’t add %(name)s.")),
)


@dataclass(frozen=True)
class ReceiptText:
    receipt: Receipt
    text: str
    outcome: str
    tone: str
    reasons: list[Explanation]  # why it was refused
    seats: str  # blank if the ledger did not know the section
    name: str  # of the section, with its title while it is offered
    term: str

    @property
    def when(self) -> str:
        """Return the ledger's time to the ms: "Mon, Nov 23, 2026, 9:00:05.123 am EST"."""
        times, at = local_clock(), self.receipt.at
        clock = LAST_NUMBER.sub(f".{at % 1000:03d}", times.clock(at, seconds=True))
        return f"{times.day(at)}, {clock} {times.name(at)}"


def receipt_text(receipt: Receipt) -> ReceiptText:
    """Return a receipt in words; raise LookupError if its term is deleted."""
    offered, event = catalog_of(receipt.term), receipt.event
    section, old = offered.published(receipt.section), event.payload.get("instead") or 0
    context = RefusalContext(offered, section, swap_out=old)
    name, (in_short, tone) = context.named(receipt.section), outcome(event)
    text, reserve = _sentence(event, name, context), event.payload.get("reserve")
    if reserve and event.name in {"enrolled", "promoted"}:
        text = f"{text} {reserved_seat_text(reserve, context)}"
    if band := event.payload.get("band"):
        text = f"{text} {_('You joined in group %(band)s.', band=band)}"
    if receipt.permitted:
        text = f"{text} {permission_text(receipt.permitted)}"
    return ReceiptText(
        receipt,
        text,
        in_short,
        tone,
        reasons=explain(receipt.reasons, context),
        seats=_counts(receipt.seats) if receipt.seats else "",
        name=f"{name} {section.title}" if section and section.title else name,
        term=offered.term.name,
    )


def by_day(receipts: list[Receipt]) -> list[tuple[str, list[ReceiptText]]]:
    """Return the receipts in words, by the institution's days, in the given order."""
    times = local_clock()
    days = groupby(receipts, lambda each: times.day(each.at))
    return [(day, [receipt_text(each) for each in found]) for day, found in days]


def outcome(event: Event) -> tuple[str, str]:
    """Return the outcome in one or two words, and its tone."""
    name = event.name
    if event.is_adjustment and name == "promoted":  # an admin enrolled a waiting student
        name = "enrolled"
    elif event.payload.get("canceled"):
        name = "canceled"
    text, tone = OUTCOMES.get(name, (_l("Changed"), ""))
    return str(text), tone


def _counts(seats: SeatCounts) -> str:
    """Return how full a section was: "0 of 30 seats open, 4 waiting."."""
    facts = {"open": seats.open, "waiting": seats.waiting}
    if seats.waitlist_capacity or seats.waiting:
        return _n(
            "%(open)s of %(num)s seat open, %(waiting)s waiting.",
            "%(open)s of %(num)s seats open, %(waiting)s waiting.",
            seats.capacity,
            **facts,
        )
    return _n(
        "%(open)s of %(num)s seat open.", "%(open)s of %(num)s seats open.", seats.capacity, **facts
    )


def _sentence(event: Event, name: str, context: RefusalContext) -> str:
    """Return what happened, as its student reads it."""
    payload = event.payload
    kind = BY_ADMIN.get(event.name, event.name) if event.is_adjustment else event.name
    given = {key for key in ("instead", "swap", "canceled", "along", "lost") if payload.get(key)}
    given |= {key for key in ("application", "mark", "round", "turn") if event.context.get(key)}
    given |= {"", payload.get("act", ""), "rank" if payload.get("rank", 1) > 1 else ""}
    other = payload.get("instead") or payload.get("swap") or payload.get("along")
    named = context.named(other) if other else ""
    facts: dict[str, object] = {"name": name, "old": named, "new": named, "other": named}
    facts |= {"place": payload.get("position"), "backup": payload.get("rank", 1) - 1}
    facts |= {"mark": event.context.get("mark"), "turn": event.context.get("turn")}
    fitting = (text for what, key, text in SENTENCES if what == kind and key in given)
    # Perhaps the event is one of a newer release.
    return _(next(fitting, _k("Something changed for you in %(name)s.")), **facts)
