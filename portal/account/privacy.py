"""Asking for privacy, and taking it back."""

from flask import Blueprint, abort, flash, redirect, request, url_for
from flask.typing import ResponseReturnValue

from portal.core.i18n import _
from portal.people import privacy
from portal.web.http.access import requires, visitor

bp = Blueprint("privacy", __name__, url_prefix="/privacy")


@bp.post("")
@requires("student")
def change() -> ResponseReturnValue:
    """Keep what I want, from this moment on."""
    wanted = request.form.get("private")
    if wanted not in {"yes", "no"}:
        abort(400)
    who = visitor()
    privacy.ask(who.student_id or 0, who.id, private=wanted == "yes")
    if wanted == "yes":
        flash(_("Those who teach you see no more than your name and number."))
    else:
        flash(_("Those who teach you see your details again."))
    return redirect(url_for("account.overview.show"), 303)
