"""Changes of a student's record: holds, permissions, completed courses and privacy."""

from collections.abc import Iterable
from decimal import Decimal
from typing import TypeVar

from flask import Blueprint, abort, make_response, request
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, HiddenField, ValidationError

from portal.catalog import grades, requisites
from portal.catalog.local_time import local_clock
from portal.catalog.term_catalog import SectionView, catalog_of, current_terms
from portal.core.db import transaction
from portal.core.i18n import _, _l
from portal.core.settings import LONGEST_GRADE
from portal.people import advising, holds, permissions, privacy, student_records
from portal.people.holds import NewHold
from portal.people.models import Hold
from portal.people.roles import Right
from portal.people.student_records import (
    CompletedRecord,
    PermissionRecord,
    StaleRecord,
    StudentRecord,
)
from portal.recorder.promotion import retry_skipped
from portal.registration.next_steps import find_section
from portal.registration.reasons import OBSTACLES, PERMISSIONS
from portal.web.admin.students import confirm_about, record_or_404
from portal.web.confirm import done, seen_number
from portal.web.forms import (
    ChoicesField,
    DayField,
    DecimalField,
    Form,
    ReasonField,
    SelectOneField,
    TextField,
)
from portal.web.http.access import requires, visitor
from portal.web.http.errors import Message, answer

bp = Blueprint("student_record", __name__, url_prefix="/students/<int:student_id>")

MOST_CREDITS = Decimal("99.99")  # of a completed course
OFFICE_LIFTS = Message(
    _l("This hold does not wait for your clearance"),
    _l("Only the office that placed it can lift it. Ask the registrar’s office."),
)
OVERRIDABLE = {code: OBSTACLES[code] for code in PERMISSIONS}

Row = TypeVar("Row", Hold, PermissionRecord)


def _one(rows: Iterable[Row], number: int) -> Row:
    """Return the row of that id, or 404."""
    return next((each for each in rows if each.id == number), None) or abort(404)


# Holds


class HoldForm(Form):
    rows = (("since", "until"),)

    kind = TextField(
        _l("Kind"), longest=40, description=_l("For example: Bursar, Advising or Library.")
    )
    message = TextField(
        _l("Message to the student"),
        longest=300,
        description=_l("Students see it as the reason. For example: a bill is unpaid."),
    )
    office = TextField(
        _l("Who can lift it"),
        required=False,
        description=_l("The office the student should contact. Leave blank for the registrar."),
    )
    since = DayField(_l("From"), description=_l("Leave blank to start now."))
    until = DayField(
        _l("Until"), last=True, description=_l("The last day. Leave blank for no end date.")
    )
    adviser_lifts = BooleanField(_l("It waits for the clearance of the student’s adviser"))
    reason = ReasonField(required=False)

    def validate_until(self, field: DayField) -> None:
        """Raise ValidationError if the hold ends before it begins."""
        if field.data and self.since.data and field.data <= self.since.data:
            raise ValidationError(_("The last day must not be before the first."))


@bp.route("/holds/new", methods=["GET", "POST"])
@requires(Right.CHANGE_HOLDS)
def place_hold(student_id: int) -> ResponseReturnValue:
    record, form = record_or_404(student_id), HoldForm()

    def act(reason: str) -> str:
        hold = NewHold(
            *(form.kind.data, form.message.data, form.office.data),
            *(form.since.data, form.until.data, form.adviser_lifts.data),
        )
        new = holds.place(student_id, hold, by=visitor().id, why=reason)
        name = record.profile.name
        if new:
            return _("Hold placed on %(name)s.", name=name)
        return _("%(name)s already has this hold.", name=name)

    return confirm_about(
        record,
        act,
        form,
        title=_("Add a hold"),
        button=_("Add hold"),
        meaning=[_meaning_of_holds()],
        danger=True,
    )


def _meaning_of_holds() -> str:
    return _(
        "While the hold is active, the student can’t add classes or get a seat from a"
        " waitlist. The student keeps current seats and waitlist positions, and can"
        " drop them."
    )


@bp.route("/holds/<int:hold_id>/lift", methods=["GET", "POST"])
@requires(Right.CHANGE_HOLDS, Right.ADVISE)
def lift_hold(student_id: int, hold_id: int) -> ResponseReturnValue:
    """Lift a hold, and offer freed seats again to waitlists that skipped the student."""
    record = record_or_404(student_id)
    hold = _one(record.holds, hold_id)
    _demand_clearance(hold)
    when = local_clock().short(hold.lifted_at) if hold.lifted_at else ""

    def act(reason: str) -> str:
        lifted = holds.lift(
            student_id, hold_id, by=visitor().id, why=reason, as_adviser=_as_adviser()
        )
        retry_skipped(student_id)
        return _("Hold lifted.") if lifted else _("This hold was already lifted.")

    meaning = _(
        "The student can register again at once. Waitlists that skipped the student"
        " are checked again."
    )
    waits = hold.adviser_lifts
    return confirm_about(
        record,
        act,
        title=_("Clear the student to register") if waits else _("Lift the hold"),
        button=_("Give clearance") if waits else _("Lift hold"),
        meaning=[meaning],
        facts=_about(hold),
        refusal=_("It was lifted on %(when)s.", when=when) if when else "",
    )


@bp.route("/holds/<int:hold_id>/take-back", methods=["GET", "POST"])
@requires(Right.CHANGE_HOLDS, Right.ADVISE)
def take_back(student_id: int, hold_id: int) -> ResponseReturnValue:
    """Take back a clearance: the hold is in force again."""
    record = record_or_404(student_id)
    hold = _one(record.holds, hold_id)
    _demand_clearance(hold)
    if not hold.adviser_lifts:
        abort(404)

    def act(reason: str) -> str:
        taken = holds.take_back(
            student_id, hold_id, by=visitor().id, why=reason, as_adviser=_as_adviser()
        )
        return _("Clearance taken back.") if taken else _("The student is not cleared.")

    return confirm_about(
        record,
        act,
        title=_("Take back the clearance"),
        button=_("Take back clearance"),
        meaning=[_meaning_of_holds()],
        facts=_about(hold),
        danger=True,
        refusal="" if hold.lifted_at else _("The student is not cleared."),
    )


def _about(hold: Hold) -> list[tuple[str, str]]:
    return [
        (_("Hold"), f"{hold.kind}: {hold.reason}"),
        *([(_("Who can lift it"), hold.office)] if hold.office else []),
        (_("Added on"), local_clock().short(hold.placed_at)),
    ]


def _demand_clearance(hold: Hold) -> None:
    """Refuse an adviser another hold than one that waits for a clearance."""
    if _as_adviser() and not hold.adviser_lifts:
        abort(make_response(answer(403, OFFICE_LIFTS)))


def _as_adviser() -> bool:
    """Return whether the visitor may change holds of advisees alone."""
    return not visitor().may(Right.CHANGE_HOLDS)


# Permissions


class PermissionForm(Form):
    """Leave to pass rules of one section."""

    term = SelectOneField(
        _l("Term"),
        missing=_l("Choose a term."),
        choices=lambda: {str(each.id): each.name for each in current_terms()},
    )
    section = TextField(
        _l("Section"),
        longest=60,
        missing=_l("This term has no section with this CRN or number."),
        description=_l("CRN, or course and number such as CSC 1100-01."),
    )
    waives = ChoicesField(
        _l("Rules that don’t apply to the student:"),
        choices=OVERRIDABLE,
        missing=_l("Choose at least one rule."),
    )
    until = DayField(
        _l("Until"), last=True, description=_l("The last day. Leave blank for no end date.")
    )
    reason = ReasonField()
    found: SectionView | None = None

    def validate_section(self, field: TextField) -> None:
        """Find the section; raise ValidationError if the term has none of that name."""
        if not self.term.errors:
            self.found = find_section(field.data, catalog_of(int(self.term.data)))
        if self.found is None:
            raise ValidationError(str(field.missing))


@bp.route("/overrides/new", methods=["GET", "POST"])
@requires(Right.GRANT_PERMISSIONS)
def grant(student_id: int) -> ResponseReturnValue:
    """Permit a student to pass rules of a section."""
    record = record_or_404(student_id)
    form = PermissionForm(data=request.args.to_dict())

    def act(reason: str) -> str:
        section = form.found.id if form.found else 0
        wanted = permissions.NewPermission(
            student_id, section, form.waives.data, reason, form.until.data
        )
        with transaction() as session:
            new = permissions.grant(session, wanted, visitor().id)
        retry_skipped(student_id)
        return _("Permission granted.") if new else _("The student already has this permission.")

    meaning = _(
        "A permission does not give a seat. Windows, seats and the waitlist still"
        " apply. To give a seat at once, adjust the student’s classes."
    )
    title, button = _("Grant a permission"), _("Grant permission")
    return confirm_about(record, act, form, title=title, button=button, meaning=[meaning])


@bp.route("/overrides/<int:override_id>/revoke", methods=["GET", "POST"])
@requires(Right.GRANT_PERMISSIONS)
def revoke(student_id: int, override_id: int) -> ResponseReturnValue:
    """Revoke a permission; the student keeps a seat obtained with it."""
    record = record_or_404(student_id)
    permit = _one(record.permits, override_id)

    def act(reason: str) -> str:
        revoked = permissions.revoke(student_id, override_id, reason, by=visitor().id)
        return _("Permission removed.") if revoked else _("This permission was already removed.")

    when = local_clock().short(permit.revoked) if permit.revoked else ""
    meaning = _(
        "The rules apply to the student again. The student keeps a current seat, but"
        " is skipped on the waitlist."
    )
    return confirm_about(
        record,
        act,
        title=_("Remove the permission"),
        button=_("Remove permission"),
        meaning=[meaning],
        facts=[
            (_("Section"), f"{permit.name}, {permit.term}"),
            (_("Rules"), "; ".join(str(OBSTACLES.get(code, code)) for code in permit.waives)),
        ],
        danger=True,
        refusal=_("It was removed on %(when)s.", when=when) if when else "",
    )


# Completed courses


class CompletedForm(Form):
    """A completed course: a new one, or the correction of one."""

    rows = (("grade", "credits"),)

    was = HiddenField()  # the record's values when the page was shown
    course = TextField(
        _l("Course"),
        longest=24,
        description=_l(
            "The course code, such as CSC 1100. The course doesn’t need to be offered now."
        ),
    )
    term = TextField(_l("Term"), required=False, longest=80)
    grade = TextField(_l("Grade"), required=False, longest=LONGEST_GRADE)
    credits = DecimalField(
        _l("Credits"),
        most=MOST_CREDITS,
        required=False,
        message=_l("Credits: enter a number, such as 4 or 1.5."),
    )
    remove = BooleanField(_l("Remove it from the record"))
    reason = ReasonField()

    @property
    def code(self) -> str:
        """Return the course's code as it is stored."""
        return requisites.key(self.course.data or "")

    @property
    def wanted(self) -> CompletedRecord | None:
        if "remove" in self and self.remove.data:
            return None
        grade = grades.known(self.grade.data) or self.grade.data
        return CompletedRecord(self.code, self.term.data, grade, self.credits.data or Decimal(0))


@bp.route("/completed", methods=["GET", "POST"])
@requires(Right.CHANGE_STUDENTS)
def correct_completed(student_id: int) -> ResponseReturnValue:
    """Add a completed course, correct one (`course` in the address), or remove one."""
    record, code = record_or_404(student_id), request.args.get("course", "")
    shown = _completed(record, code)
    facts = (
        {"term": shown.term_name, "grade": shown.grade, "credits": shown.credits} if shown else {}
    )
    form = CompletedForm(data={"was": _mark(shown), "course": code, **facts})
    form.grade.description = _(
        "Minimum grades can be %(grades)s. A course with another grade, or with no grade, does"
        " not meet any.",
        grades=", ".join(grades.listed()),
    )
    if form.was.data:
        form.hide("course")
    else:
        del form.remove

    def act(reason: str) -> str | None:
        seen, wanted = _completed(record, form.code), form.wanted
        if seen != wanted and _mark(seen) != form.was.data:
            form.refuse(_("The record of this course has changed. Check it and try again."))
            return None
        try:
            student_records.correct_completed_course(
                student_id, form.code, seen, wanted, by=visitor().id, why=reason
            )
        except StaleRecord:
            form.refuse(_("Someone else has changed the record. Check it and try again."))
            return None
        retry_skipped(student_id)
        return _("Record of %(name)s corrected.", name=record.profile.name)

    meaning = _(
        "It counts for prerequisites from now on. The student keeps current seats."
        " Waitlists that skipped the student are checked again."
    )
    known = bool(form.was.data)
    return confirm_about(
        record,
        act,
        form,
        title=_("Correct a completed course") if known else _("Add a completed course"),
        button=_("Correct the record"),
        meaning=[meaning],
        facts=[(_("Course"), requisites.shown(form.course.data))] if known else [],
    )


def _completed(record: StudentRecord, code: str) -> CompletedRecord | None:
    return next((each for each in record.completed if each.code == code), None)


def _mark(course: CompletedRecord | None) -> str:
    """Return a course's record as the form sends it back."""
    return f"{course.term_name}|{course.grade}|{course.credits}" if course else ""


# The adviser


class AdviserForm(Form):
    account = TextField(
        _l("Username of the adviser"),
        longest=64,
        required=False,
        description=_l(
            "Choose an adviser from the list, or type a name to find one. Leave blank for no"
            " adviser."
        ),
        render_kw={"spellcheck": "false", "autocapitalize": "none", "list": "advisers"},
    )
    reason = ReasonField()

    @property
    def known(self) -> dict[str, dict[str, str]]:
        """Return the suggestions of its field: usernames with names."""
        return {"advisers": advising.advisers()}


@bp.route("/adviser", methods=["GET", "POST"])
@requires(Right.CHANGE_STUDENTS)
def set_adviser(student_id: int) -> ResponseReturnValue:
    """Give a student an adviser, another one, or none."""
    record = record_or_404(student_id)
    now = record.adviser
    form = AdviserForm(data={"account": now.username if now else ""})

    def act(reason: str) -> str | None:
        seen, username = seen_number("adviser"), form.account.data or ""
        try:
            advising.assign(student_id, seen, username, by=visitor().id, why=reason)
        except advising.NotAnAdviser:
            text = _("%(name)s is not an adviser. Give the account this role first.", name=username)
            form.refuse(text, "account")
            return None
        except advising.OwnAdviser:
            form.refuse(_("No one can be their own adviser."), "account")
            return None
        return _("Adviser of %(name)s saved.", name=record.profile.name)

    meaning = _(
        "The adviser sees the record, the classes and the plan of the student, and gives the"
        " clearance that holds wait for. The student sees the adviser’s name with each such hold"
        " and on My account."
    )
    return confirm_about(
        record,
        act,
        form,
        title=_("Adviser of %(name)s", name=record.profile.name),
        button=_("Save adviser"),
        meaning=[meaning],
        first_seen={"adviser": now.id if now else 0},
    )


# Privacy


@bp.route("/privacy", methods=["GET", "POST"])
@requires(Right.CHANGE_STUDENTS)
def set_privacy(student_id: int) -> ResponseReturnValue:
    """Hide a student's details from instructors, or show them again."""
    record = record_or_404(student_id)
    hidden = record.private
    wanted = request.form.get("private", "no" if hidden else "yes")
    if wanted not in {"yes", "no"}:
        abort(400)

    def act(reason: str) -> ResponseReturnValue:
        privacy.set_private(student_id, visitor().id, reason, private=wanted == "yes")
        return done(_("Saved. Class lists are updated at once."), request.path)

    meaning = [
        _("This student has not asked for privacy."),
        _(
            "Instructors see the name, number, year, major and email address of students"
            " in their classes."
        ),
    ]
    if hidden:
        meaning = [
            _("This student has asked for privacy."),
            _(
                "Instructors see only the name, number, and seat or waitlist position. Pages,"
                " printouts, files and address lists leave out year, major and email address."
            ),
        ]
    return confirm_about(
        record,
        act,
        title=_("Privacy of %(name)s", name=record.profile.name),
        button=_("Show details to instructors") if hidden else _("Hide details from instructors"),
        meaning=[*meaning, _("The registrar’s office always sees everything.")],
        seen={"private": "no" if hidden else "yes"},
    )
