"""Receipts for the registrar: one by its code, or all of a student."""

from typing import Any

from flask import Blueprint, abort, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import ColumnElement, Row, select

from portal.core.db import transaction
from portal.people import student_records
from portal.people.models import Account, Student
from portal.people.student_records import StudentSummary
from portal.recorder import receipts
from portal.recorder.receipt_texts import by_day, receipt_text
from portal.recorder.receipts import Receipt, history
from portal.web.http.access import requires
from portal.web.paging import page_number, search_text

bp = Blueprint("receipts", __name__, url_prefix="/receipts")


@bp.get("")
@requires("admin")
def index() -> ResponseReturnValue:
    """Go to the receipt of a code, or render the receipts of the student found by the search."""
    wanted, page = search_text(), page_number()
    if receipt := _found(wanted):
        return redirect(url_for("admin.receipts.show", code=receipt.code))
    whose, students, more = _students(wanted, page)
    before = _parse_code(request.args.get("before", ""))
    shown = history(whose.id, before=before) if whose else None
    return render_template(
        "admin/receipts.html",
        wanted=wanted,
        whose=whose,
        students=students,
        page=page,
        more=more,
        days=by_day(shown.receipts) if shown else [],
        older=shown.receipts[-1].code if shown and shown.more else "",
    )


def _students(wanted: str, page: int) -> tuple[Any, list[StudentSummary], bool]:
    """Return the only student that matches, or a page of several that match."""
    if not wanted:
        return None, [], False
    if exact := _student(Student.number == wanted):
        return exact, [], False
    with transaction() as session:
        found, more = student_records.search(session, wanted, page)
    return (found[0], [], False) if page == 1 and len(found) == 1 else (None, found, more)


@bp.get("/<code>")
@requires("admin")
def show(code: str) -> ResponseReturnValue:
    """Render one decision with all its details."""
    found = _found(code) or abort(404)
    return render_template(
        "admin/receipt.html",
        line=receipt_text(found),
        whose=_student(Student.id == found.student),
        actor=_actor(found.event.context.get("actor", "")),
    )


def _found(text: str) -> Receipt | None:
    try:
        return receipts.find(text)
    except ValueError:
        return None


def _parse_code(text: str) -> tuple[int, int] | None:
    try:
        return receipts.parse(text) if text else None
    except ValueError:
        abort(404)


def _student(condition: ColumnElement[bool]) -> Row[int, str, str] | None:
    """Return the id, the name and the number of a student, deleted or not."""
    found = select(Student.id, Account.name, Student.number).join(Account).where(condition)
    with transaction() as session:
        return session.execute(found).one_or_none()


def _actor(actor: str) -> str:
    """Return who did it, by name if it was someone with an account."""
    kind, _colon, number = actor.partition(":")
    if kind != "account" or not number.isdecimal():
        return actor
    with transaction() as session:
        name = session.scalar(select(Account.name).where(Account.id == int(number)))
    return name or actor
