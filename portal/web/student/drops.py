"""Drop a seat, with the seats that need it if the student agrees, or leave a waitlist."""

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from flask.typing import ResponseReturnValue

from portal.catalog import requisites
from portal.catalog.term_catalog import SectionView
from portal.core.i18n import _
from portal.ledger.types import Decision, Reason
from portal.people.roles import Right
from portal.registration import commands, limits, next_steps
from portal.registration.next_steps import NextStep, section_name
from portal.web.http.access import requires
from portal.web.student import bp, request_form
from portal.web.student.dialogs import (
    address,
    form,
    in_words,
    published_section,
    refusals_to_show,
    seats_of,
    visible_section,
)
from portal.web.student.request_form import resumes_dropping, resumes_leaving
from portal.web.student.results import show_result
from portal.web.student.student_term import StudentTerm
from portal.web.student.term_page import mine_of


@bp.get("/sections/<int:section_id>/drop")
@requires(Right.REGISTER)
@resumes_dropping
def drop(term_id: int, section_id: int) -> ResponseReturnValue:
    """Show the form that asks before a drop."""
    now, view = visible_section(term_id, section_id)
    return drop_form(now, view, _along(term_id))


@bp.post("/sections/<int:section_id>/drop")
@requires(Right.REGISTER)
@resumes_dropping
def drop_seat(term_id: int, section_id: int) -> ResponseReturnValue:
    """Drop the seat, or show why not."""
    view, along = published_section(term_id, section_id), _along(term_id)
    context = request_form.context(term_id)
    decided = commands.drop(context, section_id, [each.id for each in along])
    if decided.reasons:
        return drop_form(mine_of(term_id, decided), view, along, [decided]), 422
    return show_result([decided], view, along)


@bp.get("/sections/<int:section_id>/leave")
@requires(Right.REGISTER)
@resumes_leaving
def leave(term_id: int, section_id: int) -> ResponseReturnValue:
    """Show the form that asks before leaving a waitlist."""
    return leave_form(*visible_section(term_id, section_id))


@bp.post("/sections/<int:section_id>/leave")
@requires(Right.REGISTER)
@resumes_leaving
def leave_waitlist(term_id: int, section_id: int) -> ResponseReturnValue:
    """Leave the waitlist, or show why not."""
    view = published_section(term_id, section_id)
    decided = commands.leave_waitlist(request_form.context(term_id), section_id)
    if decided.reasons:
        return leave_form(mine_of(term_id, decided), view, [decided]), 422
    return show_result([decided], view)


def _along(term_id: int) -> list[SectionView]:
    """Return the sections in the address to drop as well; 404 for unknown ones."""
    return [published_section(term_id, each) for each in request_form.along()]


def drop_form(
    now: StudentTerm,
    view: SectionView,
    along: Sequence[SectionView] = (),
    answers: Sequence[Decision] = (),
) -> str:
    """Render the form that drops a seat and those in `along`."""
    going = [view.id, *(each.id for each in along)]
    quits = [each for each in along if each.id in now.positions and each.id not in now.held]
    dropped = [each for each in along if each not in quits]
    known = now.no_leaving
    for each in (view, *dropped):
        if each.id not in now.held:
            known.append(Reason("not_enrolled", {} if each.id == view.id else {"section": each.id}))
    known += now.precheck.needed_by(going)
    shown = refusals_to_show(answers, view.id, known)
    refused = in_words(now, shown, answers, retry=not known)
    if needing := _needing(shown):  # one next step drops the section with every seat that needs it
        number = 1 + len(along) + len(needing)
        label = _("Drop both") if number == 2 else _("Drop all %(number)s", number=number)
        all_at_once = address(view, "drop") + _query([*going[1:], *needing])
        refused = refused.with_step("needed_by", NextStep(label, all_at_once))
    return form(
        "drop",
        now,
        view,
        refused,
        also=dropped,
        names=requisites.all_of([section_name(each) for each in (view, *dropped)]),
        quits=requisites.all_of([section_name(each) for each in quits]),
        query=_query(going[1:]),
        seats=seats_of(view),
        drops=now.precheck.count_drops(going),
        left=limits.drops_left(now.profile.student, now.term.id, now.phase.now),
        waits=[
            now.case(None).named(position.section)
            for position in now.positions.values()
            if position.swap_out in going and position.section not in going
        ],
    )


def leave_form(now: StudentTerm, view: SectionView, answers: Sequence[Decision] = ()) -> str:
    position = now.positions.get(view.id)
    known = now.precheck.needed_by_while_waiting(view.id)
    if not position:
        known = [Reason("not_waiting")]
    shown = refusals_to_show(answers, view.id, known)
    needing = _needing(shown)
    barred = _no_drop(now, needing) if needing else []
    shown = [replace(each, reasons=(*each.reasons, *barred)) for each in shown]
    refused = in_words(now, shown, answers, retry=not known)
    step = next_steps.drop_and_leave(needing, now.case(view)) if needing and not barred else None
    if step:
        refused = refused.with_step("needed_by", step)
    return form("leave", now, view, refused, place=position)


def _needing(answers: Sequence[Decision]) -> list[int]:
    """Return the seats that depend on the seats to drop."""
    reasons = [reason for each in answers for reason in each.reasons]
    return [each.facts["section"] for each in reasons if each.code == "needed_by"]


def _no_drop(now: StudentTerm, sections: Sequence[int]) -> list[Reason]:
    """Return why these seats can't be dropped now, apart from corequisites."""
    if shut := now.no_leaving:
        return shut
    number = now.precheck.count_drops(sections)
    left = limits.drops_left(now.profile.student, now.term.id, now.phase.now)
    if number <= left:
        return []
    today = datetime.fromtimestamp(now.phase.now / 1000, now.times.zone)
    days = limits.days_around(today, now.times.zone)
    resets = next(at for at, _name in days if at > now.phase.now)
    facts = {"limit": now.term.drops_per_day, "resets": resets}
    if number > 1:
        facts |= {"left": left, "drops": number}
    return [Reason("drop_limit", facts)]


def _query(along: Sequence[int]) -> str:
    return "?" + "&".join(f"along={each}" for each in along) if along else ""
