"""The order of those who came early, for anyone to check."""

from flask import Response, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user

from portal.backend import backend
from portal.catalog.local_time import LocalClock
from portal.catalog.term_catalog import catalog_of
from portal.core.cache import AWAY
from portal.ledger.types import WindowView
from portal.registration import limits
from portal.student import bp
from portal.waiting_room import draw, wording
from portal.waiting_room.draw import Draw
from portal.web.http.access import public

SHOWN = 100  # requests on the page; the file has all


@bp.get("/windows/<int:window_id>/order")
@public
def show_order(term_id: int, window_id: int) -> ResponseReturnValue:
    """The fingerprint; once it is open the seed, the order, and how to recompute it."""
    window = _window(term_id, window_id)
    found = _published(term_id, window)
    return render_template(
        "waiting_room/order.html",
        term=catalog_of(term_id).term,
        window=window,
        order=found,
        shown=found.requests[:SHOWN],
        mine=_mine(term_id, window_id) if found.seed else 0,
        noted=_noted(term_id, window_id),
        clock=LocalClock(backend().settings.zone),
        file=url_for(".order_file", term_id=term_id, window_id=window_id, _external=True),
        wording=wording,
    )


@bp.get("/windows/<int:window_id>/order.txt")
@public
def order_file(term_id: int, window_id: int) -> ResponseReturnValue:
    """The same as a text: see portal/waiting_room/draw.py."""
    found = _published(term_id, _window(term_id, window_id))
    file = Response(found.text, mimetype="text/plain")
    if found.seed:  # it stays as it is
        file.headers["Cache-Control"] = f"private, max-age={draw.FRESH_SECONDS}"
        file.add_etag()
    return file.make_conditional(request)


def _window(term_id: int, window_id: int) -> WindowView:
    found = (each for each in limits.windows(term_id) if each.id == window_id)
    return next(found, None) or abort(404)


def _published(term_id: int, window: WindowView) -> Draw:
    opened = backend().ledger.now() >= window.opens
    return draw.published(term_id, window.id, opened=opened)


def _mine(term_id: int, window_id: int) -> int:
    """Where the request of a student who has logged in stands, from 1; 0 for everyone else."""
    student = getattr(current_user, "student_id", None)
    return draw.position_of(term_id, window_id, student) if student else 0


def _noted(term_id: int, window_id: int) -> list[tuple[str, str]]:
    """What the audit has noted of the fingerprint, and when; nothing while it can't be asked."""
    try:
        found = draw.audited_commitments(term_id, window_id)
    except AWAY:
        return []
    clock = LocalClock(backend().settings.zone)
    return [(clock.full(round(at.timestamp()) * 1000), fingerprint) for at, fingerprint in found]
