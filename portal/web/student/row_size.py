"""Choosing how high the rows of the section list are."""

from flask import abort, current_app, redirect, request
from flask.typing import ResponseReturnValue

from portal.people.roles import Right
from portal.web.account.login import safe_path
from portal.web.http.access import requires
from portal.web.student import bp

COOKIE = "rows"
KEPT_SECONDS = 365 * 24 * 3600
COMPACT, COMFORTABLE = "compact", "comfortable"


def row_size() -> str:
    """Return the row size that this browser keeps; compact unless the student chose otherwise."""
    return COMFORTABLE if request.cookies.get(COOKIE) == COMFORTABLE else COMPACT


@bp.post("/rows")
@requires(Right.REGISTER)
def choose_row_size(term_id: int) -> ResponseReturnValue:
    """Return to the list with rows of the chosen size; the browser keeps the choice."""
    size = request.form.get("rows", "")
    if size not in {COMPACT, COMFORTABLE}:
        abort(400)
    response = redirect(safe_path(request.form.get("next", "") or f"/terms/{term_id}"), 303)
    response.set_cookie(
        COOKIE,
        size,
        max_age=KEPT_SECONDS,
        secure=current_app.config["SESSION_COOKIE_SECURE"],
        httponly=True,
        samesite="Lax",
    )
    return response
