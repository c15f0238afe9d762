"""What those who teach ask for: the open requests, the oldest first, and the decision on one."""

from flask import Blueprint, abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.admin.reasons import read_note
from portal.admin.times import Reading
from portal.core.i18n import _, _l
from portal.requests import deciding, listing
from portal.requests.errors import RequestRefused
from portal.requests.listing import Line
from portal.requests.way import way
from portal.requests.words import REFUSED, STATES, TONES, rules
from portal.seats.promise import in_words
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go

bp = Blueprint("requests", __name__, url_prefix="/requests")

DEEDS = {"approve": "approved", "decline": "declined"}
DONE = {"approve": _l("Approved: %(name)s."), "decline": _l("Declined: %(name)s.")}
WORDS = {"states": STATES, "tones": TONES, "stale": REFUSED, "rules": rules, "promised": in_words}


@bp.get("")
@requires("admin")
def index() -> ResponseReturnValue:
    """Those that wait for a decision, or those that have one."""
    done = request.args.get("state") == "done"
    key = request.args.get("from", type=int)
    found = listing.done_with(key) if done else listing.still_open(key)
    return render_template(
        "admin/requests.html",
        lines=found[: listing.PAGE],
        more=len(found) > listing.PAGE,
        done=done,
        waiting=listing.waiting(),
        live=listing.term_of(found),
        **WORDS,
    )


@bp.get("/<int:asked_id>")
@requires("admin")
def show(asked_id: int) -> ResponseReturnValue:
    """One of them, and what it will mean to approve it."""
    return _page(_line(asked_id), Reading(), 200)


@bp.post("/<int:asked_id>")
@requires("admin")
def decide(asked_id: int) -> ResponseReturnValue:
    """Approve or decline it, once; pressed again it stays as it is."""
    line, reading, deed = _line(asked_id), Reading(), request.form.get("deed", "")
    if deed not in DEEDS:
        abort(400)
    why = read_note(reading, request.form)
    if deed == "decline" and not why:
        reading.wrong("note", _("Say why, so that it can be understood."))
    if reading.errors:
        return _page(line, reading, 422)
    try:
        _do(deed, asked_id, why)
    except RequestRefused as refused:
        return _refused(_line(asked_id), refused, deed)
    flash(str(DONE[deed]) % {"name": line.name})
    return go(url_for("admin.requests.index"))


def _do(deed: str, asked_id: int, why: str) -> None:
    if deed == "decline":
        deciding.decline(asked_id, visitor().id, why)
    elif not deciding.approve(asked_id, visitor().id, why):
        flash(_("The ledger is away: it is told of the seats as soon as it is back."))


def _refused(line: Line, refused: RequestRefused, deed: str) -> ResponseReturnValue:
    mine = line.request.decided_by == visitor().id and line.request.state == DEEDS[deed]
    if refused.code == "decided" and mine:  # the same press once more
        return go(url_for("admin.requests.index"))
    reading = Reading()
    reading.wrong("", str(REFUSED[refused.code]))
    return _page(line, reading, 409)


def _line(asked_id: int) -> Line:
    return listing.one(asked_id) or abort(404)


def _page(line: Line, reading: Reading, status: int) -> ResponseReturnValue:
    asked = line.request
    weighed = asked.kind == "override" and asked.state == "open" and not line.stale
    page = render_template(
        "admin/request.html",
        line=line,
        way=way(asked) if weighed else None,
        reading=reading,
        form=request.form,
        **WORDS,
    )
    return page, status
