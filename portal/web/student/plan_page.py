"""My plan: its page, its panel for other tabs, the buttons that change it, and its submission."""

import logging
import re
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from flask import abort, redirect, render_template
from flask.typing import ResponseReturnValue
from htmx_flask import request

from portal.catalog import linked_courses
from portal.catalog.term_catalog import SectionView, catalog_of
from portal.core import logs
from portal.core.cache import AWAY
from portal.core.i18n import _, _l
from portal.ledger.errors import LedgerBehind, LedgerUnavailable
from portal.ledger.types import Reason
from portal.live.publish import signal_student
from portal.people.roles import Right
from portal.registration import commands, plans
from portal.registration.credits import amount, credit_choices
from portal.registration.next_steps import section_name
from portal.registration.plan_store import StalePlan, change, settle
from portal.registration.plans import MOST_TOGETHER, CannotPlan, Change, Plan, Problem, change_of
from portal.registration.precheck import gone, plan_credits
from portal.registration.reasons import explain
from portal.registration.requests import Alternative, SectionRequest
from portal.web.http import flash_messages
from portal.web.http.access import requires, visitor
from portal.web.http.admission import needs_access_token
from portal.web.http.errors import LATER, UNSURE
from portal.web.student import bp, fragments, request_form
from portal.web.student.dialogs import NOTHING, form, published_section, seats_of, visible_section
from portal.web.student.earlier_terms import last_time
from portal.web.student.plan_panel import live_counts, panel, reasons_against
from portal.web.student.register import CorequisiteGroup, corequisite_groups
from portal.web.student.request_form import resumes_plan, resumes_planning
from portal.web.student.results import close_dialog, fulfilled, show_plan_result
from portal.web.student.rounds import late_for_ballot
from portal.web.student.student_term import StudentTerm, reserved_notes
from portal.web.student.term_page import around, mine_of, or_recorded

log = logging.getLogger(__name__)

STALE = _l("Your plan has changed, maybe in another tab. This is the current version.")
HINDRANCES = {
    Problem.CHOICES: _l("A plan holds at most 20 choices. Remove one first."),
    Problem.ALTERNATIVES: _l(
        "A choice holds at most 6 sections: one and its backups. Remove one first."
    ),
    Problem.SECTIONS: _l("A plan holds at most 80 sections in total. Remove one first."),
    Problem.TOGETHER: _l("You can take at most 4 sections together."),
    Problem.PLANNED: _l("This section is already in your plan."),
    Problem.GONE: _l("This section is no longer in your plan."),
}
TAKES_OUT = ("remove", "omit")
CHANGED = {
    "out": _l("Removed from your plan: %(name)s."),
    "move": _l("Moved in your plan: %(name)s."),
    "in": _l("Added to your plan: %(name)s."),
}


@bp.get("/plan")
@requires(Right.REGISTER)
@resumes_plan
@or_recorded
def plan(term_id: int) -> ResponseReturnValue:
    """Show my plan with its buttons."""
    return render_template("student/plan.html", **around(mine_of(term_id)))


@bp.get("/plan/panel")
@requires(Right.REGISTER)
@resumes_plan
def plan_panel(term_id: int) -> ResponseReturnValue:
    """Show the current plan for a page with an older one; `full` as on its own page."""
    return panel(mine_of(term_id), full="full" in request.args)


@bp.post("/plan/change")
@requires(Right.REGISTER)
@resumes_plan
def change_plan(term_id: int) -> ResponseReturnValue:
    """Apply a button of the plan, or show why that failed."""
    action, page = request.form.get("do", ""), f"/terms/{term_id}/plan"
    # Read first: if this fails, nothing is changed, and the response says so.
    now = mine_of(term_id)
    try:
        wanted = change_of(action, _number("line"), lambda section: _credits(term_id, section))
        changed = _change(term_id, wanted)
    except (StalePlan, CannotPlan) as error:
        why = _hindrance(error)
        if request.htmx:
            return panel(now, message=why), 422
        flash_messages.keep(why, "few", page)
        return redirect(page, 303)
    late = late_for_ballot(changed, request.form.get("ballot", ""))
    if not request.htmx:
        if late:
            flash_messages.keep(late, "few", page)
        return redirect(page, 303)
    if late:
        return panel(now, message=late)
    if action.startswith(TAKES_OUT):
        message = fragments.toast(_("Removed from your plan."), brief=True, about="plan")
        return panel(now, lost=True) + message
    return panel(now)


@bp.post("/plan/submit")
@requires(Right.REGISTER)
@resumes_plan
@needs_access_token
def submit_plan(term_id: int) -> ResponseReturnValue:
    """Show the result of every choice; the form carries the plan, so this needs no query."""
    try:
        sent, term = plans.read(request.form.get("plan", "")), catalog_of(term_id).term
    except ValueError:
        abort(400)
    if not sent.choices:
        abort(400)
    try:
        decided = commands.register(request_form.context(term_id), sent.choices)
    except (LedgerUnavailable, LedgerBehind, *AWAY) as error:
        if not request_form.is_unsure(error):
            raise
        logs.warn(log, "No answer to a plan", repr(error))
        packed, key = plans.write(sent), request_form.idempotency_key()
        page = render_template(
            "student/plan_again.html", message=UNSURE, packed=packed, key=key, term=term
        )
        return page, 503, LATER
    student, gone = visitor().student_id or 0, fulfilled(sent, decided)
    settled = settle(term_id, student, gone) if gone else None
    if settled:
        signal_student(term_id, student, "plan", {"version": settled.version})
    return show_plan_result(sent, decided, term_id, settled)


def _change(term_id: int, wanted: Change, *, any_version: bool = False) -> Plan:
    """Change the plan version that the form showed, and update the student's other pages.

    Raise StalePlan or CannotPlan.
    """
    student = visitor().student_id or 0
    changed = change(term_id, student, None if any_version else _number("version"), wanted)
    signal_student(term_id, student, "plan", {"version": changed.version})
    return changed


def _hindrance(error: StalePlan | CannotPlan) -> str:
    return str(STALE if isinstance(error, StalePlan) else HINDRANCES[error.problem])


def _number(field: str) -> int:
    """Return a number of the form, or respond with 400."""
    text = request.form.get(field, "")
    return int(text) if request_form.NUMBER.fullmatch(text) else abort(400)


def _credits(term_id: int, section: int) -> int:
    """Return the credits (hundredths) chosen for a planned section; respond with 400 to others."""
    chosen = _chosen_credits(published_section(term_id, section), f"credits-{section}")
    return abort(400) if chosen is None else chosen


def _chosen_credits(view: SectionView, field: str = "credits") -> int | None:
    try:
        return request_form.chosen_credits(view, field)
    except ValueError:
        abort(400)


# Plan a section: as a choice, as an alternative, or with its corequisite.


@bp.get("/sections/<int:section_id>/plan")
@requires(Right.REGISTER)
@resumes_planning
def ask_plan(term_id: int, section_id: int) -> ResponseReturnValue:
    """Show the form that adds a section to the plan, with likely refusals."""
    return _plan_form(*visible_section(term_id, section_id))


@bp.post("/sections/<int:section_id>/plan")
@requires(Right.REGISTER)
@resumes_planning
def plan_section(term_id: int, section_id: int) -> ResponseReturnValue:
    """Add the section to the plan, move it there or take it out, or show why not."""
    act, place = request.form.get("do", "in"), request.form.get("place", "new")
    # Read first: if this fails, nothing is changed, and the response says so.
    if act == "out":  # another page may have taken it out already
        now, view = mine_of(term_id), published_section(term_id, section_id)
    else:
        now, view = visible_section(term_id, section_id)
    try:
        if act == "out":
            _change(term_id, partial(plans.take_out, section=view.id))
        elif act == "move":
            _change(term_id, partial(_moved, view=view, place=place))
        else:
            _change(term_id, change_to(place, _alternative(view)))
    except (StalePlan, CannotPlan) as error:
        return _plan_form(now, view, _hindrance(error)), 422
    message = str(CHANGED.get(act, CHANGED["in"])) % {"name": section_name(view)}
    if not request.htmx:
        back = request_form.return_address(view.term_id)
        flash_messages.keep(message, "go", back)
        return redirect(f"{back}#section-{view.id}", 303)
    toast = fragments.toast(message, tone="go", brief=True, about="plan")
    return close_dialog([panel(now, oob=True), toast])


@bp.post("/plan/toggle")
@requires(Right.REGISTER)
@resumes_plan
def toggle_plan(term_id: int) -> ResponseReturnValue:
    """Add a section to the plan at its likely place, or take it out, by one press in the list.

    A second press changes nothing: the button says which of both it asks for.
    """
    adds = "add" in request.form
    section = _number("add" if adds else "remove")
    now, view = mine_of(term_id), published_section(term_id, section)
    canceled = view.status == "CANCELED"
    if adds and not canceled:
        now, view = visible_section(term_id, section)
    try:
        if adds and canceled:
            [why] = explain([Reason("section_canceled")], now.case(view))
            message, plan = why.text, None
        else:
            plan, message = _with(now, view) if adds else _without(view)
    except CannotPlan as error:
        message, plan = _hindrance(error), None
    tone = "go" if plan else "few"
    if request.htmx:
        toast = fragments.toast(message, tone=tone, brief=True, about="plan")
        return panel(now, plan, oob=True) + toast
    back = request_form.return_address(view.term_id)
    flash_messages.keep(message, tone, back)
    return redirect(f"{back}#section-{view.id}", 303)


def _with(now: StudentTerm, view: SectionView) -> tuple[Plan, str]:
    """Add the section at its likely place; return the plan, and where it is. Raise CannotPlan."""
    plan, name = now.plan or Plan(), section_name(view)
    if view.id in now.planned:
        return plan, _("Added to your plan: %(name)s.", name=name)
    target, _groups, alternative = _likely(now, plan, view)
    changed = _change(view.term_id, change_to(target, alternative), any_version=True)
    if target == "new":
        return changed, _("Added to your plan: %(name)s.", name=name)
    choice = changed.choices[changed.choice_of(view.id) or 0]
    first = _names(now, choice.alternatives[0])
    if target.startswith("else"):
        message = _(
            "Added to your plan: %(name)s, as a backup for %(first)s.", name=name, first=first
        )
    else:
        message = _("Added to your plan: %(first)s, both or neither.", first=first)
    return changed, message


def _without(view: SectionView) -> tuple[Plan, str]:
    """Take the section out of the plan; return the plan, and what was done."""

    def take_out(plan: Plan) -> Plan:
        return plan if plan.choice_of(view.id) is None else plans.take_out(plan, view.id)

    changed = _change(view.term_id, take_out, any_version=True)
    return changed, _("Removed from your plan: %(name)s.", name=section_name(view))


def _moved(plan: Plan, view: SectionView, place: str) -> Plan:
    """Move the alternative with the section to another place. Raise CannotPlan."""
    rest = plans.take_out(plan, view.id)
    choice = plan.choices[plan.choice_of(view.id) or 0]
    own = [each for each in choice.alternatives if view.id in {part.section for part in each}]
    return change_to(place, own[0])(rest)


def _alternative(view: SectionView) -> Alternative:
    """Return the alternative in the form; respond with 400 to invalid input."""
    chosen = _chosen_credits(view)
    corequisites = [published_section(view.term_id, each) for each in request_form.corequisites()]
    return (SectionRequest(view.id, chosen), *(SectionRequest(each.id) for each in corequisites))


def _plan_form(now: StudentTerm, view: SectionView, why: str = "") -> str:
    """Render the section's place in the plan, or the places for it, with likely refusals."""
    plan = now.plan or Plan()
    if view.id in now.planned:
        at = plan.choice_of(view.id) or 0
        first, known = _names(now, plan.choices[at].alternatives[0]), _outlook(now, plan, view.id)
        lost = gone(view.id, now.catalog)
        others = [] if lost else places(now, plans.take_out(plan, view.id), view, plan)
        found = [each for each in others if not each[0].startswith("join")]
        facts = {"at": at, "first": first, "known": known, "places": found}
        return _form("plan_out", now, view, why=why, **facts)
    found = places(now, plan, view)
    likely, together, alternative = _likely(now, plan, view)
    try:
        made = change_to(likely, alternative)(plan)
    except CannotPlan as error:
        return _form("plan_in", now, view, why=why or _hindrance(error), full=True)
    known = _outlook(now, made, view.id)
    return _form("plan_in", now, view, why=why, places=found, together=together, known=known)


def _likely(
    now: StudentTerm, plan: Plan, view: SectionView
) -> tuple[str, list[CorequisiteGroup], Alternative]:
    """Return the likely place for a section, its corequisites to choose, and all of them."""
    likely, _label = places(now, plan, view)[0]
    sent = request_form.corequisites()
    together = [] if likely.startswith("join") else corequisite_groups(now, view, 0, sent)
    parts = (SectionRequest(view.id), *(SectionRequest(each.chosen) for each in together))
    return likely, together, parts


def _form(template: str, now: StudentTerm, view: SectionView, **facts: Any) -> str:
    return form(
        template,
        now,
        view,
        NOTHING,
        away=now.plan is None,
        version=now.plan.version if now.plan else 0,
        amounts=credit_choices(view),
        chosen=request_form.fields().get("credits", ""),
        place=request_form.fields().get("place"),
        limit=amount(now.credit_limit),
        counts=live_counts(seats_of(view)),
        kept=reserved_notes(now, view),
        last=last_time(now.term.id).get(view.course_id),
        **facts,
    )


# The places for a section in a plan, and the likely refusals there.

PLACE = re.compile(r"(new|else|join)(?:-(\d{1,3}))?(?:-(\d{1,3}))?", re.ASCII)


def places(
    now: StudentTerm, plan: Plan, view: SectionView, shown: Plan | None = None
) -> list[tuple[str, str]]:
    """Return the values and labels of every place for a section, the most likely first.

    Labels number choices as in the `shown` plan, which has the section at its present place.
    """
    same: list[tuple[str, str]] = []
    others: list[tuple[str, str]] = []
    for at, choice in enumerate(plan.choices):
        name = _names(now, choice.alternatives[0])
        number = ((shown or plan).choice_of(choice.sections[0]) or 0) + 1
        label = _("Backup for %(name)s (choice %(number)s)", name=name, number=number)
        fitting = same if _is_of(view, now, choice.sections) else others
        fitting.append((f"else-{at}", label))
    own_line = ("new", _("A separate choice"))
    return [*_joins(now, plan, view), *same, own_line, *others]


def _joins(now: StudentTerm, plan: Plan, view: SectionView) -> Iterator[tuple[str, str]]:
    """Yield alternatives with a corequisite section, but none of the same course."""
    corequisites = {
        each.id for group in linked_courses.sections(view, now.catalog) for each in group
    }
    for at, choice in enumerate(plan.choices):
        for rank, alternative in enumerate(choice.alternatives):
            sections = [part.section for part in alternative]
            fits = corequisites.intersection(sections) and len(sections) < MOST_TOGETHER
            if fits and not _is_of(view, now, sections):
                name = _names(now, alternative)
                yield f"join-{at}-{rank}", _("Together with %(name)s, both or neither", name=name)


def change_to(target: str, alternative: Alternative) -> Change:
    """Return the change that adds the alternative there. Raise CannotPlan if there is no place."""
    found = PLACE.fullmatch(target)
    at, rank = (int(found[2] or 0), int(found[3] or 0)) if found else (0, 0)
    match found[1] if found else "":
        case "new":
            return partial(plans.add, alternative=alternative)
        case "else":
            return partial(plans.add_alternative, choice=at, alternative=alternative)
        case "join":
            return partial(plans.join, choice=at, rank=rank, request=alternative[0])
    raise CannotPlan(Problem.GONE)


def _outlook(now: StudentTerm, plan: Plan, section: int) -> dict[str, Any]:
    """Return the likely refusals of a section at its place, and the credits of the plan with it."""
    found = now.precheck.refusals_of_plan(plan)
    at = plan.choice_of(section) or 0
    total = now.credits + plan_credits(plan, now.catalog, now.held)
    reasons = next(reasons for reasons in found[at] if section in reasons)
    return {
        "problems": reasons_against(now, reasons),
        "credits": amount(total),
        "over": total > now.credit_limit,
    }


def _is_of(view: SectionView, now: StudentTerm, sections: Sequence[int]) -> bool:
    return any(each.course_id == view.course_id for each in now.catalog.some(sections))


def _names(now: StudentTerm, alternative: Alternative) -> str:
    return now.case(None).names(part.section for part in alternative)
