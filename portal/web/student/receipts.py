"""A receipt, for the student it belongs to."""

from flask import Blueprint, abort, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.catalog.term_catalog import published_catalog
from portal.people.roles import Right
from portal.recorder import receipts
from portal.recorder.receipt_texts import by_day, receipt_text
from portal.recorder.receipts import history as read
from portal.web.http.access import requires, visitor
from portal.web.student import bp

receipts_bp = Blueprint("receipts", __name__, url_prefix="/receipts")


@receipts_bp.get("/<code>")
@requires(Right.REGISTER)
def show(code: str) -> ResponseReturnValue:
    """Render one decision with its time, outcome, reasons and seats; 404 for another student's."""
    try:
        found = receipts.find(code)
    except ValueError:
        abort(404)
    if found is None or found.student != visitor().student_id:
        abort(404)
    if code != found.code:
        return redirect(url_for("receipts.show", code=found.code))
    term = published_catalog(found.term).term
    return render_template("student/receipt.html", line=receipt_text(found), term=term)


# My attempts in a term, and their reasons.


@bp.get("/history")
@requires(Right.REGISTER)
def history(term_id: int) -> ResponseReturnValue:
    """Render all attempts with their outcomes, or the refusals alone, the newest first."""
    offered, refused = published_catalog(term_id), request.args.get("only") == "refused"
    before = _event_key(term_id, request.args.get("before", ""))
    page = read(visitor().student_id or 0, term_id, before=before, refused=refused)
    return render_template(
        "student/history.html",
        term=offered.term,
        days=by_day(page.receipts),
        refused=refused,
        latest=before is None,
        older=page.receipts[-1].code if page.more else "",
    )


def _event_key(term_id: int, code: str) -> tuple[int, int] | None:
    """Return the term and event of the code that a page starts at; 404 if it is from elsewhere."""
    if not code:
        return None
    try:
        key = receipts.parse(code)
    except ValueError:
        abort(404)
    return key if key[0] == term_id else abort(404)
