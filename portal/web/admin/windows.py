"""Selection windows: scheduling, moving, canceling, extending and closing them.

Admins enter times and cohorts on pages that change nothing, so going back or reloading submits
nothing again. A new window is stored as a draft until it is confirmed.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from flask import Blueprint, abort, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict

from portal.backend import backend
from portal.catalog import cohort_names
from portal.catalog.local_time import local_clock
from portal.catalog.term_catalog import TermView, catalog_of
from portal.core.db import transaction
from portal.core.i18n import _, _l
from portal.ledger.errors import WindowRefused
from portal.ledger.types import Change, WindowView
from portal.web import drafts
from portal.web.admin.form_reading import Reading
from portal.web.admin.terms import ScheduledWindow, scheduled
from portal.web.admin.window_form import read_plan, typed
from portal.web.confirm import Confirmation, confirm, done
from portal.web.forms import Form, MomentField, ReasonForm
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go
from portal.web.http.uploads import takes_files
from portal.windows import cohorts, service
from portal.windows.coverage import count_doubled, effects
from portal.windows.service import Author, time_warnings

bp = Blueprint("windows", __name__, url_prefix="/terms/<int:term_id>/windows")

FARTHEST = 5 * 365 * 24 * 60 * 60_000  # ms; a later time means a mistyped year
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
    "changed": _l(
        "Somebody has changed the window since you looked at it, so nothing was done."
        " Below is how it is now."
    ),
}
TOO_LATE = {"before": "not_open", "open": "already_open", "ended": "already_ended"}


@dataclass(frozen=True)
class WindowAction:
    """An action on a window: its texts, its fields, the phase that it needs."""

    title: str
    meaning: str
    in_room: str  # about the waiting room's students, with `waiting` and `inside`
    button: str
    done: str  # with `name`, the window's
    phase: str
    fields: tuple[str, ...]
    do: Callable[..., Change]


ACTIONS = {
    "move": WindowAction(
        _l("Move the window"),
        _l("Students see the new times at once; countdowns on open pages follow."),
        _l("In the waiting room: %(waiting)s. They keep their places."),
        _l("Move it"),
        _l("Moved: %(name)s."),
        "before",
        ("opens", "closes"),
        service.move,
    ),
    "cancel": WindowAction(
        _l("Cancel the window"),
        _l("It will not begin, as students see at once."),
        _l("In the waiting room: %(waiting)s. They are let go."),
        _l("Cancel the window"),
        _l("Canceled: %(name)s."),
        "before",
        (),
        service.cancel,
    ),
    "extend": WindowAction(
        _l("Extend the window"),
        _l("It goes on without a break until the new end; countdowns on open pages follow."),
        _l("In line: %(waiting)s, inside: %(inside)s. All of them have more time."),
        _l("Extend it"),
        _l("Extended: %(name)s."),
        "open",
        ("closes",),
        service.extend,
    ),
    "close": WindowAction(
        _l("Close the window now"),
        _l(
            "From this moment on nobody can pick or drop through it. Seats that are held stay held."
        ),
        _l("In line: %(waiting)s, inside: %(inside)s. None of them can pick any more."),
        _l("Close it now"),
        _l("Closed: %(name)s."),
        "open",
        (),
        service.close,
    ),
}


class TimesForm(Form):
    """When a window begins and ends; an action deletes the field that it does not set."""

    opens = MomentField(_l("Begins"))
    closes = MomentField(_l("Ends"))

    def check(self, now: int, after: int = 0) -> bool:
        """Validate the times against each other, the ledger's clock, and the old end `after`."""
        if not self.validate():
            return False
        for field in self:
            if abs(field.data - now) > FARTHEST:
                far = _("%(field)s: that is more than five years away. Mind the year.")
                self.refuse(far % {"field": field.label.text}, field.name)
        if self.errors or "closes" not in self:
            return not self.errors
        if self.closes.data <= now:
            self.refuse(_("The end is in the past."), "closes")
        if "opens" in self and self.closes.data <= self.opens.data:
            self.refuse(_("The end must come after the beginning."), "closes")
        if self.closes.data <= after:
            self.refuse(_("The new end must come after the end that it has now."), "closes")
        return not self.errors

    @property
    def values(self) -> dict[str, Any]:
        """Return the moments (ms) by name."""
        return {field.name: field.data for field in self}

    @property
    def sent(self) -> dict[str, object]:
        """Return the submitted input, to send it again."""
        typed = {field.name: field.raw_data[0] for field in self if field.raw_data}
        chosen = {f"{field.name}_which": field.chosen for field in self if field.chosen}
        return typed | chosen


# Changing a window


@bp.route(f"/<int:window_id>/<any({','.join(ACTIONS)}):action>", methods=["GET", "POST"])
@requires("admin")
def change(term_id: int, window_id: int, action: str) -> ResponseReturnValue:
    """Ask for the new times, show the effects of the change, then make it."""
    wanted, subject = ACTIONS[action], _subject(term_id, window_id)
    before = subject.window
    times = _times(wanted, subject)
    author = Author(visitor().id, request.form.get("reason", ""), _was())
    if request.method == "POST" and service.already_done(
        action, term_id, window_id, author, times.values
    ):
        return _changed(wanted, before)  # the same button press again
    page = _confirmation(term_id, wanted, subject)
    if request.method == "GET" and subject.phase.kind != wanted.phase:
        why = REFUSED[TOO_LATE.get(subject.phase.kind, "canceled")]
        return confirm(replace(page, refusal=str(why)), lambda _reason: None)
    if wanted.fields and not times.sent:
        return _times_page(term_id, wanted, subject, times), 200
    if not times.check(subject.phase.now, before.closes if wanted.fields == ("closes",) else 0):
        return _times_page(term_id, wanted, subject, times), 422
    form = ReasonForm()

    def act(reason: str) -> ResponseReturnValue | None:
        try:
            wanted.do(term_id, window_id, **times.values, author=replace(author, reason=reason))
        except WindowRefused as refused:
            form.refuse(REFUSED[refused.code])
            return None
        return _changed(wanted, before)

    return confirm(_with_effects(page, term_id, wanted, subject, times), act, form)


def _changed(action: WindowAction, window: WindowView) -> ResponseReturnValue:
    return done(str(action.done) % {"name": window.name}, url_for("admin.terms.index"))


def _subject(term_id: int, window_id: int) -> ScheduledWindow:
    window = service.find_window(term_id, window_id)
    return scheduled(window, backend().ledger.now()) if window else abort(404)


def _times(action: WindowAction, subject: ScheduledWindow) -> TimesForm:
    """Return the form of the action's times, as submitted or as they are now."""
    sent = request.values if any(name in request.values for name in action.fields) else None
    now = {name: getattr(subject.window, name) for name in ("opens", "closes")}
    form = TimesForm(sent, data=now)
    for name in {"opens", "closes"}.difference(action.fields):
        del form[name]
    return form


def _was() -> tuple[int, int] | None:
    """Return the window's times on the page that was confirmed."""
    opens, _dash, closes = request.form.get("was", "").partition("-")
    if not (opens.isdecimal() and closes.isdecimal() and len(opens + closes) < 40):
        return None
    return int(opens), int(closes)


def _confirmation(term_id: int, action: WindowAction, subject: ScheduledWindow) -> Confirmation:
    window, clock = subject.window, local_clock()
    return Confirmation(
        title=str(action.title),
        button=str(action.button),
        back=(url_for("admin.terms.index"), _("Selection windows")),
        facts=[
            (_("Window"), f"{window.name}, {catalog_of(term_id).term.name}"),
            (_("Begins"), clock.full(window.opens)),
            (_("Ends"), clock.full(window.closes)),
            (_("For"), subject.whom),
        ],
        danger=not action.fields,
    )


def _times_page(
    term_id: int, action: WindowAction, subject: ScheduledWindow, form: TimesForm
) -> str:
    page = _confirmation(term_id, action, subject)
    return render_template(
        "admin/window_times.html", page=page, action=action, subject=subject, form=form
    )


def _with_effects(
    page: Confirmation,
    term_id: int,
    action: WindowAction,
    subject: ScheduledWindow,
    times: TimesForm,
) -> Confirmation:
    """Return the page with the effects of the change."""
    before, now, term = subject.window, subject.phase.now, catalog_of(term_id).term
    if action.fields:
        after = replace(before, **times.values)
    elif action.phase == "before":
        after = replace(before, state="canceled")
    else:
        after = replace(before, state="closed", closes=now)
    with transaction() as session:
        meaning = effects(session, term_id, before, after, now)
    warned = []
    if action.fields == ("opens", "closes") or (action.fields and before.opens > now):
        warned = time_warnings(term, local_clock(), after.opens, after.closes, now)
    return replace(
        page,
        facts=(),
        seen={**times.sent, "was": f"{before.opens}-{before.closes}"},
        template="admin/effects.html",
        context={
            "subject": subject,
            "term": term,
            "action": action,
            "after": after,
            "effects": meaning,
            "cautions": warned,
            "in_room": str(action.in_room) % {"waiting": meaning.waiting, "inside": meaning.inside},
        },
    )


# Scheduling a new window


@bp.get("/new")
@requires("admin")
def new(term_id: int) -> ResponseReturnValue:
    """Render the empty form."""
    return _form(catalog_of(term_id).term, Reading(), MultiDict(), None)


@bp.post("")
@requires("admin")
@takes_files
def create(term_id: int) -> ResponseReturnValue:
    """Store the input as a draft, and go to its page; nothing is scheduled yet."""
    term, form = catalog_of(term_id).term, typed(request.form, request.files.get("file"))
    place, number = _place(term_id), request.form.get("draft", 0, type=int)
    if drafts.load(visitor().id, place, number) is None:  # a form can't invent a number
        number = service.new_id()
    drafts.save(visitor().id, place, number, form)
    return redirect(url_for(".draft", term_id=term.id, draft=number), 303)


@bp.get("/drafts/<int:draft>")
@requires("admin")
def draft(term_id: int, draft: int) -> ResponseReturnValue:
    """Render a draft's errors, or the effects of scheduling it."""
    term, form = catalog_of(term_id).term, drafts.load(visitor().id, _place(term_id), draft)
    if form is None:
        return _gone(term)
    now = backend().ledger.now()
    with transaction() as session:
        plan, reading = read_plan(session, form, local_clock(), now)
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
            cautions=time_warnings(term, local_clock(), plan.opens, plan.closes, now),
            whom=cohort_names.describe(plan.cohort),
        )


@bp.post("/drafts/<int:draft>")
@requires("admin")
def schedule_draft(term_id: int, draft: int) -> ResponseReturnValue:
    """Schedule the draft; its number is the window's, so two presses create one window."""
    term, form = catalog_of(term_id).term, drafts.load(visitor().id, _place(term_id), draft)
    if form is None:
        return _gone(term)
    clock = local_clock()
    with transaction() as session:
        plan, reading = read_plan(session, form, clock, backend().ledger.now())
    if plan is None:
        return _form(term, reading, form, draft), 422
    try:
        service.schedule(term.id, draft, plan, visitor().id)
    except WindowRefused as refused:
        reading.wrong("closes", str(REFUSED[refused.code]))
        return _form(term, reading, form, None), 422
    flash(_("Scheduled: %(name)s begins %(when)s.", name=plan.name, when=clock.full(plan.opens)))
    return go(url_for("admin.terms.index"))


def _place(term_id: int) -> str:
    """Return the key under which the drafts of a term are stored."""
    return url_for(".create", term_id=term_id)


def _gone(term: TermView) -> ResponseReturnValue:
    flash(_("What you had filled in is not kept any more. Begin again."))
    return redirect(url_for(".new", term_id=term.id), 303)


def _form(term: TermView, reading: Reading, form: MultiDict[str, str], draft: int | None) -> str:
    with transaction() as session:
        choices = cohorts.choices(session)
    return render_template(
        "admin/new.html", term=term, form=form, reading=reading, choices=choices, draft=draft
    )
