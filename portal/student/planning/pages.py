"""My plan: its page, its panel for other tabs, and the buttons that change it."""

from decimal import Decimal

from flask import abort, redirect, render_template
from flask.typing import ResponseReturnValue
from htmx_flask import request

from portal.core.i18n import _, _l
from portal.live.publish import signal_student
from portal.registration.credits import credit_choices, hundredths
from portal.registration.plan_store import StalePlan, change
from portal.registration.plans import CannotPlan, Change, Plan, Problem, change_of
from portal.student import bp, fragments, wish
from portal.student.asking import card_of
from portal.student.pages import around, mine_of
from portal.student.planning.panel import panel
from portal.student.recorded import or_recorded
from portal.student.resuming import with_plan
from portal.student.scene import Scene
from portal.web.http import flash_messages
from portal.web.http.access import requires, visitor

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
    """My plan with all that can be changed in it, below the countdown."""
    return render_template("student/plan.html", **around(mine_of(term_id)))


@bp.get("/plan/panel")
@requires("student")
@with_plan
def plan_panel(term_id: int) -> ResponseReturnValue:
    """The plan as it is now, for a page that shows an older one; `full` as on its own page."""
    return panel(mine_of(term_id), full="full" in request.args), {"Cache-Control": "no-store"}


@bp.post("/plan/change")
@requires("student")
@with_plan
def change_plan(term_id: int) -> ResponseReturnValue:
    """The plan changed by one of its buttons; or as it is, where that could not be done."""
    word = request.form.get("do", "")
    now = mine_of(term_id)  # first: where it can't be read, nothing is changed, as is then said
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
    """Change the plan as the form has seen it, and tell the student's other pages.

    Raises StalePlan and CannotPlan.
    """
    student = visitor().student_id or 0
    changed = change(term_id, student, number("version"), wanted)
    signal_student(term_id, student, "plan", {"version": changed.version})
    return changed


def hindrance(error: StalePlan | CannotPlan) -> str:
    """Why the plan could not be changed, in words."""
    return str(STALE if isinstance(error, StalePlan) else HINDRANCES[error.problem])


def number(field: str) -> int:
    """A number that the form carries; 400 where it is none."""
    text = request.form.get(field, "")
    if not wish.NUMBER.fullmatch(text):
        abort(400)
    return int(text)


def _hindered(now: Scene, why: str) -> ResponseReturnValue:
    if request.htmx:
        return panel(now, said=why), 422
    page = f"/terms/{now.term.id}/plan"
    flash_messages.keep(why, "few", page)
    return redirect(page, 303)


def _credits(term_id: int, section: int) -> int:
    """The credits (hundredths) chosen for a section; 400 where it is not offered for them."""
    chosen = request.form.get(f"credits-{section}", "")
    if chosen not in credit_choices(card_of(term_id, section)):
        abort(400)
    return hundredths(Decimal(chosen))
