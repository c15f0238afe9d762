"""Requests of an instructor: more seats, or an override for a student; and their outcomes."""

from flask import Blueprint, abort, flash, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy import select
from wtforms import ValidationError

from portal.catalog import formatting
from portal.core.db import transaction
from portal.core.i18n import _, _l
from portal.instructor_requests import listing, service
from portal.instructor_requests.listing import rules_without_effect
from portal.instructor_requests.models import REFUSED, STATES, TONES
from portal.instructor_requests.service import RequestRefused
from portal.people.models import Student
from portal.people.roles import Right
from portal.recorder import read_with_fallback
from portal.registration.reasons import PERMISSIONS, permission_names
from portal.reports.rosters import students_of
from portal.web.forms import ChoicesField, Form, NoteField, NumberField, TextField
from portal.web.http.access import requires, visitor
from portal.web.instructor.own_sections import taught_section

bp = Blueprint("requests", __name__)

MOST_SEATS = 100_000
WHY = {
    "required": True,
    "description": _l("The registrar’s office reads this."),
    "missing": _l("Enter a reason. It is saved in the audit trail with your name."),
}


class SeatsForm(Form):
    """The number of seats that a section should have."""

    wanted = NumberField(
        _l("New number of seats"),
        most=MOST_SEATS,
        message=_l("Enter a whole number from %(least)s to %(most)s."),
    )
    reason = NoteField(_l("Why"), **WHY)


class OverrideForm(Form):
    """The student, and the rules of a section to override."""

    student = TextField(_l("Student number"), longest=64, missing=_l("Enter the student number."))
    waives = ChoicesField(
        _l("Rules that should not apply"),
        choices=PERMISSIONS,
        missing=_l("Choose at least one rule."),
    )
    reason = NoteField(_l("Why"), **WHY)
    student_id = 0

    def validate_student(self, field: TextField) -> None:
        """Find the student; raise ValidationError if none has that number."""
        wanted = Student.number == field.data, Student.deleted_at.is_(None)
        with transaction() as session:
            self.student_id = session.scalar(select(Student.id).where(*wanted)) or 0
        if not self.student_id:
            raise ValidationError(_("No student has the number %(numbers)s.", numbers=field.data))


@bp.route("/sections/<int:section_id>/requests/seats", methods=["GET", "POST"])
@requires(Right.TEACH)
def ask_seats(section_id: int) -> ResponseReturnValue:
    shown, form = taught_section(section_id), SeatsForm()
    form.wanted.least = shown.section.capacity + 1
    capacity = formatting.number(shown.section.capacity)
    form.wanted.description = _("It has %(capacity)s now.", capacity=capacity)
    if request.method == "POST" and form.validate():
        try:
            service.request_seats(section_id, form.wanted.data, form.reason.data, visitor().id)
        except RequestRefused as refused:
            form.refuse(refused.text, "wanted")
        else:
            return _sent()
    counts = read_with_fallback.seats_of(shown.term.id, [shown.section.id])
    page = render_template(
        "instructor/ask.html", kind="seats", shown=shown, form=form, counts=counts
    )
    return page, 422 if form.errors else 200


@bp.route("/sections/<int:section_id>/requests/override", methods=["GET", "POST"])
@requires(Right.TEACH)
def ask_override(section_id: int) -> ResponseReturnValue:
    """Request a permission for one student in a section."""
    shown, form = taught_section(section_id), OverrideForm()
    if request.method == "POST" and form.validate():
        rules = form.waives.data
        try:
            service.request_override(
                section_id, form.student_id, rules, form.reason.data, visitor().id
            )
        except RequestRefused as refused:
            form.refuse(refused.text, "student")
        else:
            if useless := [code for code in rules if code in rules_without_effect(shown.section)]:
                names = permission_names(useless)
                flash(_("This class has no such rule: %(rules)s.", rules=names))
            return _sent()
    note = _("(this class doesn’t have this rule)")
    lacking = set(rules_without_effect(shown.section))
    form.waives.offer(
        {code: f"{text} {note}" if code in lacking else text for code, text in PERMISSIONS.items()}
    )
    page = render_template("instructor/ask.html", kind="override", shown=shown, form=form)
    return page, 422 if form.errors else 200


@bp.get("/requests")
@requires(Right.TEACH)
def index() -> ResponseReturnValue:
    """Render the visitor's requests, the newest first."""
    found = listing.of_account(visitor().id, request.args.get("before", type=int))
    return render_template(
        "instructor/requests.html",
        lines=found[: listing.PAGE],
        more=len(found) > listing.PAGE,
        live=listing.term_of(found),
        states=STATES,
        tones=TONES,
        stale=REFUSED,
        rules=permission_names,
        known=students_of(visitor().instructor_ids, [each.request.student_id for each in found]),
    )


@bp.post("/requests/<int:instructor_request_id>/withdraw")
@requires(Right.TEACH)
def withdraw(instructor_request_id: int) -> ResponseReturnValue:
    """Withdraw one of the visitor's own requests."""
    found = listing.one(instructor_request_id)
    if found is None or found.request.account_id != visitor().id:
        abort(404)
    try:
        service.withdraw(instructor_request_id, visitor().id)
    except RequestRefused as refused:
        flash(refused.text)
    else:
        flash(_("Request withdrawn."))
    return redirect(url_for("instructor.requests.index"), 303)


def _sent() -> ResponseReturnValue:
    flash(_("Request sent to the registrar’s office. We notify you when it is decided."))
    return redirect(url_for("instructor.requests.index"), 303)
