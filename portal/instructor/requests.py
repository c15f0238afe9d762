"""The requests that one has made, and what has become of them."""

from flask import Blueprint, abort, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.core.i18n import _
from portal.instructor.rosters import known
from portal.requests import asking, listing
from portal.requests.errors import RequestRefused
from portal.requests.words import REFUSED, STATES, TONES, rules
from portal.web.http.access import requires, visitor

bp = Blueprint("requests", __name__, url_prefix="/requests")


@bp.get("")
@requires("instructor")
def index() -> ResponseReturnValue:
    """One's own, the newest first."""
    found = listing.of_account(visitor().id, request.args.get("before", type=int))
    return render_template(
        "instructor/requests.html",
        lines=found[: listing.PAGE],
        more=len(found) > listing.PAGE,
        live=listing.term_of(found),
        states=STATES,
        tones=TONES,
        stale=REFUSED,
        rules=rules,
        known=known(visitor().teacher_ids, [each.request.student_id for each in found]),
    )


@bp.post("/<int:asked_id>/withdraw")
@requires("instructor")
def withdraw(asked_id: int) -> ResponseReturnValue:
    """Take one's own back."""
    line = listing.one(asked_id)
    if line is None or line.request.account_id != visitor().id:
        abort(404)
    try:
        asking.withdraw(asked_id, visitor().id)
    except RequestRefused as refused:
        flash(str(REFUSED[refused.code]))
    else:
        flash(_("Your request is withdrawn."))
    return redirect(url_for("instructor.requests.index"), 303)
