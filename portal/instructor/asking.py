"""Forms in which those who teach ask for more seats, or for a way past a rule."""

from flask import Blueprint, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import select

from portal.admin.reasons import read_reason
from portal.admin.times import Reading
from portal.catalog import formatting
from portal.core.db import transaction
from portal.core.i18n import _
from portal.instructor.classes import Class, own
from portal.people.models import Student
from portal.recorder import read_with_fallback
from portal.requests import asking
from portal.requests.errors import RequestRefused
from portal.requests.way import without
from portal.requests.words import REFUSED, RULES, rules
from portal.web.http.access import requires, visitor

bp = Blueprint("asking", __name__, url_prefix="/sections/<int:section_id>/requests")

MOST_SEATS = 100_000


@bp.get("/seats")
@requires("instructor")
def seats_form(section_id: int) -> ResponseReturnValue:
    """How the section stands, and how many seats it should have."""
    return _seats(own(section_id), Reading(), 200)


@bp.post("/seats")
@requires("instructor")
def seats(section_id: int) -> ResponseReturnValue:
    """Ask for them, or say what is wrong."""
    shown, reading = own(section_id), Reading()
    wanted = _wanted(reading, shown)
    reason = read_reason(reading, request.form)
    if not reading.errors:
        try:
            asking.ask_seats(section_id, wanted, reason, visitor().id)
        except RequestRefused as refused:
            reading.wrong("wanted", str(REFUSED[refused.code]))
    return _seats(shown, reading, 422) if reading.errors else _asked()


@bp.get("/override")
@requires("instructor")
def override_form(section_id: int) -> ResponseReturnValue:
    """Which student, and past which rules."""
    return _override(own(section_id), Reading(), 200)


@bp.post("/override")
@requires("instructor")
def override(section_id: int) -> ResponseReturnValue:
    """Ask for it, or say what is wrong."""
    shown, reading = own(section_id), Reading()
    student = _student(reading)
    waives = [code for code in RULES if code in request.form.getlist("waives")]
    if not waives:
        reading.wrong("waives", _("Choose at least one rule."))
    reason = read_reason(reading, request.form)
    if not reading.errors:
        try:
            asking.ask_override(section_id, student, waives, reason, visitor().id)
        except RequestRefused as refused:
            reading.wrong("student", str(REFUSED[refused.code]))
    if reading.errors:
        return _override(shown, reading, 422)
    if lacking := [code for code in waives if code in without(shown.card)]:
        flash(_("Mind that this class has no such rule: %(rules)s.", rules=rules(lacking)))
    return _asked()


def _asked() -> ResponseReturnValue:
    flash(_("Your request is with the registrar’s office. You are told as soon as it is decided."))
    return redirect(url_for("instructor.requests.index"), 303)


def _wanted(reading: Reading, shown: Class) -> int:
    text = request.form.get("wanted", "").strip()
    # Longer ones are out of range whatever they say.
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else -1
    least = shown.card.capacity + 1
    if not least <= number <= MOST_SEATS:
        most = formatting.number(MOST_SEATS)
        said = _("Give a whole number from %(least)s to %(most)s.", least=least, most=most)
        reading.wrong("wanted", said)
    return number


def _student(reading: Reading) -> int:
    number = request.form.get("student", "").replace("\0", "").strip()
    with transaction() as session:
        mine = Student.number == number, Student.deleted_at.is_(None)
        found = session.scalar(select(Student.id).where(*mine))
    if found is None:
        said = _("No student has the number %(numbers)s.", numbers=number)
        reading.wrong("student", said if number else _("Give the student’s number."))
    return found or 0


def _seats(shown: Class, reading: Reading, status: int) -> ResponseReturnValue:
    counts = read_with_fallback.seats_of(shown.term.id, [shown.card.id])
    return _page("seats", shown, reading, status, counts=counts)


def _override(shown: Class, reading: Reading, status: int) -> ResponseReturnValue:
    lacking = set(without(shown.card))
    return _page("override", shown, reading, status, rules=RULES, lacking=lacking)


def _page(
    kind: str, shown: Class, reading: Reading, status: int, **more: object
) -> ResponseReturnValue:
    page = render_template(
        f"instructor/ask_{kind}.html",
        term=shown.term,
        name=shown.name,
        card=shown.card,
        reading=reading,
        form=request.form,
        **more,
    )
    return page, status
