"""Scheduling a selection window: a form, then what it will mean, then the deed.

What was filled in is kept as a draft, and shown at an address of its own: going back or loading
anew sends nothing a second time.
"""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict

from portal.admin.times import Reading
from portal.admin.windows.deeds import REFUSED
from portal.admin.windows.form import read_plan, typed
from portal.backend import backend
from portal.catalog import cohort_names
from portal.catalog.local_time import LocalClock
from portal.catalog.term_catalog import TermView, catalog_of
from portal.core.db import transaction
from portal.core.i18n import _
from portal.ledger.errors import WindowRefused
from portal.ledger.types import WindowView
from portal.web import drafts
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go
from portal.web.http.uploads import takes_files
from portal.windows import cohorts, service
from portal.windows.coverage import count_doubled
from portal.windows.service import time_warnings

bp = Blueprint("windows", __name__, url_prefix="/terms/<int:term_id>/windows")

Form = MultiDict[str, str]


@bp.get("/new")
@requires("admin")
def new(term_id: int) -> ResponseReturnValue:
    """The empty form."""
    return _form(catalog_of(term_id).term, Reading(), MultiDict(), None)


@bp.post("")
@requires("admin")
@takes_files
def create(term_id: int) -> ResponseReturnValue:
    """Keep what was filled in, to be looked over; nothing is scheduled yet."""
    term, form = catalog_of(term_id).term, typed(request.form, request.files.get("file"))
    place, number = _place(term_id), request.form.get("draft", 0, type=int)
    if drafts.load(visitor().id, place, number) is None:  # a number is never made up by a form
        number = service.new_id()
    drafts.save(visitor().id, place, number, form)
    return redirect(url_for(".draft", term_id=term.id, draft=number), 303)


@bp.get("/drafts/<int:draft>")
@requires("admin")
def draft(term_id: int, draft: int) -> ResponseReturnValue:
    """What is wrong with the draft, or what it will mean, with the button that schedules it."""
    term, form = catalog_of(term_id).term, drafts.load(visitor().id, _place(term_id), draft)
    if form is None:
        return _gone(term)
    now = backend().ledger.now()
    with transaction() as session:
        plan, reading = read_plan(session, form, clock(), now)
        if plan is None or "edit" in request.args:
            return _form(term, reading, form, draft), 422 if reading.errors else 200
        planned = WindowView(
            draft, plan.name, plan.opens, plan.closes, "scheduled", dict(plan.cohort)
        )
        return render_template(
            "admin/confirm.html",
            term=term,
            plan=plan,
            draft=draft,
            listed=reading.listed,
            students=cohorts.count_students(session, plan.cohort),
            doubled=count_doubled(session, planned, backend().ledger.windows(term.id), now),
            cautions=time_warnings(term, clock(), plan.opens, plan.closes, now),
            whom=cohort_names.describe(plan.cohort),
        )


@bp.post("/drafts/<int:draft>")
@requires("admin")
def confirm(term_id: int, draft: int) -> ResponseReturnValue:
    """Schedule what was looked over; the draft's number is the window's, so twice makes one."""
    term, form = catalog_of(term_id).term, drafts.load(visitor().id, _place(term_id), draft)
    if form is None:
        return _gone(term)
    with transaction() as session:
        plan, reading = read_plan(session, form, clock(), backend().ledger.now())
    if plan is None:
        return _form(term, reading, form, draft), 422
    try:
        service.schedule(term.id, draft, plan, visitor().id)
    except WindowRefused as refused:
        reading.wrong("closes", str(REFUSED[refused.code]))
        return _form(term, reading, form, None), 422
    flash(_("Scheduled: %(name)s begins %(when)s.", name=plan.name, when=clock().full(plan.opens)))
    return go(url_for("admin.terms.index"))


def clock() -> LocalClock:
    """The clock on the institution's walls."""
    return LocalClock(backend().settings.zone)


def _place(term_id: int) -> str:
    """Where its drafts are kept: another term's are not known there."""
    return url_for(".create", term_id=term_id)


def _gone(term: TermView) -> ResponseReturnValue:
    flash(_("What you had filled in is not kept any more. Begin again."))
    return redirect(url_for(".new", term_id=term.id), 303)


def _form(term: TermView, reading: Reading, form: Form, draft: int | None) -> str:
    with transaction() as session:
        choices = cohorts.choices(session)
    return render_template(
        "admin/new.html", term=term, form=form, reading=reading, choices=choices, draft=draft
    )
