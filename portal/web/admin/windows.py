"""Selection windows: scheduling, moving, canceling, extending and closing them.

Admins enter times and cohorts on pages that change nothing, so going back or reloading submits
nothing again. A new window is stored as a draft until it is confirmed.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

from flask import Blueprint, abort, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog import cohort_names
from portal.catalog.local_time import local_clock
from portal.catalog.term_catalog import TermView, catalog_of
from portal.core.db import transaction
from portal.core.i18n import _, _l
from portal.ledger.errors import WindowRefused
from portal.ledger.types import Change, WindowView
from portal.operations.term_overview import ScheduledWindow, scheduled
from portal.people.roles import Right
from portal.waiting_room import room
from portal.web import drafts
from portal.web.admin.window_forms import NewWindowForm, TimesForm, with_uploaded
from portal.web.confirm import Confirmation, confirm, done, refused
from portal.web.forms import ReasonForm, render_form
from portal.web.http.access import requires, visitor
from portal.web.http.uploads import takes_files
from portal.windows import cohorts, service
from portal.windows.coverage import count_doubled, effects
from portal.windows.service import Author, time_warnings

bp = Blueprint("windows", __name__, url_prefix="/terms/<int:term_id>/windows")

REFUSED = {
    "already_open": _l(
        "The window has already started, so you can’t move or cancel it. You can"
        " extend or close it."
    ),
    "already_ended": _l("The window has ended, so you can’t change it. Schedule another one."),
    "not_open": _l(
        "The window has not started yet, so you can’t extend or close it. You can move"
        " or cancel it."
    ),
    "canceled": _l("The window is canceled, so you can’t change it. Schedule another one."),
    "times_crossed": _l("The end must be after the start and later than the current end."),
    "in_the_past": _l("The end is in the past."),
    "unknown": _l("This term has no such window."),
    "archived": _l("The term is archived. Bring it back first."),
    "round": _l(
        "An allocation round takes ballots of some of the same students at that time. Choose other"
        " times or students."
    ),
    "exists": _l("This form was already sent with other content. Start again."),
    "changed": _l(
        "Someone else has changed the window, so nothing was changed. The current values are below."
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
        _l("Students see the new times at once. Countdowns on open pages are updated."),
        _l("In the waiting room: %(waiting)s. They keep their positions."),
        _l("Move window"),
        _l("Moved: %(name)s."),
        "before",
        ("opens", "closes"),
        service.move,
    ),
    "cancel": WindowAction(
        _l("Cancel the window"),
        _l("The window will not open. Students see this at once."),
        _l("In the waiting room: %(waiting)s. They leave the queue."),
        _l("Cancel the window"),
        _l("Canceled: %(name)s."),
        "before",
        (),
        service.cancel,
    ),
    "extend": WindowAction(
        _l("Extend the window"),
        _l("The window stays open until the new end. Countdowns on open pages are updated."),
        _l("In the waiting room: %(waiting)s, admitted: %(inside)s. All of them get more time."),
        _l("Extend window"),
        _l("Extended: %(name)s."),
        "open",
        ("closes",),
        service.extend,
    ),
    "close": WindowAction(
        _l("Close the window now"),
        _l("Students can no longer add or drop classes in this window. They keep current seats."),
        _l(
            "In the waiting room: %(waiting)s, admitted: %(inside)s. None of them can"
            " register any longer."
        ),
        _l("Close window now"),
        _l("%(name)s is closed."),
        "open",
        (),
        service.close,
    ),
}


def window_or_404(term_id: int, window_id: int) -> WindowView:
    """Return the window of the term, or 404."""
    return service.find_window(term_id, window_id) or abort(404)


# Changing a window


@bp.route(f"/<int:window_id>/<any({','.join(ACTIONS)}):action>", methods=["GET", "POST"])
@requires(Right.CHANGE_WINDOWS)
def change(term_id: int, window_id: int, action: str) -> ResponseReturnValue:
    """Ask for the new times, show the effects of the change, then make it."""
    wanted, author = ACTIONS[action], Author(visitor().id, was=_seen_times())
    window = window_or_404(term_id, window_id)
    subject = scheduled(window, backend().ledger.now())
    times = _times_form(wanted, window)
    result = str(wanted.done) % {"name": window.name}, url_for("admin.terms.index")
    if request.method == "POST" and service.already_done(
        action, term_id, window_id, author, times.values
    ):
        return done(*result)  # the same form was sent again
    page = _confirmation(term_id, wanted, subject)
    if request.method == "GET" and subject.phase.kind != wanted.phase:
        return refused(page, str(REFUSED[TOO_LATE.get(subject.phase.kind, "canceled")]))
    asks = wanted.fields and not times.sent
    if asks or not times.check(subject.phase.now, window.closes if action == "extend" else 0):
        template = "admin/window_times.html"
        return render_form(template, times, page=page, action=wanted, subject=subject)
    form = ReasonForm()

    def act(reason: str) -> ResponseReturnValue | None:
        try:
            wanted.do(term_id, window_id, **times.values, author=replace(author, reason=reason))
        except WindowRefused as refusal:
            form.refuse(REFUSED[refusal.code])
            return None
        return done(*result)

    return confirm(_with_effects(page, term_id, wanted, subject, times), act, form)


def _times_form(action: WindowAction, window: WindowView) -> TimesForm:
    """Return the form of the action's times, as submitted or as they are now."""
    sent = request.values if any(name in request.values for name in action.fields) else None
    form = TimesForm(sent, obj=window)
    for name in {"opens", "closes"}.difference(action.fields):
        del form[name]
    return form


def _seen_times() -> tuple[int, int] | None:
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
        back=(url_for("admin.terms.index"), _("Windows")),
        facts=[
            (_("Window"), f"{window.name}, {catalog_of(term_id).term.name}"),
            (_("Begins"), clock.full(window.opens)),
            (_("Ends"), clock.full(window.closes)),
            (_("For"), subject.cohort),
        ],
        danger=not action.fields,
    )


def _with_effects(
    page: Confirmation,
    term_id: int,
    action: WindowAction,
    subject: ScheduledWindow,
    times: TimesForm,
) -> Confirmation:
    before, now, term = subject.window, subject.phase.now, catalog_of(term_id).term
    if action.fields:
        after = replace(before, **times.values)
    elif action.phase == "before":
        after = replace(before, state="canceled")
    else:
        after = replace(before, state="closed", closes=now)
    warned = []
    if action.fields == ("opens", "closes") or (action.fields and before.opens > now):
        warned = time_warnings(term, local_clock(), after.opens, after.closes, now)
    with transaction() as session:
        meaning = effects(session, term_id, before, after, now)
    in_room = ""
    if backend().settings.room is not None:
        state = room.state(term_id, before.id)
        if state.waiting or state.inside:
            about = {"waiting": state.waiting, "inside": state.inside}
            in_room = str(action.in_room) % about
    return replace(
        page,
        facts=(),
        seen={**times.sent, "was": f"{before.opens}-{before.closes}"},
        template="admin/window_effects.html",
        context={
            "subject": subject,
            "term": term,
            "action": action,
            "after": after,
            "effects": meaning,
            "doubled": meaning.doubled,
            "warnings": warned,
            "in_room": in_room,
        },
    )


# Scheduling a new window


@bp.get("")
@requires(Right.SEE_TERMS)
def index(term_id: int) -> ResponseReturnValue:
    """Go to the page where the windows of every term are, at this term."""
    term = catalog_of(term_id).term
    return redirect(url_for("admin.terms.index", _anchor=f"term-{term.id}"))


@bp.get("/new")
@requires(Right.CHANGE_WINDOWS)
def new(term_id: int) -> ResponseReturnValue:
    """Render the empty form."""
    term = catalog_of(term_id).term
    with transaction() as session:
        return _form_page(term, NewWindowForm(None, session))


@bp.post("")
@requires(Right.CHANGE_WINDOWS)
@takes_files
def create(term_id: int) -> ResponseReturnValue:
    """Store the input as a draft, and go to its page; nothing is scheduled yet."""
    term, sent = catalog_of(term_id).term, with_uploaded(request.form, request.files.get("file"))
    path, number = _draft_path(term_id), request.form.get("draft", 0, type=int)
    if drafts.load(visitor().id, path, number) is None:  # a form can't invent a number
        number = service.new_id()
    drafts.save(visitor().id, path, number, sent)
    return redirect(url_for(".draft", term_id=term.id, draft=number), 303)


@bp.route("/drafts/<int:draft>", methods=["GET", "POST"])
@requires(Right.CHANGE_WINDOWS)
def draft(term_id: int, draft: int) -> ResponseReturnValue:
    """Show a draft's errors, or the effects of scheduling it; schedule it on a POST.

    The draft's number becomes the window's, so two presses create one window.
    """
    term, sent = catalog_of(term_id).term, drafts.load(visitor().id, _draft_path(term_id), draft)
    if sent is None:
        flash(_("Your entries are no longer stored. Start again."))
        return redirect(url_for(".new", term_id=term.id), 303)
    now, clock = backend().ledger.now(), local_clock()
    with transaction() as session:
        form = NewWindowForm(sent, session)
        if not form.check(now) or "edit" in request.args:
            return _form_page(term, form, draft)
        if request.method != "POST":
            return _review_page(session, term, form, draft, now)
    window = form.window
    try:
        service.schedule(term.id, draft, window, visitor().id)
    except WindowRefused as refusal:
        form.refuse(REFUSED[refusal.code], "closes")
        return _form_page(term, form)
    opens = clock.full(window.opens)
    return done(
        _("Scheduled: %(name)s opens %(when)s.", name=window.name, when=opens),
        url_for("admin.terms.index"),
    )


def _draft_path(term_id: int) -> str:
    """Return the key under which the drafts of a term are stored."""
    return url_for(".create", term_id=term_id)


def _form_page(
    term: TermView, form: NewWindowForm, draft: int | None = None
) -> ResponseReturnValue:
    return render_form("admin/window_new.html", form, term=term, draft=draft)


def _review_page(
    session: Session, term: TermView, form: NewWindowForm, draft: int, now: int
) -> str:
    window = form.window
    planned = WindowView(
        draft, window.name, window.opens, window.closes, "scheduled", dict(window.cohort)
    )
    return render_template(
        "admin/window_review.html",
        term=term,
        window=window,
        draft=draft,
        form=form,
        students=cohorts.count_students(session, window.cohort),
        doubled=count_doubled(session, planned, backend().ledger.windows(term.id), now),
        warnings=time_warnings(term, local_clock(), window.opens, window.closes, now),
        cohort=cohort_names.describe(window.cohort),
    )
