"""Moving, canceling, extending and closing a window: what it will mean first, then the deed.

Times are given on a page that changes nothing, so that going back sends nothing again.
"""

from dataclasses import replace

from flask import Blueprint, abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from werkzeug.datastructures import MultiDict

from portal.admin.reasons import read_reason
from portal.admin.terms import Scheduled, scheduled
from portal.admin.times import Reading, check_order, read_time
from portal.admin.windows.deeds import DEEDS, REFUSED, TOO_LATE, Deed
from portal.admin.windows.pages import clock
from portal.backend import backend
from portal.catalog.term_catalog import catalog_of
from portal.core.db import transaction
from portal.core.i18n import _
from portal.ledger.errors import WindowRefused
from portal.ledger.types import WindowView
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go
from portal.windows import service
from portal.windows.coverage import effects
from portal.windows.service import Author, time_warnings

bp = Blueprint("changes", __name__, url_prefix="/terms/<int:term_id>/windows/<int:window_id>")

ROUTE = f"/<any({','.join(DEEDS)}):action>"
Form = MultiDict[str, str]


@bp.get(ROUTE)
@requires("admin")
def ask(term_id: int, window_id: int, action: str) -> ResponseReturnValue:
    """The form for its times, or what it will mean; where it can't be done any more, why."""
    deed, subject, form = DEEDS[action], _subject(term_id, window_id), request.args
    if subject.phase.kind != deed.phase:
        reading = Reading()
        reading.wrong("", str(REFUSED[TOO_LATE.get(subject.phase.kind, "canceled")]))
        return _page("change", term_id, deed, subject, reading), 409
    if any(name not in form for name in deed.fields):
        return _page("change", term_id, deed, subject, Reading())
    reading = _read(deed, subject, form)
    if reading.errors:
        return _page("change", term_id, deed, subject, reading), 422
    return _look(term_id, deed, subject, reading)


@bp.post(ROUTE)
@requires("admin")
def do(term_id: int, window_id: int, action: str) -> ResponseReturnValue:
    """Do it, or say all that stands against it."""
    deed, subject = DEEDS[action], _subject(term_id, window_id)
    reading = _read(deed, subject, request.form)
    author = Author(visitor().id, request.form.get("reason", ""), _was())
    if service.already_done(action, term_id, window_id, author, reading.values):
        return _done(deed, subject)  # the same press once more
    if reading.errors:
        return _page("change", term_id, deed, subject, reading), 422
    author = replace(author, reason=read_reason(reading, request.form))
    if not reading.errors:
        try:
            deed.do(term_id, window_id, **reading.values, author=author)
        except WindowRefused as refused:
            reading.wrong("", str(REFUSED[refused.code]))
            subject = _subject(term_id, window_id)
    if reading.errors:
        return _look(term_id, deed, subject, reading), 422
    return _done(deed, subject)


def _done(deed: Deed, subject: Scheduled) -> ResponseReturnValue:
    flash(str(deed.done) % {"name": subject.window.name})
    return go(url_for("admin.terms.index"))


def _subject(term_id: int, window_id: int) -> Scheduled:
    window = service.find_window(term_id, window_id)
    return scheduled(window, backend().ledger.now()) if window else abort(404)


def _read(deed: Deed, subject: Scheduled, form: Form) -> Reading:
    reading = Reading()
    for name in deed.fields:
        read_time(reading, form, name, clock())
    if deed.fields:
        check_order(reading, subject.phase.now)
    if deed.fields == ("closes",) and reading.values.get("closes", 0) <= subject.window.closes:
        reading.wrong("closes", _("The new end must come after the end that it has now."))
    return reading


def _was() -> tuple[int, int] | None:
    """The times that the window had on the page that was confirmed."""
    opens, _dash, closes = request.form.get("was", "").partition("-")
    if not (opens.isdecimal() and closes.isdecimal() and len(opens + closes) < 40):
        return None
    return int(opens), int(closes)


def _look(term_id: int, deed: Deed, subject: Scheduled, reading: Reading) -> str:
    """The page that says what it will mean, with the button that does it."""
    before, now, term = subject.window, subject.phase.now, catalog_of(term_id).term
    after = _after(deed, before, reading, now)
    with transaction() as session:
        meaning = effects(session, term_id, before, after, now)
    warned = time_warnings(term, clock(), after.opens, after.closes, now) if deed.fields else []
    if deed.fields == ("closes",):
        warned = [each for each in warned if before.opens > now]
    return _page(
        "effects",
        term_id,
        deed,
        subject,
        reading,
        after=after,
        effects=meaning,
        cautions=warned,
        line=str(deed.line) % {"waiting": meaning.waiting, "inside": meaning.inside},
    )


def _after(deed: Deed, window: WindowView, reading: Reading, now: int) -> WindowView:
    if deed.fields:
        return replace(window, **{name: reading.values[name] for name in deed.fields})
    if deed.phase == "before":
        return replace(window, state="canceled")
    return replace(window, state="closed", closes=now)


def _page(
    template: str, term_id: int, deed: Deed, subject: Scheduled, reading: Reading, **facts: object
) -> str:
    now_set: Form = MultiDict(
        {name: clock().field(getattr(subject.window, name)) for name in deed.fields}
    )
    return render_template(
        f"admin/{template}.html",
        term=catalog_of(term_id).term,
        deed=deed,
        subject=subject,
        reading=reading,
        form=request.values or now_set,
        possible=subject.phase.kind == deed.phase,
        **facts,
    )
