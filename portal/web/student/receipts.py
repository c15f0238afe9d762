"""A receipt, for the student whose it is."""

from flask import Blueprint, abort, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.catalog.term_catalog import catalog_of
from portal.recorder import receipts
from portal.recorder.receipt_texts import by_day, shown
from portal.recorder.receipts import history as read
from portal.web.http.access import requires, visitor
from portal.web.student import bp

receipts_bp = Blueprint("receipts", __name__, url_prefix="/receipts")


@receipts_bp.get("/<code>")
@requires("student")
def show(code: str) -> ResponseReturnValue:
    """One decision with its time, outcome, reasons and seats; what is another's is not there."""
    try:
        found = receipts.find(code)
    except ValueError:
        abort(404)
    if found is None or found.student != visitor().student_id:
        abort(404)
    if code != found.code:
        return redirect(url_for("receipts.show", code=found.code))
    term = catalog_of(found.term).term
    return render_template("student/receipt.html", line=shown(found), term=term)


# What happened to me in a term, and why.


@bp.get("/history")
@requires("student")
def history(term_id: int) -> ResponseReturnValue:
    """All that was asked for and what came of it, or the refusals alone, the newest first."""
    offered, refused = catalog_of(term_id), request.args.get("only") == "refused"
    before = _place(term_id, request.args.get("before", ""))
    page = read(visitor().student_id or 0, term_id, before=before, refused=refused)
    return render_template(
        "student/history.html",
        term=offered.term,
        days=by_day(page.receipts),
        refused=refused,
        latest=before is None,
        older=page.receipts[-1].code if page.more else "",
    )


def _place(term_id: int, code: str) -> tuple[int, int] | None:
    """The term and event of a code from which a page goes back; 404 for one of elsewhere."""
    if not code:
        return None
    try:
        place = receipts.parse(code)
    except ValueError:
        abort(404)
    return place if place[0] == term_id else abort(404)
