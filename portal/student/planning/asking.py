"""Plan a section: as a line, as a fallback, or with the one that it is linked to."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from flask import abort, redirect
from flask.typing import ResponseReturnValue
from htmx_flask import request

from portal.catalog.term_catalog import SectionView
from portal.core.i18n import _
from portal.registration import plans
from portal.registration.credits import amount, credit_choices, hundredths
from portal.registration.next_steps import section_name
from portal.registration.plan_store import StalePlan
from portal.registration.plans import CannotPlan, Plan
from portal.registration.requests import Alternative, SectionRequest
from portal.student import bp, fragments, wish
from portal.student.asking import card_of, seen
from portal.student.earlier_terms import last_time
from portal.student.forms import form, seats_of
from portal.student.kept import told as told_of
from portal.student.outcomes import closing
from portal.student.pages import mine_of
from portal.student.partners import Group, groups
from portal.student.planning.pages import hindrance, make
from portal.student.planning.panel import panel
from portal.student.planning.places import change_to, foresee, named, places
from portal.student.planning.seen import counts
from portal.student.refused import NOTHING
from portal.student.resuming import planning
from portal.student.scene import Scene
from portal.web.http import flash_messages
from portal.web.http.access import requires
from portal.web.http.resuming import resumes


@bp.get("/sections/<int:section_id>/plan")
@requires("student")
@resumes(planning)
def ask_plan(term_id: int, section_id: int) -> ResponseReturnValue:
    """The form that asks where in the plan a section goes, with all that is foreseen."""
    now, card = seen(term_id, section_id)
    return _planned(now, card) if card.id in now.planned else _unplanned(now, card)


@bp.post("/sections/<int:section_id>/plan")
@requires("student")
@resumes(planning)
def plan_section(term_id: int, section_id: int) -> ResponseReturnValue:
    """The section planned, or taken out of the plan; or why that can't be."""
    out = request.form.get("do") == "out"
    # First: where it can't be read, nothing is changed, as is then said.
    now, card = _to_take_out(term_id, section_id) if out else seen(term_id, section_id)
    try:
        if out:
            make(term_id, lambda plan: plans.take_out(plan, card.id))
        else:
            make(term_id, change_to(request.form.get("place", "new"), _option(card)))
    except (StalePlan, CannotPlan) as error:
        why = hindrance(error)
        again = _planned if card.id in now.planned else _unplanned
        return again(now, card, why), 422
    return _done(now, card, out=out)


def _to_take_out(term_id: int, section_id: int) -> tuple[Scene, SectionView]:
    """A section that may have left the plan on another page already."""
    return mine_of(term_id), card_of(term_id, section_id)


def _done(now: Scene, card: SectionView, *, out: bool) -> ResponseReturnValue:
    name = section_name(card)
    said = (
        _("Taken out of your plan: %(name)s.", name=name)
        if out
        else _("Planned: %(name)s.", name=name)
    )
    if not request.htmx:
        back = wish.back_to(card.term_id)
        flash_messages.keep(said, "go", back)
        return redirect(f"{back}#section-{card.id}", 303)
    toast = fragments.toast(said, tone="go", brief=True, about=card.id)
    return closing([panel(now, oob=True), toast])


def _option(card: SectionView) -> Alternative:
    """What is to be had together, as the form says; 400 where it makes no sense."""
    chosen = request.form.get("credits", "")
    if chosen and chosen not in credit_choices(card):
        abort(400)
    credit = hundredths(Decimal(chosen)) if chosen else None
    partners = [card_of(card.term_id, each) for each in wish.partners()]
    return (SectionRequest(card.id, credit), *(SectionRequest(each.id) for each in partners))


def _planned(now: Scene, card: SectionView, why: str = "") -> str:
    """Where the section stands in the plan, and what is foreseen of it there."""
    plan = now.plan or Plan()
    at = plan.choice_of(card.id) or 0
    known = foresee(now, plan, card.id)
    return _form(now, card, "plan_out", why, at=at, first=_first(now, plan, at), known=known)


def _unplanned(now: Scene, card: SectionView, why: str = "") -> str:
    """Where the section may go; what is foreseen is that of the likeliest place."""
    plan = now.plan or Plan()
    found = places(now, plan, card)
    together = [] if found[0].word.startswith("join") else groups(now, card, 0, wish.partners())
    try:
        made = change_to(found[0].word, _likely(card, together))(plan)
    except CannotPlan as error:
        return _form(now, card, "plan_in", why or hindrance(error), full=True)
    known = foresee(now, made, card.id)
    return _form(now, card, "plan_in", why, places=found, together=together, known=known)


def _likely(card: SectionView, together: Sequence[Group]) -> Alternative:
    return (SectionRequest(card.id), *(SectionRequest(each.chosen) for each in together))


def _first(now: Scene, plan: Plan, at: int) -> str:
    return named(now, plan.choices[at].alternatives[0])


def _form(now: Scene, card: SectionView, template: str, why: str, **facts: Any) -> str:
    return form(
        template,
        now,
        card,
        NOTHING,
        why=why,
        away=now.plan is None,
        version=now.plan.version if now.plan else 0,
        amounts=credit_choices(card),
        chosen=wish.credits_chosen(),
        place=wish.fields().get("place"),
        limit=amount(now.limit),
        counts=counts(seats_of(card)),
        kept=told_of(now, card),
        last=last_time(now.term.id).get(card.course_id),
        **facts,
    )
