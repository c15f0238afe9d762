"""The forms that ask before something is done, with all that is known to stand in its way."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from flask import render_template, request

from portal.backend import backend
from portal.catalog import requisites
from portal.catalog.term_catalog import SectionView, TermCatalog
from portal.core.i18n import _
from portal.ledger.types import Decision, Reason, SeatCounts
from portal.registration import limits, next_steps, precheck
from portal.registration.next_steps import NextStep, section_name
from portal.student import refused, wish
from portal.student.alike import WORDS, classes
from portal.student.line import Line
from portal.student.refused import Refused
from portal.student.rows import unknown
from portal.student.scene import Scene, titled
from portal.waiting_room import wording
from portal.web.http.errors import UNSURE


def drop(
    now: Scene,
    card: SectionView,
    along: Sequence[SectionView] = (),
    answers: Sequence[Decision] = (),
) -> str:
    """Asks whether a seat is given up, and with it those of `along`."""
    going = [card.id, *(each.id for each in along)]
    known = precheck.no_window(now.phase)
    quits = [each for each in along if each.id in now.places and each.id not in now.held]
    dropped = [each for each in along if each not in quits]
    known += [_not_held(each.id, card) for each in (card, *dropped) if each.id not in now.held]
    known += precheck.needed_by(now.profile, now.catalog, now.standing, going)
    waits = [
        place.section
        for place in now.places.values()
        if place.instead in going and place.section not in going
    ]
    why = refused.to_show(answers, card.id, known)
    told = refused.dated(refused.in_words(now, why), now, answers, known)
    return form(
        "drop",
        now,
        card,
        _all_at_once(told, why, card, along),
        also=dropped,
        names=requisites.all_of([section_name(each) for each in (card, *dropped)]),
        quits=requisites.all_of([section_name(each) for each in quits]),
        query=_along([each.id for each in along]),
        seats=seats_of(card),
        drops=precheck.count_drops(now.profile, now.catalog, now.standing, going),
        left=limits.drops_left(now.profile.student, now.term.id, now.phase.now),
        waits=[now.case(None).named(each) for each in waits],
    )


def leave(now: Scene, card: SectionView, answers: Sequence[Decision] = ()) -> str:
    """Asks whether a place on a waitlist is given up."""
    place = now.places.get(card.id)
    known = precheck.needed_by_while_waiting(now.profile, now.catalog, now.standing, card.id)
    if not place:
        known = [Reason("not_waiting")]
    why = refused.to_show(answers, card.id, known)
    needing = [
        reason.facts["section"]
        for each in why
        for reason in each.reasons
        if reason.code == "needed_by"
    ]
    barred = _no_drop(now, needing) if needing else []
    why = [replace(each, reasons=(*each.reasons, *barred)) for each in why]
    told = refused.dated(refused.in_words(now, why), now, answers, known)
    step = next_steps.drop_and_leave(needing, now.case(card)) if needing and not barred else None
    if step:
        told = told.with_step("needed_by", step)
    return form("leave", now, card, told, place=place)


def again(act: str, offered: TermCatalog, card: SectionView) -> str:
    """The form that was sent, to be sent as it was: nobody knows whether it went through."""
    return render_template(
        "student/again.html",
        act=act,
        query=wish.query(),
        words=UNSURE,
        sent=wish.sent(),
        card=card,
        name=section_name(card),
        title=titled(offered, card),
        meetings=classes(card),
        key=wish.key(),
        back=wish.back_to(card.term_id),
        term=offered.term,
    )


def waiting(stands: Line, card: SectionView) -> tuple[str, dict[str, str]]:
    """In place of a form, one's number in line or the captcha; it becomes the form by itself."""
    page = render_template(
        "waiting_room/waiting.html",
        line=stands,
        wording=wording,
        name=section_name(card),
        here=request.full_path.rstrip("?"),
        back=wish.back_to(card.term_id),
        term=stands.scene.term,
    )
    return page, {"HX-Trigger": "fs:window"}  # the page behind it may not know yet


def form(act: str, now: Scene, card: SectionView, told: Refused, /, **facts: Any) -> str:
    """The page or dialog of that name, with what stands in the way."""
    return render_template(
        f"student/{act}.html",
        card=card,
        name=section_name(card),
        title=now.title(card),
        meetings=classes(card),
        refused=told,
        key=wish.new_key(),
        back=wish.back_to(now.term.id),
        scene=now,
        term=now.term,
        **WORDS,
        **facts,
    )


def address(card: SectionView, act: str) -> str:
    """Where something is done about a section."""
    return f"/terms/{card.term_id}/sections/{card.id}/{act}"


def seats_of(card: SectionView) -> SeatCounts:
    """The counts of a section at this moment."""
    return backend().ledger.seats_of(card.term_id, [card.id]).get(card.id) or unknown(card)


def _no_drop(now: Scene, sections: Sequence[int]) -> list[Reason]:
    """Why these seats can't be given up now, whatever needs them, and when they can be."""
    if shut := precheck.no_window(now.phase):
        return shut
    number = precheck.count_drops(now.profile, now.catalog, now.standing, sections)
    left = limits.drops_left(now.profile.student, now.term.id, now.phase.now)
    if number <= left:
        return []
    today = datetime.fromtimestamp(now.phase.now / 1000, now.times.zone)
    resets = next(
        at for at, _name in limits.days_around(today, now.times.zone) if at > now.phase.now
    )
    facts = {"limit": now.term.drops_per_day, "resets": resets}
    if number > 1:
        facts |= {"left": left, "drops": number}
    return [Reason("drop_limit", facts)]


def _not_held(section: int, card: SectionView) -> Reason:
    return Reason("not_enrolled", {} if section == card.id else {"section": section})


def _all_at_once(
    told: Refused, answers: Sequence[Decision], card: SectionView, along: Sequence[SectionView]
) -> Refused:
    """One step to give up the section with all that needs it, in place of one for each."""
    reasons = [reason for each in answers for reason in each.reasons]
    needing = [each.facts["section"] for each in reasons if each.code == "needed_by"]
    if not needing:
        return told
    number = 1 + len(along) + len(needing)
    label = _("Cancel both") if number == 2 else _("Cancel all %(number)s", number=number)
    query = _along([*(each.id for each in along), *needing])
    return told.with_step("needed_by", NextStep(label, address(card, "drop") + query))


def _along(sections: Sequence[int]) -> str:
    return "?" + "&".join(f"along={each}" for each in sections) if sections else ""
