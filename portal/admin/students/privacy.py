"""A student's privacy as the registrar's office sets it, for who asks at the counter."""

from flask import Blueprint, abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.access import requires, visitor
from portal.admin.reasons import read_reason
from portal.admin.times import Reading
from portal.core.db import transaction
from portal.core.i18n import _
from portal.layout import go
from portal.people import privacy
from portal.people.models import Student

bp = Blueprint("privacy", __name__, url_prefix="/students/<int:student_id>/privacy")


@bp.get("")
@requires("admin")
def ask(student_id: int) -> ResponseReturnValue:
    """What the student has asked for, and what another choice will mean."""
    return _page(student_id, Reading(), 200)


@bp.post("")
@requires("admin")
def change(student_id: int) -> ResponseReturnValue:
    """Keep what the student wants, and why it is the office that says so."""
    _student(student_id)
    wanted, reading = request.form.get("private"), Reading()
    if wanted not in {"yes", "no"}:
        abort(400)
    reason = read_reason(reading, request.form)
    if reading.errors:
        return _page(student_id, reading, 422)
    privacy.ask(student_id, visitor().id, reason, private=wanted == "yes")
    flash(_("It is noted, and lists of classes follow at once."))
    return go(url_for("admin.privacy.ask", student_id=student_id))


def _student(student_id: int) -> Student:
    with transaction() as session:
        found = session.get(Student, student_id)
        if found is None or found.deleted_at:
            abort(404)
        assert found.account  # noqa: S101  read while the transaction lasts
        return found


def _page(student_id: int, reading: Reading, status: int) -> ResponseReturnValue:
    page = render_template(
        "admin/privacy.html", student=_student(student_id), reading=reading, form=request.form
    )
    return page, status
