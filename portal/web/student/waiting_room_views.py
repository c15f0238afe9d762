"""Views to join and leave the queue, and the page that explains it."""

from flask import Response, abort, flash, make_response, redirect, render_template, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user
from htmx_flask import request

from portal.backend import backend
from portal.catalog.local_time import local_clock
from portal.catalog.term_catalog import catalog_of
from portal.core.cache import AWAY
from portal.core.i18n import _
from portal.core.moments import milliseconds
from portal.ledger.types import WindowView
from portal.people.roles import Right
from portal.registration import limits
from portal.waiting_room import draw, draw_codes, wording
from portal.waiting_room.draw import Draw
from portal.web.http import admission
from portal.web.http.access import public, requires
from portal.web.http.downloads import attachment
from portal.web.student import bp, fragments, request_form, waiting_room
from portal.web.student.results import close_dialog
from portal.web.student.term_page import around, mine_of


@bp.get("/room")
@requires(Right.REGISTER)
def room(term_id: int) -> ResponseReturnValue:
    """Render my queue position, how the queue works, and what happens on my turn."""
    return render_template("waiting_room/room.html", wording=wording, **around(mine_of(term_id)))


@bp.post("/room")
@requires(Right.REGISTER)
def enter_room(term_id: int) -> ResponseReturnValue:
    """Join the queue, or get in if no one is ahead."""
    now = mine_of(term_id)
    stands = waiting_room.enter(now)
    if request.htmx:
        page = render_template("student/stage.html", listing=None, **around(now, stands))
        return page, {admission.ADMISSION_HEADER: stands.kind}
    return redirect(f"/terms/{term_id}{'/room' if stands.kind == 'waiting' else ''}", 303)


@bp.get("/room/leave")
@requires(Right.REGISTER)
def ask_to_leave_room(term_id: int) -> ResponseReturnValue:
    """Show the form that asks before leaving, because the position is lost."""
    now = mine_of(term_id)
    facts = {
        "status": waiting_room.current_status(now),
        "term": now.term,
        "back": request_form.return_address(term_id),
    }
    return render_template("waiting_room/leave.html", wording=wording, **facts)


@bp.post("/room/leave")
@requires(Right.REGISTER)
def leave_room(term_id: int) -> ResponseReturnValue:
    """Leave the queue for the next student."""
    left = waiting_room.leave(mine_of(term_id))
    message = _("You left. You keep the classes you have.")
    if request.htmx:
        answer = close_dialog([fragments.stage(left), fragments.toast(message, brief=True)])
    else:
        flash(message)
        answer = make_response(redirect(request_form.return_address(term_id), 303))
    answer.delete_cookie(admission.COOKIE, path=f"/terms/{term_id}")
    return answer


# The order of early requests, for anyone to check.

SHOWN = 100  # requests on the page; the file has all


@bp.get("/windows/<int:window_id>/order")
@public
def show_order(term_id: int, window_id: int) -> ResponseReturnValue:
    """Render the commitment; after the opening, the seed, the order, and how to recompute it."""
    window = _window(term_id, window_id)
    found = _published(term_id, window)
    return render_template(
        "waiting_room/order.html",
        term=catalog_of(term_id).term,
        window=window,
        order=found,
        shown=found.line[:SHOWN],
        **_proof_of(term_id, window, found),
        mine=_mine(term_id, window_id) if found.seed else 0,
        noted=_noted(term_id, window_id),
        clock=local_clock(),
        file=url_for(".order_file", term_id=term_id, window_id=window_id, _external=True),
        wording=wording,
    )


@bp.get("/windows/<int:window_id>/order.txt")
@public
def order_file(term_id: int, window_id: int) -> ResponseReturnValue:
    """Return the order as a text file: see portal/waiting_room/draw.py."""
    found = _published(term_id, _window(term_id, window_id))
    if found.public_value:
        abort(404)  # see draw_file
    return _lasting(Response(found.text, mimetype="text/plain"), lasting=bool(found.seed))


@bp.get("/windows/<int:window_id>/draw.json")
@public
def draw_file(term_id: int, window_id: int) -> ResponseReturnValue:
    """Return the fixed codes of a draw; after the opening also the queue, and what ordered it."""
    found = _published(term_id, _window(term_id, window_id))
    fixed = None if found.seed else draw_codes.fixed(window_id)
    text = found.file or (fixed.text if fixed and fixed.root else b"")
    if not text:
        abort(404)
    file = attachment(f"draw-{window_id}.json", text, "application/json")
    return _lasting(file, lasting=bool(found.seed))


def _lasting(file: Response, *, lasting: bool) -> ResponseReturnValue:
    """Return the file, with headers to keep it if it no longer changes."""
    if lasting:
        file.headers["Cache-Control"] = f"private, max-age={draw.FRESH_SECONDS}"
        file.add_etag()
    return file.make_conditional(request)


def _proof_of(term_id: int, window: WindowView, order: Draw) -> dict[str, object]:
    """Return the public value that was named for a draw and entered, and the student's code."""
    student = getattr(current_user, "student_id", None)
    try:
        named = draw_codes.find(window.id)
        code = draw_codes.code(named, student) if named and named.root and student else ""
    except AWAY:
        return {"unknown": True}
    clock = local_clock()
    if named is None:
        return {"named": None}
    value = order.public_value if order.seed else draw_codes.public_value(term_id, window.id)
    known_at = clock.full(milliseconds(named.public_at))
    return {"named": named, "known_at": known_at, "value": value, "code": code}


def _window(term_id: int, window_id: int) -> WindowView:
    found = (each for each in limits.windows(term_id) if each.id == window_id)
    return next(found, None) or abort(404)


def _published(term_id: int, window: WindowView) -> Draw:
    opened = backend().ledger.now() >= window.opens
    return draw.published(term_id, window.id, opened=opened)


def _mine(term_id: int, window_id: int) -> int:
    """Return the queue position of the visitor's request, from 1; 0 for everyone else."""
    student = getattr(current_user, "student_id", None)
    return draw.position_of(term_id, window_id, student) if student else 0


def _noted(term_id: int, window_id: int) -> list[tuple[str, str]]:
    """Return the audit trail's entries on the commitment with times; empty if unavailable."""
    try:
        found = draw.audited_commitments(term_id, window_id)
    except AWAY:
        return []
    clock = local_clock()
    return [(clock.full(round(at.timestamp()) * 1000), fingerprint) for at, fingerprint in found]
