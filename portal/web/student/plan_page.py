"""My plan: its page, its panel for other tabs, and the buttons that change it."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from typing import Any

from flask import abort, redirect, render_template
from flask.typing import ResponseReturnValue
from htmx_flask import request

from portal.catalog import linked_courses
from portal.catalog.term_catalog import SectionView
from portal.core.i18n import _, _l
from portal.live.publish import signal_student
from portal.registration import plans
from portal.registration.credits import amount, credit_choices, hundredths
from portal.registration.next_steps import section_name
from portal.registration.plan_store import StalePlan, change
from portal.registration.plans import MOST_TOGETHER, CannotPlan, Change, Plan, Problem, change_of
from portal.registration.precheck import likely_refusals_of_plan, plan_credits
from portal.registration.reasons import Explanation
from portal.registration.requests import Alternative, SectionRequest
from portal.web.http import flash_messages
from portal.web.http.access import requires, visitor
from portal.web.http.resuming import resumes
from portal.web.student import bp, fragments, request_form
from portal.web.student.dialogs import NOTHING, form, published_section, seats_of, visible_section
from portal.web.student.earlier_terms import last_time
from portal.web.student.plan_panel import live_counts, panel, reasons_against
from portal.web.student.register import Group, groups
from portal.web.student.request_form import planning, with_plan
from portal.web.student.results import close_dialog
from portal.web.student.student_term import StudentTerm, reserved_notes
from portal.web.student.term_page import around, mine_of, or_recorded

STALE = _l("Your plan was changed meanwhile, perhaps in another tab. This is what it is now.")
HINDRANCES = {
    Problem.CHOICES: _l("A plan has room for 20 lines. Take one out first."),
    Problem.ALTERNATIVES: _l("A line has room for 6 choices. Take one out first."),
    Problem.SECTIONS: _l("A plan has room for 80 sections in all. Take one out first."),
    Problem.TOGETHER: _l("At most 4 sections can be had together."),
    Problem.PLANNED: _l("This is in your plan already."),
    Problem.GONE: _l("This is not in your plan any more."),
}
TAKES_OUT = ("remove", "omit")


@bp.get("/plan")
@requires("student")
@with_plan
@or_recorded
def plan(term_id: int) -> ResponseReturnValue:
    """Show my plan with its buttons."""
    return render_template("student/plan.html", **around(mine_of(term_id)))


@bp.get("/plan/panel")
@requires("student")
@with_plan
def plan_panel(term_id: int) -> ResponseReturnValue:
    """Show the current plan for a page with an older one; `full` as on its own page."""
    return panel(mine_of(term_id), full="full" in request.args), {"Cache-Control": "no-store"}


@bp.post("/plan/change")
@requires("student")
@with_plan
def change_plan(term_id: int) -> ResponseReturnValue:
    """Apply a button of the plan, or show why that failed."""
    word = request.form.get("do", "")
    # Read first: if this fails, nothing is changed, and the response says so.
    now = mine_of(term_id)
    try:
        wanted = change_of(word, number("line"), lambda section: _credits(term_id, section))
        make(term_id, wanted)
    except (StalePlan, CannotPlan) as error:
        return _hindered(now, hindrance(error))
    if not request.htmx:
        return redirect(f"/terms/{term_id}/plan", 303)
    if word.startswith(TAKES_OUT):
        said = fragments.toast(_("Taken out of your plan."), brief=True)
        return panel(now, lost=True) + said
    return panel(now)


def make(term_id: int, wanted: Change) -> Plan:
    """Change the plan version that the form showed, and update the student's other pages.

    Raise StalePlan or CannotPlan.
    """
    student = visitor().student_id or 0
    changed = change(term_id, student, number("version"), wanted)
    signal_student(term_id, student, "plan", {"version": changed.version})
    return changed


def hindrance(error: StalePlan | CannotPlan) -> str:
    """Return why the plan could not be changed."""
    return str(STALE if isinstance(error, StalePlan) else HINDRANCES[error.problem])


def number(field: str) -> int:
    """Return a number of the form, or respond with 400."""
    text = request.form.get(field, "")
    if not request_form.NUMBER.fullmatch(text):
        abort(400)
    return int(text)


def _hindered(now: StudentTerm, why: str) -> ResponseReturnValue:
    if request.htmx:
        return panel(now, said=why), 422
    page = f"/terms/{now.term.id}/plan"
    flash_messages.keep(why, "few", page)
    return redirect(page, 303)


def _credits(term_id: int, section: int) -> int:
    """Return the credits (hundredths) chosen for a section; respond with 400 to others."""
    chosen = request.form.get(f"credits-{section}", "")
    if chosen not in credit_choices(published_section(term_id, section)):
        abort(400)
    return hundredths(Decimal(chosen))


# Plan a section: as a choice, as an alternative, or with its corequisite.


@bp.get("/sections/<int:section_id>/plan")
@requires("student")
@resumes(planning)
def ask_plan(term_id: int, section_id: int) -> ResponseReturnValue:
    """Show the form that adds a section to the plan, with likely refusals."""
    now, card = visible_section(term_id, section_id)
    return _planned(now, card) if card.id in now.planned else _unplanned(now, card)


@bp.post("/sections/<int:section_id>/plan")
@requires("student")
@resumes(planning)
def plan_section(term_id: int, section_id: int) -> ResponseReturnValue:
    """Add the section to the plan or take it out, or show why not."""
    out = request.form.get("do") == "out"
    # Read first: if this fails, nothing is changed, and the response says so.
    now, card = _to_take_out(term_id, section_id) if out else visible_section(term_id, section_id)
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


def _to_take_out(term_id: int, section_id: int) -> tuple[StudentTerm, SectionView]:
    """Return a section that another page may already have removed from the plan."""
    return mine_of(term_id), published_section(term_id, section_id)


def _done(now: StudentTerm, card: SectionView, *, out: bool) -> ResponseReturnValue:
    name = section_name(card)
    said = (
        _("Taken out of your plan: %(name)s.", name=name)
        if out
        else _("Planned: %(name)s.", name=name)
    )
    if not request.htmx:
        back = request_form.return_address(card.term_id)
        flash_messages.keep(said, "go", back)
        return redirect(f"{back}#section-{card.id}", 303)
    toast = fragments.toast(said, tone="go", brief=True, about=card.id)
    return close_dialog([panel(now, oob=True), toast])


def _option(card: SectionView) -> Alternative:
    """Return the alternative in the form; respond with 400 to invalid input."""
    chosen = request.form.get("credits", "")
    if chosen and chosen not in credit_choices(card):
        abort(400)
    credit = hundredths(Decimal(chosen)) if chosen else None
    partners = [published_section(card.term_id, each) for each in request_form.partners()]
    return (SectionRequest(card.id, credit), *(SectionRequest(each.id) for each in partners))


def _planned(now: StudentTerm, card: SectionView, why: str = "") -> str:
    """Render the section's place in the plan, with likely refusals."""
    plan = now.plan or Plan()
    at = plan.choice_of(card.id) or 0
    known = place_outlook(now, plan, card.id)
    return _form(now, card, "plan_out", why, at=at, first=_first(now, plan, at), known=known)


def _unplanned(now: StudentTerm, card: SectionView, why: str = "") -> str:
    """Render the places for a section, with likely refusals of the first one."""
    plan = now.plan or Plan()
    found = places(now, plan, card)
    together = (
        [] if found[0].word.startswith("join") else groups(now, card, 0, request_form.partners())
    )
    try:
        made = change_to(found[0].word, _likely(card, together))(plan)
    except CannotPlan as error:
        return _form(now, card, "plan_in", why or hindrance(error), full=True)
    known = place_outlook(now, made, card.id)
    return _form(now, card, "plan_in", why, places=found, together=together, known=known)


def _likely(card: SectionView, together: Sequence[Group]) -> Alternative:
    return (SectionRequest(card.id), *(SectionRequest(each.chosen) for each in together))


def _first(now: StudentTerm, plan: Plan, at: int) -> str:
    return named(now, plan.choices[at].alternatives[0])


def _form(now: StudentTerm, card: SectionView, template: str, why: str, **facts: Any) -> str:
    return form(
        template,
        now,
        card,
        NOTHING,
        why=why,
        away=now.plan is None,
        version=now.plan.version if now.plan else 0,
        amounts=credit_choices(card),
        chosen=request_form.credits_chosen(),
        place=request_form.fields().get("place"),
        limit=amount(now.limit),
        counts=live_counts(seats_of(card)),
        kept=reserved_notes(now, card),
        last=last_time(now.term.id).get(card.course_id),
        **facts,
    )


# The places for a section in a plan, and the likely refusals there.

WORD = re.compile(r"(new|else|join)(?:-(\d{1,3}))?(?:-(\d{1,3}))?", re.ASCII)


@dataclass(frozen=True)
class Place:
    """A place in the plan: its label, and the value that a form sends."""

    word: str
    label: str


@dataclass(frozen=True)
class PlaceOutlook:
    """Likely refusals and credits of a plan with the section in it."""

    problems: list[Explanation]
    credits: str  # of all first choices and held seats
    over: bool


def places(now: StudentTerm, plan: Plan, card: SectionView) -> list[Place]:
    """Return every place for a section, the most likely first."""
    joins = list(_joins(now, plan, card))
    elses = [
        (
            _is_of(card, now, line.sections),
            Place(f"else-{at}", _instead_of(now, at, line.alternatives[0])),
        )
        for at, line in enumerate(plan.choices)
    ]
    own_line = Place("new", _("As a line of its own"))
    same = [place for alike, place in elses if alike]
    return [*joins, *same, own_line, *(place for alike, place in elses if not alike)]


def change_to(word: str, option: Alternative) -> Change:
    """Return the change that adds the option there. Raise CannotPlan if there is no such place."""
    said = WORD.fullmatch(word)
    line, rank = (int(said[2] or 0), int(said[3] or 0)) if said else (0, 0)
    match said[1] if said else "":
        case "new":
            return partial(plans.add, alternative=option)
        case "else":
            return partial(plans.add_alternative, choice=line, alternative=option)
        case "join":
            return partial(plans.join, choice=line, rank=rank, request=option[0])
    raise CannotPlan(Problem.GONE)


def place_outlook(now: StudentTerm, plan: Plan, section: int) -> PlaceOutlook:
    """Return the likely refusals of a section at its place in the plan."""
    found = likely_refusals_of_plan(now.profile, now.catalog, now.standing, now.limit, plan)
    at = plan.choice_of(section) or 0
    total = now.credits + plan_credits(plan, now.catalog)
    rank = next(
        rank
        for rank, option in enumerate(plan.choices[at].alternatives)
        if section in {part.section for part in option}
    )
    return PlaceOutlook(reasons_against(now, found[at][rank]), amount(total), total > now.limit)


def _joins(now: StudentTerm, plan: Plan, card: SectionView) -> Iterator[Place]:
    """Yield alternatives with a corequisite section, but none of the same course."""
    partners = {each.id for group in linked_courses.sections(card, now.catalog) for each in group}
    for at, line in enumerate(plan.choices):
        for rank, option in enumerate(line.alternatives):
            sections = [part.section for part in option]
            fits = partners.intersection(sections) and len(sections) < MOST_TOGETHER
            if fits and not _is_of(card, now, sections):
                yield Place(f"join-{at}-{rank}", _together_with(now, option))


def _is_of(card: SectionView, now: StudentTerm, sections: Sequence[int]) -> bool:
    return any(each.course_id == card.course_id for each in now.catalog.some(sections))


def _together_with(now: StudentTerm, option: Alternative) -> str:
    return _("Together with %(name)s, both or neither", name=named(now, option))


def _instead_of(now: StudentTerm, at: int, option: Alternative) -> str:
    name = named(now, option)
    return _("If %(name)s can’t be had (line %(number)s)", name=name, number=at + 1)


def named(now: StudentTerm, option: Sequence[SectionRequest]) -> str:
    """Return the names of an alternative's sections."""
    return " + ".join(now.case(None).named(part.section) for part in option)
