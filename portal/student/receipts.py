"""A receipt, for the student whose it is."""

from flask import Blueprint, abort, redirect, render_template, url_for
from flask.typing import ResponseReturnValue

from portal.catalog.term_catalog import catalog_of
from portal.recorder import receipts
from portal.recorder.receipt_texts import shown
from portal.web.http.access import requires, visitor

bp = Blueprint("receipts", __name__, url_prefix="/receipts")


@bp.get("/<code>")
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
