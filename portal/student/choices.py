"""The forms that ask for a seat: alone, with what it is linked to, or in exchange for another."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from portal.catalog.term_catalog import SectionView
from portal.core.i18n import _
from portal.ledger.types import Decision, Reason, SeatCounts
from portal.registration import precheck
from portal.registration.credits import credit_choices, hundredths
from portal.registration.next_steps import NextStep, section_name
from portal.student import refused, wish
from portal.student.alike import classes
from portal.student.forms import address, form, seats_of
from portal.student.kept import open_to
from portal.student.kept import told as told_of
from portal.student.partners import Group, choices, groups
from portal.student.planning.seen import counts
from portal.student.scene import Scene


def pick(now: Scene, card: SectionView, answers: Sequence[Decision] = ()) -> str:
    """Asks for a seat; where another section of the course is held, for an exchange at once."""
    held = now.catalog.some(now.held)
    rival = next((each for each in held if each.course_id == card.course_id), None)
    if rival and not answers and not now.state(card.id):
        return swap(now, card, rival)
    return _form("pick", now, card, answers)


def swap(now: Scene, card: SectionView, old: SectionView, answers: Sequence[Decision] = ()) -> str:
    """Asks for a seat in exchange for the one in `old`."""
    return _form("swap", now, card, answers, old)


def others(now: Scene, card: SectionView) -> str:
    """The other sections of the course, each leading to the exchange of this one for it."""
    siblings = [
        each
        for each in now.catalog.sections_of(card.course_id)
        if each.id != card.id and now.shows(each)
    ]
    why = [_foreseen(now, each, card.id, []) for each in siblings]
    held = card.id in now.held
    known = [] if held else [refused.foreseen(card.id, [Reason("not_enrolled")])]
    return form(
        "swaps",
        now,
        card,
        refused.in_words(now, known),
        choices=choices(now, siblings, why) if held else [],
    )


def credit_range(card: SectionView) -> Decision:
    """That the credits chosen are none that the section is offered for."""
    facts = {"min": hundredths(card.credits_min), "max": hundredths(card.credits_max)}
    return refused.foreseen(card.id, [Reason("credit_range", facts)])


def _form(
    act: str,
    now: Scene,
    card: SectionView,
    answers: Sequence[Decision],
    old: SectionView | None = None,
) -> str:
    instead, all_seats = old.id if old else 0, seats_of(card)
    seats = open_to(now, card, all_seats)
    together = groups(now, card, instead, wish.partners())
    found = _foreseen(now, card, instead, together)
    place = now.places.get(card.id)
    known = [
        *precheck.no_window(now.phase),
        *found,
        *([] if place else precheck.waitlist_full(seats)),
    ]
    codes = [reason.code for each in answers for reason in each.reasons]
    why = refused.to_show(answers, card.id, known)
    told = refused.dated(refused.in_words(now, why, instead), now, answers, known)
    return form(
        act,
        now,
        card,
        told,
        seats=seats,
        counts=counts(all_seats),
        own=seats != all_seats,
        together=together,
        none_free=bool(together)
        and not seats.claimable
        and not any(each.free for each in together),
        place=place,
        kept=told_of(now, card),
        shut=bool(known) or (not told.retry and any(code.startswith("window_") for code in codes)),
        amounts=credit_choices(card),
        chosen=wish.credits_chosen(),
        waits=wish.wait_wished(usual=not answers and not (together and seats.claimable)),
        **(_exchange(now, old) if old else {"rivals": _rivals(now, card, seats, told.urls)}),
    )


def _exchange(now: Scene, old: SectionView) -> dict[str, Any]:
    """What is told of the section that is given up."""
    return {
        "old": old,
        "old_name": section_name(old),
        "old_title": now.title(old),
        "old_meetings": classes(old),
        "query": f"?instead={old.id}",
    }


def _rivals(now: Scene, card: SectionView, seats: SeatCounts, offered: set[str]) -> list[NextStep]:
    """The exchanges that could be made for the section, but for one that is offered already."""
    if now.phase.kind != "open" or now.state(card.id) or precheck.waitlist_full(seats):
        return []
    steps = [
        NextStep(
            _("Swap %(old)s for %(new)s", old=section_name(each), new=section_name(card)),
            f"{address(card, 'swap')}?instead={each.id}",
        )
        for each in now.catalog.some(now.held)
        if not _foreseen(now, card, each.id, groups(now, card, each.id, []))
    ]
    return [step for step in steps if step.url not in offered]


def _foreseen(
    now: Scene, card: SectionView, instead: int, together: Sequence[Group]
) -> list[Reason]:
    """Why it would be refused as things stand, but for what can be chosen along with it."""
    place, standing = now.places.get(card.id), now.standing
    if place and instead and place.instead != instead:  # a place in line becomes one for a swap
        rest = tuple(each for each in standing.waiting if each is not place)
        standing = replace(standing, waiting=rest)
    found = precheck.likely_refusals(
        now.profile, card, now.catalog, standing, now.limit, instead=instead
    )
    chosen = {each.card.course_id for group in together for each in group.choices}
    return [
        each
        for each in found
        if each.code != "corequisite" or not chosen.issuperset(each.facts["missing"])
    ]
