"""Moving, canceling, extending and closing a window, each on a page that says what it will mean."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from flask import Blueprint, abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_babel import LazyString

from portal.access import requires, visitor
from portal.admin.terms import Scheduled, scheduled
from portal.admin.times import Reading, check_order, read_time
from portal.admin.windows import REFUSED, clock
from portal.backend import backend
from portal.catalog.board import board
from portal.layout import go
from portal.seats.answers import Change
from portal.seats.errors import WindowRefused
from portal.windows import schedule
from portal.words import _, _l

bp = Blueprint("changes", __name__, url_prefix="/terms/<int:term_id>/windows/<int:window_id>")


@dataclass(frozen=True)
class Deed:
    """One thing to do to a window: its words, its fields, the phase that it needs."""

    title: LazyString
    meaning: LazyString
    button: LazyString
    done: LazyString  # with a placeholder for the window's name
    phase: str
    fields: tuple[str, ...]
    do: Callable[..., Change]


DEEDS = {
    "move": Deed(
        _l("Move the window"),
        _l("Students see the new times at once; countdowns on open pages follow."),
        _l("Move it"),
        _l("Moved: %(name)s."),
        "before",
        ("opens", "closes"),
        schedule.move,
    ),
    "cancel": Deed(
        _l("Cancel the window"),
        _l("It will not begin. Students see at once that nothing is scheduled for them any more."),
        _l("Cancel the window"),
        _l("Canceled: %(name)s."),
        "before",
        (),
        schedule.cancel,
    ),
    "extend": Deed(
        _l("Extend the window"),
        _l("It goes on without a break until the new end; countdowns on open pages follow."),
        _l("Extend it"),
        _l("Extended: %(name)s."),
        "open",
        ("closes",),
        schedule.extend,
    ),
    "close": Deed(
        _l("Close the window now"),
        _l(
            "From this moment on nobody can pick or drop through it. Seats that are held stay held."
        ),
        _l("Close it now"),
        _l("Closed: %(name)s."),
        "open",
        (),
        schedule.close,
    ),
}
ROUTE = f"/<any({','.join(DEEDS)}):action>"
TOO_LATE = {"before": "not_open", "open": "already_open", "ended": "already_ended"}


@bp.get(ROUTE)
@requires("admin")
def ask(term_id: int, window_id: int, action: str) -> ResponseReturnValue:
    """The page to confirm it on; where it can't be done any more, why."""
    deed, subject = DEEDS[action], _subject(term_id, window_id)
    reading = Reading()
    if subject.phase.kind != deed.phase:
        reading.wrong("", str(REFUSED[TOO_LATE.get(subject.phase.kind, "canceled")]))
    return _page(term_id, deed, subject, reading, 409 if reading.errors else 200)


@bp.post(ROUTE)
@requires("admin")
def do(term_id: int, window_id: int, action: str) -> ResponseReturnValue:
    """Do it, or say all that stands against it."""
    deed, subject = DEEDS[action], _subject(term_id, window_id)
    reading = _read(deed, subject)
    if not reading.errors:
        try:
            deed.do(term_id, window_id, **reading.values, by=visitor().id)
        except WindowRefused as refused:
            reading.wrong("", str(REFUSED[refused.code]))
    if reading.errors:
        return _page(term_id, deed, subject, reading, 422)
    flash(str(deed.done) % {"name": subject.window.name})
    return go(url_for("admin.terms.index"))


def _subject(term_id: int, window_id: int) -> Scheduled:
    window = schedule.find(term_id, window_id)
    return scheduled(window, backend().ledger.now()) if window else abort(404)


def _read(deed: Deed, subject: Scheduled) -> Reading:
    reading = Reading()
    for name in deed.fields:
        read_time(reading, request.form, name, clock())
    if deed.fields:
        check_order(reading, subject.phase.now)
    if deed.fields == ("closes",) and reading.values.get("closes", 0) <= subject.window.closes:
        reading.wrong("closes", _("The new end must come after the end that it has now."))
    return reading


def _page(
    term_id: int, deed: Deed, subject: Scheduled, reading: Reading, status: int
) -> ResponseReturnValue:
    now_set: dict[str, Any] = {
        name: clock().field(getattr(subject.window, name)) for name in deed.fields
    }
    page = render_template(
        "admin/change.html",
        term=board(term_id).term,
        deed=deed,
        subject=subject,
        reading=reading,
        form=request.form or now_set,
        possible=subject.phase.kind == deed.phase,
    )
    return page, status
