"""Scheduling a selection window: a form, then what it will mean, then the deed."""

from typing import cast

from flask import Blueprint, abort, current_app, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from itsdangerous import BadSignature, URLSafeSerializer

from portal.access import requires, visitor
from portal.admin.forms import read_plan
from portal.admin.times import Reading
from portal.backend import backend
from portal.catalog.board import TermView, board
from portal.db import transaction
from portal.layout import go
from portal.seats.errors import WindowRefused
from portal.windows import cohorts, schedule
from portal.windows.localtime import Clockface
from portal.words import _, _l

bp = Blueprint("windows", __name__, url_prefix="/terms/<int:term_id>/windows")

REFUSED = {
    "already_open": _l(
        "The window has begun, so it can't be moved or canceled. Extend or close it."
    ),
    "already_ended": _l(
        "The window has ended, so nothing about it can be changed. Schedule another."
    ),
    "not_open": _l(
        "The window has not begun, so it can't be extended or closed. Move or cancel it."
    ),
    "canceled": _l(
        "The window was canceled, so nothing about it can be changed. Schedule another."
    ),
    "times_crossed": _l(
        "The end must come after the beginning, and after the end that it has now."
    ),
    "in_the_past": _l("The end is in the past."),
    "unknown": _l("There is no such window in this term."),
    "exists": _l("This form was sent before with other content. Begin again."),
}


@bp.get("/new")
@requires("admin")
def new(term_id: int) -> ResponseReturnValue:
    """The empty form."""
    return _form(board(term_id).term, Reading(), 200)


@bp.post("")
@requires("admin")
def create(term_id: int) -> ResponseReturnValue:
    """What is wrong with the form, or a page to confirm it on, or, confirmed, the new window."""
    term = board(term_id).term
    with transaction() as session:
        plan, reading = read_plan(session, request.form, clock(), backend().ledger.now())
        students = cohorts.size(session, plan.cohort) if plan else 0
    if plan is None or "edit" in request.form:
        return _form(term, reading, 422 if reading.errors else 200)
    if "confirmed" not in request.form:
        return render_template(
            "admin/confirm.html",
            term=term,
            plan=plan,
            students=students,
            whom=cohorts.describe(plan.cohort),
            kept=[*request.form.items(multi=True)],
            ticket=_tickets().dumps(schedule.new_id()),
        )
    return _schedule(term, plan, reading)


def clock() -> Clockface:
    """The clock on the institution's walls."""
    return Clockface(backend().settings.zone)


def _schedule(term: TermView, plan: schedule.Plan, reading: Reading) -> ResponseReturnValue:
    try:
        schedule.schedule(term.id, _ticket(), plan, visitor().id)
    except WindowRefused as refused:
        reading.wrong("closes", str(REFUSED[refused.code]))
        return _form(term, reading, 422)
    flash(_("Scheduled: %(name)s begins %(when)s.", name=plan.name, when=clock().full(plan.opens)))
    return go(url_for("admin.terms.index"))


def _form(term: TermView, reading: Reading, status: int) -> ResponseReturnValue:
    with transaction() as session:
        choices = cohorts.choices(session)
    page = render_template(
        "admin/new.html", term=term, form=request.form, reading=reading, choices=choices
    )
    return page, status


def _ticket() -> int:
    """The window id that the confirm page was given, so that a form sent twice makes one window."""
    try:
        return cast("int", _tickets().loads(request.form.get("ticket", "")))
    except BadSignature:
        abort(400)


def _tickets() -> URLSafeSerializer:
    return URLSafeSerializer(current_app.secret_key or "", salt="new window")
