"""A window's waiting room as it runs: how it stands, and its two limits as live knobs."""

from flask import Blueprint, abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.admin.reasons import read_reason
from portal.admin.times import Reading
from portal.backend import backend
from portal.catalog.term_catalog import catalog_of
from portal.core import flags
from portal.core.i18n import _, _l
from portal.ledger.types import WindowView
from portal.waiting_room import admission_limits, room, wait_estimates, wording
from portal.waiting_room.admission_limits import AdmissionLimits
from portal.waiting_room.room import Overtaken, QueueEntry, RoomState
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go
from portal.windows import schedule

bp = Blueprint("rooms", __name__, url_prefix="/terms/<int:term_id>/windows/<int:window_id>/room")

LEAST = {"per_minute": 0, "at_once": 1}
LABELS = {"per_minute": _l("New ones per minute"), "at_once": _l("Inside at once")}


@bp.get("")
@requires("admin")
def show(term_id: int, window_id: int) -> ResponseReturnValue:
    """How the room stands, and its limits."""
    return _page(term_id, find(term_id, window_id), Reading(), 200)


@bp.get("/figures")
@requires("admin")
def figures(term_id: int, window_id: int) -> ResponseReturnValue:
    """How it stands now, for a page that is open."""
    window = find(term_id, window_id)
    return render_template("admin/room_figures.html", **_told(term_id, window))


@bp.post("")
@requires("admin")
def change(term_id: int, window_id: int) -> ResponseReturnValue:
    """Set both limits, from this moment on."""
    window = find(term_id, window_id)
    if backend().settings.room is None:
        abort(400)
    reading = _read()
    reason = read_reason(reading, request.form)
    if reading.errors:
        return _page(term_id, window, reading, 422)
    try:
        limits = AdmissionLimits(**reading.values)
        admission_limits.change(term_id, window_id, limits, seen(), by=visitor().id, reason=reason)
    except Overtaken:
        reading.wrong("", _("Somebody else has set the limits since you opened this page."))
        reading.wrong("", _("Above is how they stand now. Press again if yours are to hold."))
        return _page(term_id, window, reading, 409)
    flash(_("The limits are set."))
    return go(url_for("admin.rooms.show", term_id=term_id, window_id=window_id))


def find(term_id: int, window_id: int) -> WindowView:
    """The window of an address, or 404."""
    return schedule.find(term_id, window_id) or abort(404)


def seen() -> AdmissionLimits:
    """The limits that the form which is sent was shown with."""
    try:
        return AdmissionLimits.of(request.form["seen"])
    except ValueError:
        abort(400)


def _read() -> Reading:
    """Both limits, every error at once."""
    reading = Reading()
    for name, least in LEAST.items():
        text = request.form.get(name, "").strip()
        # Longer ones are out of range whatever they say.
        number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
        if not least <= number <= room.MOST:
            reading.wrong(
                name,
                _(
                    "%(field)s: give a whole number from %(least)s to %(most)s.",
                    field=LABELS[name],
                    least=least,
                    most=wording.grouped(room.MOST),
                ),
            )
        reading.values[name] = number
    return reading


def _page(term_id: int, window: WindowView, reading: Reading, status: int) -> ResponseReturnValue:
    told = _told(term_id, window)
    now = {name: str(getattr(told["state"], name)) for name in LEAST}
    page = render_template(
        "admin/room.html",
        **told,
        term=catalog_of(term_id).term,
        reading=reading,
        form=request.form or now,
        labels=LABELS,
    )
    return page, status


def _told(term_id: int, window: WindowView) -> dict[str, object]:
    state = room.state(term_id, window.id)
    compared = state.right + state.wrong
    return {
        "window": window,
        "term_id": term_id,
        "state": state,
        "seen": admission_limits.limits_of(state).mark,
        "rooms": backend().settings.room is not None,
        "switched_off": not flags.on("waiting_room"),
        "lately": lately(state),
        "last": wording.wait(wait_estimates.estimate(_last(state))) if state.waiting else "",
        "share": state.right / compared if compared else None,
        "compared": compared,
    }


def _last(state: RoomState) -> QueueEntry:
    return QueueEntry("waiting", state, ahead=max(0, state.waiting - 1))


def lately(state: RoomState) -> int:
    """How far the line comes in a minute, by the last half or whole one."""
    slot = wait_estimates.SLOT
    begin = (state.at // slot - 1) * slot
    called = sum(count for at, count in state.pace if at >= begin)
    return round(called * wait_estimates.MINUTE / max(slot, state.at - max(begin, state.opens)))
