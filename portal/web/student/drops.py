"""Drop a seat, with the seats that need it if the student agrees, or leave a waitlist."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from flask.typing import ResponseReturnValue

from portal.catalog import requisites
from portal.catalog.term_catalog import SectionView
from portal.core.i18n import _
from portal.ledger.types import Decision, Reason
from portal.registration import commands, limits, next_steps, precheck
from portal.registration.next_steps import NextStep, section_name
from portal.web.http.access import requires
from portal.web.http.resuming import resumes
from portal.web.student import bp, request_form
from portal.web.student.dialogs import (
    Refusals,
    address,
    form,
    published_section,
    refusals_in_words,
    refusals_to_show,
    seats_of,
    visible_section,
    with_replay,
)
from portal.web.student.request_form import dropping, leaving
from portal.web.student.results import show_result
from portal.web.student.student_term import StudentTerm
from portal.web.student.term_page import mine_of


@bp.get("/sections/<int:section_id>/drop")
@requires("student")
@resumes(dropping)
def drop(term_id: int, section_id: int) -> ResponseReturnValue:
    """Show the form that asks before a drop."""
    now, card = visible_section(term_id, section_id)
    along = [published_section(term_id, each) for each in request_form.along()]
    return drop_dialog(now, card, along)


@bp.post("/sections/<int:section_id>/drop")
@requires("student")
@resumes(dropping)
def drop_seat(term_id: int, section_id: int) -> ResponseReturnValue:
    """Drop the seat, or show why not."""
    card = published_section(term_id, section_id)
    along = [published_section(term_id, each) for each in request_form.along()]
    decided = commands.drop(
        request_form.requester(term_id), section_id, [each.id for each in along]
    )
    if decided.reasons:
        return drop_dialog(mine_of(term_id, decided), card, along, [decided]), 422
    return show_result([decided], card, along)


@bp.get("/sections/<int:section_id>/leave")
@requires("student")
@resumes(leaving)
def leave(term_id: int, section_id: int) -> ResponseReturnValue:
    """Show the form that asks before leaving a waitlist."""
    return leave_dialog(*visible_section(term_id, section_id))


@bp.post("/sections/<int:section_id>/leave")
@requires("student")
@resumes(leaving)
def leave_waitlist(term_id: int, section_id: int) -> ResponseReturnValue:
    """Leave the waitlist, or show why not."""
    card = published_section(term_id, section_id)
    decided = commands.leave_waitlist(request_form.requester(term_id), section_id)
    if decided.reasons:
        return leave_dialog(mine_of(term_id, decided), card, [decided]), 422
    return show_result([decided], card)


def drop_dialog(
    now: StudentTerm,
    card: SectionView,
    along: Sequence[SectionView] = (),
    answers: Sequence[Decision] = (),
) -> str:
    """Render the form that drops a seat and those in `along`."""
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
    why = refusals_to_show(answers, card.id, known)
    told = with_replay(refusals_in_words(now, why), now, answers, known)
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


def leave_dialog(now: StudentTerm, card: SectionView, answers: Sequence[Decision] = ()) -> str:
    """Render the form that leaves a waitlist."""
    place = now.places.get(card.id)
    known = precheck.needed_by_while_waiting(now.profile, now.catalog, now.standing, card.id)
    if not place:
        known = [Reason("not_waiting")]
    why = refusals_to_show(answers, card.id, known)
    needing = [
        reason.facts["section"]
        for each in why
        for reason in each.reasons
        if reason.code == "needed_by"
    ]
    barred = _no_drop(now, needing) if needing else []
    why = [replace(each, reasons=(*each.reasons, *barred)) for each in why]
    told = with_replay(refusals_in_words(now, why), now, answers, known)
    step = next_steps.drop_and_leave(needing, now.case(card)) if needing and not barred else None
    if step:
        told = told.with_step("needed_by", step)
    return form("leave", now, card, told, place=place)


def _no_drop(now: StudentTerm, sections: Sequence[int]) -> list[Reason]:
    """Return why these seats can't be dropped now, apart from corequisites."""
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
    told: Refusals, answers: Sequence[Decision], card: SectionView, along: Sequence[SectionView]
) -> Refusals:
    """Offer one next step that drops the section with every seat that needs it."""
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
