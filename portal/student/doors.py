"""Into the line at the gate and out of it, and the page that explains it."""

from flask import flash, make_response, redirect, render_template
from flask.typing import ResponseReturnValue
from htmx_flask import request

from portal.core.i18n import _
from portal.student import bp, fragments, line, wish
from portal.student.outcomes import closing
from portal.student.pages import around, mine_of
from portal.waiting_room import wording
from portal.web.http import admission
from portal.web.http.access import requires


@bp.get("/room")
@requires("student")
def room(term_id: int) -> ResponseReturnValue:
    """Where I stand in line, how the line works, and what happens when it is my turn."""
    return render_template("waiting_room/room.html", wording=wording, **around(mine_of(term_id)))


@bp.post("/room")
@requires("student")
def enter_room(term_id: int) -> ResponseReturnValue:
    """In line, or in where nobody is ahead."""
    now = mine_of(term_id)
    stands = line.come(now)
    if request.htmx:
        page = render_template("student/stage.html", listing=None, **around(now, stands))
        return page, {admission.ADMISSION_HEADER: stands.kind}
    return redirect(f"/terms/{term_id}{'/room' if stands.kind == 'waiting' else ''}", 303)


@bp.get("/room/leave")
@requires("student")
def ask_to_leave_room(term_id: int) -> ResponseReturnValue:
    """The form that asks first, as it costs the place."""
    now = mine_of(term_id)
    facts = {"line": line.looked(now), "term": now.term, "back": wish.back_to(term_id)}
    return render_template("waiting_room/leave.html", wording=wording, **facts)


@bp.post("/room/leave")
@requires("student")
def leave_room(term_id: int) -> ResponseReturnValue:
    """Out of the line, for the next in it."""
    left = line.leave(mine_of(term_id))
    said = _("You have left. What you selected stays yours.")
    if request.htmx:
        answer = closing([fragments.stage(left), fragments.toast(said, brief=True)])
    else:
        flash(said)
        answer = make_response(redirect(wish.back_to(term_id), 303))
    answer.delete_cookie(admission.COOKIE, path=f"/terms/{term_id}")
    return answer
