"""Receipts for the registrar: one by its code, or all of a student."""

from typing import Any

from flask import Blueprint, abort, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.core.db import transaction
from portal.core.sorting import Sorting
from portal.people import accounts, student_records
from portal.people.models import Student
from portal.people.roles import Right
from portal.people.student_records import StudentSummary
from portal.recorder import receipts
from portal.recorder.receipt_texts import by_day, receipt_text
from portal.recorder.receipts import Receipt, history
from portal.web.http.access import requires
from portal.web.paging import page_number, search_text

bp = Blueprint("receipts", __name__, url_prefix="/receipts")


@bp.get("")
@requires(Right.SEE_RECEIPTS)
def index() -> ResponseReturnValue:
    """Go to the receipt of a code, or render the receipts of the student found by the search."""
    wanted, page = search_text(), page_number()
    if receipt := find_receipt(wanted):
        return redirect(url_for("admin.receipts.show", code=receipt.code))
    sorting = Sorting.parse(student_records.SORTS, request.args)
    whose, students, more = _students(wanted, page, sorting)
    before = _parse_code(request.args.get("before", ""))
    shown = history(whose.id, before=before) if whose else None
    return render_template(
        "admin/receipts.html",
        wanted=wanted,
        whose=whose,
        students=students,
        page=page,
        more=more,
        sorting=sorting,
        days=by_day(shown.receipts) if shown else [],
        older=shown.receipts[-1].code if shown and shown.more else "",
    )


def _students(wanted: str, page: int, sorting: Sorting) -> tuple[Any, list[StudentSummary], bool]:
    """Return the only student that matches, or a page of several that match."""
    if not wanted:
        return None, [], False
    if exact := student_records.find_name(Student.number == wanted):
        return exact, [], False
    with transaction() as session:
        found, more = student_records.search(session, wanted, page, sorting)
    return (found[0], [], False) if page == 1 and len(found) == 1 else (None, found, more)


@bp.get("/<code>")
@requires(Right.SEE_RECEIPTS)
def show(code: str) -> ResponseReturnValue:
    """Render one decision with all its details."""
    found = find_receipt(code) or abort(404)
    return render_template(
        "admin/receipt.html",
        line=receipt_text(found),
        whose=student_records.find_name(Student.id == found.student),
        actor=accounts.actor_name(found.event.context.get("actor", "")),
    )


def find_receipt(text: str) -> Receipt | None:
    try:
        return receipts.find(text)
    except ValueError:
        return None


def _parse_code(text: str) -> tuple[int, int] | None:
    try:
        return receipts.parse(text) if text else None
    except ValueError:
        abort(404)
