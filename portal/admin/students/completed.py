"""Adding a completed course to a student's record, correcting one, or taking one off."""

import re
from decimal import Decimal

from flask import Blueprint, flash, render_template, request
from flask.typing import ResponseReturnValue

from portal.access import requires, visitor
from portal.admin.reasons import read_reason
from portal.admin.students import fields
from portal.admin.times import Reading
from portal.catalog import requisites
from portal.core.i18n import _
from portal.people import completed
from portal.people.completed import Course, Stale
from portal.people.records import Record
from portal.recorder.reconsider import reconsider

bp = Blueprint("completed", __name__, url_prefix="/students/<int:student_id>/completed")

CODE, TERM, GRADE = 24, 80, 8  # characters
CREDITS = re.compile(r"\d{1,2}(\.\d{1,2})?", re.ASCII)


@bp.get("")
@requires("admin")
def ask(student_id: int) -> ResponseReturnValue:
    """The form, filled in where a course is on record already (`course`)."""
    record, code = fields.student(student_id), request.args.get("course", "")
    known = _seen(record, code)
    if known is None:
        return _form(record, {}, Reading(), 200)
    now = {"course": code, "term": known.term_name, "grade": known.grade, "was": _told(known)}
    return _form(record, now | {"credits": f"{known.credits.normalize():f}"}, Reading(), 200)


@bp.post("")
@requires("admin")
def correct(student_id: int) -> ResponseReturnValue:
    """Have the record say so, or say all that is wrong."""
    record, reading = fields.student(student_id), Reading()
    code = requisites.key(fields.read_text(reading, request.form, "course", _("Course"), CODE))
    wanted = None if "remove" in request.form else _read(reading)
    why = read_reason(reading, request.form)
    seen = _seen(record, code)
    told = request.form.get("was", "")
    if not reading.errors and seen != wanted and _told(seen) != told:
        reading.wrong("", _("The record says something else about this course now. Look again."))
    if reading.errors:
        return _form(record, request.form, reading, 422)
    try:
        completed.correct(student_id, code, seen, wanted, by=visitor().id, why=why)
    except Stale:
        reading.wrong("", _("Somebody has changed the record meanwhile. Look again."))
        return _form(record, request.form, reading, 409)
    reconsider(student_id)
    flash(_("The record of %(name)s is corrected.", name=record.profile.name))
    return fields.back(student_id)


def _read(reading: Reading) -> Course:
    form = request.form
    term = fields.read_text(reading, form, "term", _("Term"), TERM, needed=False)
    grade = fields.read_text(reading, form, "grade", _("Grade"), GRADE, needed=False)
    text = form.get("credits", "").strip() or "0"
    if not CREDITS.fullmatch(text):
        reading.wrong("credits", _("Credits: give a number, such as 4 or 1.5."))
    return Course(term, grade, Decimal(text if CREDITS.fullmatch(text) else 0))


def _seen(record: Record, code: str) -> Course | None:
    found = (each for each in record.completed if each.code == code)
    return next((Course(each.term, each.grade, each.credits) for each in found), None)


def _told(course: Course | None) -> str:
    """What is on record, as the form sends it back to tell whether it is so yet."""
    return f"{course.term_name}|{course.grade}|{course.credits}" if course else ""


def _form(record: Record, form: object, reading: Reading, status: int) -> ResponseReturnValue:
    page = render_template("admin/completed.html", record=record, form=form, reading=reading)
    return page, status
