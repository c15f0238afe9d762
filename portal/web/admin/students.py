"""Students for the registrar: search, record, holds, permissions, completed courses, privacy."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue
from wtforms import BooleanField, HiddenField, ValidationError

from portal.backend import backend
from portal.catalog import cohort_names, requisites
from portal.catalog.local_time import local_clock
from portal.catalog.term_catalog import SectionView, catalog_of, live_terms
from portal.core.db import transaction
from portal.core.i18n import _, _l
from portal.ledger.types import HeldSeat, WaitlistPosition, WindowView
from portal.people import holds, permissions, privacy, student_records
from portal.people.holds import NewHold
from portal.people.models import Student
from portal.people.student_profile import StudentProfile
from portal.people.student_records import (
    CompletedRecord,
    HoldRecord,
    PermissionRecord,
    StaleRecord,
    StudentRecord,
)
from portal.recorder import read_with_fallback
from portal.recorder.promotion import retry_skipped
from portal.recorder.receipt_texts import by_day
from portal.recorder.receipts import history
from portal.registration import limits
from portal.registration.credits import amount, hundredths
from portal.registration.next_steps import RefusalContext
from portal.registration.reasons import OBSTACLES, PERMISSIONS
from portal.web.admin.adjustments import clashes, find_section
from portal.web.confirm import Confirmation, confirm, done
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
from portal.web.http.layout import go
from portal.windows.cohorts import open_to
from portal.windows.phases import Phase, phase

bp = Blueprint("students", __name__, url_prefix="/students")

MOST_PAGES = 1000
MOST_CREDITS = Decimal("99.99")  # of a completed course
OVERRIDABLE = {code: OBSTACLES[code] for code in PERMISSIONS}

Row = TypeVar("Row", HoldRecord, PermissionRecord)


@dataclass(frozen=True)
class Place:
    """A seat or a waitlist position, with its section if it still exists."""

    place: HeldSeat | WaitlistPosition
    card: SectionView | None
    name: str
    credits: str
    instead: str = ""  # the section to drop in the swap


@dataclass(frozen=True)
class StudentWindow:
    """A window that the student may use, its phase, and its cohort."""

    window: WindowView
    phase: Phase
    whom: str


@dataclass(frozen=True)
class StudentTerm:
    """A student's seats, waitlists, credits, drops left today, and windows in a term."""

    held: list[Place]
    waiting: list[Place]
    credits: str
    limit: str
    drops_left: int
    windows: list[StudentWindow]
    clashes: list[str]  # pairs of seats at the same time


# The list and the page of one student


@bp.get("")
@requires("admin")
def index() -> ResponseReturnValue:
    """Render the students that match a search; go directly to an exact student number."""
    text, page = searched()
    with transaction() as session:
        exact = student_records.find_by_number(session, text) if text else None
        found, more = student_records.search(session, text, page)
    if exact:
        return go(_page_of(exact))
    return render_template("admin/students.html", text=text, students=found, page=page, more=more)


@bp.get("/<int:student_id>")
@requires("admin")
def show(student_id: int) -> ResponseReturnValue:
    """Render one student: a term's selections, holds, permissions, courses, latest receipts."""
    record, terms = _record(student_id), live_terms()
    wanted = request.args.get("term", type=int)
    term = next((each for each in terms if each.id == wanted), terms[0] if terms else None)
    return render_template(
        "admin/student.html",
        record=record,
        who=record.profile,
        rules=OBSTACLES,
        terms=terms,
        term=catalog_of(term.id).term if term else None,
        now=_student_term(record.profile, term.id) if term else None,
        days=by_day(history(student_id, term.id).receipts[:10]) if term else [],
    )


def searched() -> tuple[str, int]:
    """Return the search text and the page number of a list."""
    text = request.args.get("q", "").replace("\0", "").strip()
    return text, min(max(1, request.args.get("page", 1, type=int)), MOST_PAGES)


def _student_term(who: StudentProfile, term: int) -> StudentTerm:
    offered, standing, now = (
        catalog_of(term),
        read_with_fallback.standing(term, who.student),
        read_with_fallback.now(),
    )
    case = RefusalContext(offered, None, backend().settings.zone)

    def place(each: HeldSeat | WaitlistPosition) -> Place:
        swapped = getattr(each, "instead", 0)
        return Place(
            each,
            offered.section(each.section),
            case.named(each.section),
            amount(each.credits),
            case.named(swapped) if swapped else "",
        )

    return StudentTerm(
        held=[place(each) for each in standing.enrolled],
        waiting=[place(each) for each in standing.waiting],
        credits=amount(sum(each.credits for each in standing.enrolled)),
        limit=amount(hundredths(limits.credit_limit(who, offered))),
        drops_left=limits.drops_left_after(read_with_fallback.drops(term, who.student), term, now),
        clashes=clashes(offered, standing),
        windows=[
            StudentWindow(each, phase([each], now), cohort_names.describe(each.cohort))
            for each in open_to(who, read_with_fallback.windows(term))
            if each.state != "canceled"
        ],
    )


# Holds


class HoldForm(Form):
    """A new hold."""

    kind = TextField(_l("Kind"), longest=40, description=_l("Such as Bursar, Advising or Library."))
    said = TextField(
        _l("What the student reads"),
        longest=300,
        description=_l("It follows “There is a hold on your record:”."),
    )
    office = TextField(
        _l("Who lifts it"),
        required=False,
        description=_l("The office that the student is sent to. Blank: the registrar."),
    )
    since = DayField(_l("From"), description=_l("Blank: from now on."))
    until = DayField(
        _l("Until"), last=True, description=_l("The last day. Blank: until it is lifted.")
    )
    reason = ReasonField(required=False)

    def validate_until(self, field: DayField) -> None:
        """Raise ValidationError if the hold ends before it begins."""
        if field.data and self.since.data and field.data <= self.since.data:
            raise ValidationError(_("The last day comes before the first."))


@bp.route("/<int:student_id>/holds/new", methods=["GET", "POST"])
@requires("admin")
def place_hold(student_id: int) -> ResponseReturnValue:
    """Set a hold."""
    record, form = _record(student_id), HoldForm()

    def act(reason: str) -> ResponseReturnValue:
        hold = NewHold(
            form.kind.data,
            form.said.data,
            form.office.data,
            form.since.data,
            form.until.data,
        )
        new = holds.place(student_id, hold, by=visitor().id, why=reason)
        name = record.profile.name
        return done(
            _("The hold on %(name)s is set.", name=name)
            if new
            else _("%(name)s has this very hold already.", name=name),
            _page_of(student_id),
        )

    page = Confirmation(
        title=_("Set a hold"),
        button=_("Set the hold"),
        back=_back(record),
        facts=[_named(record)],
        meaning=[
            _(
                "While it stands, the student can’t pick anything and gets no seat from a"
                " waitlist. Seats and places that are held stay held, and can be given up."
            )
        ],
        danger=True,
    )
    return confirm(page, act, form)


@bp.route("/<int:student_id>/holds/<int:hold_id>/lift", methods=["GET", "POST"])
@requires("admin")
def lift_hold(student_id: int, hold_id: int) -> ResponseReturnValue:
    """Lift a hold, and offer freed seats again to waitlists that skipped the student."""
    record = _record(student_id)
    hold = _one(record.holds, hold_id)
    when = local_clock().short(hold.lifted) if hold.lifted else ""

    def act(reason: str) -> ResponseReturnValue:
        lifted = holds.lift(student_id, hold_id, by=visitor().id, why=reason)
        retry_skipped(student_id)
        text = _("The hold is lifted.") if lifted else _("The hold had been lifted already.")
        return done(text, _page_of(student_id))

    page = Confirmation(
        title=_("Lift the hold"),
        button=_("Lift it"),
        back=_back(record),
        facts=[
            _named(record),
            (_("Hold"), f"{hold.kind}: {hold.reason}"),
            *([(_("Who lifts it"), hold.office)] if hold.office else []),
            (_("Set on"), local_clock().short(hold.placed)),
        ],
        meaning=[
            _(
                "The student can pick again at once, and waitlists that passed the student over are"
                " asked again."
            )
        ],
        refusal=_("It was lifted on %(when)s.", when=when) if when else "",
    )
    return confirm(page, act)


# Permissions


class PermissionForm(Form):
    """Leave to pass rules of one section."""

    term = SelectOneField(
        _l("Term"),
        missing=_l("Choose a term."),
        choices=lambda: {str(each.id): each.name for each in live_terms()},
    )
    section = TextField(
        _l("Section"),
        longest=60,
        missing=_l("This term has no section with that CRN or number."),
        description=_l("CRN, or course and number such as CSC 1100-01."),
    )
    waives = ChoicesField(
        _l("The student may pick it even so:"),
        choices=OVERRIDABLE,
        missing=_l("Choose the rules that the student may pass."),
    )
    until = DayField(
        _l("Until"), last=True, description=_l("The last day. Blank: until it is taken back.")
    )
    reason = ReasonField()
    card: SectionView | None = None

    def validate_section(self, field: TextField) -> None:
        """Find the section; raise ValidationError if the term has none of that name."""
        if not self.term.errors:
            self.card = find_section(field.data, catalog_of(int(self.term.data)))
        if self.card is None:
            raise ValidationError(str(field.missing))


@bp.route("/<int:student_id>/overrides/new", methods=["GET", "POST"])
@requires("admin")
def grant(student_id: int) -> ResponseReturnValue:
    """Permit a student to pass rules of a section."""
    record = _record(student_id)
    form = PermissionForm(data=request.args.to_dict())

    def act(reason: str) -> ResponseReturnValue:
        section = form.card.id if form.card else 0
        wanted = permissions.NewPermission(
            student_id, section, form.waives.data, reason, form.until.data
        )
        with transaction() as session:
            new = permissions.grant(session, wanted, visitor().id)
        retry_skipped(student_id)
        text = _("It is permitted.") if new else _("The very same is permitted already.")
        return done(text, _page_of(student_id))

    page = Confirmation(
        title=_("Permit a section past its rules"),
        button=_("Permit it"),
        back=_back(record),
        facts=[_named(record)],
        meaning=[
            _(
                "The student picks the section as everyone does: windows, seats and the waitlist"
                " stay as they are. To give a seat at once, adjust the selections."
            )
        ],
    )
    return confirm(page, act, form)


@bp.route("/<int:student_id>/overrides/<int:override_id>/revoke", methods=["GET", "POST"])
@requires("admin")
def revoke(student_id: int, override_id: int) -> ResponseReturnValue:
    """Revoke a permission; the student keeps a seat obtained with it."""
    record = _record(student_id)
    permit = _one(record.permits, override_id)

    def act(reason: str) -> ResponseReturnValue:
        revoked = permissions.revoke(student_id, override_id, reason, by=visitor().id)
        text = _("It is taken back.") if revoked else _("It had been taken back already.")
        return done(text, _page_of(student_id))

    when = local_clock().short(permit.revoked) if permit.revoked else ""
    page = Confirmation(
        title=_("Take the permission back"),
        button=_("Take it back"),
        back=_back(record),
        facts=[
            _named(record),
            (_("Section"), f"{permit.name}, {permit.term}"),
            (_("Rules"), "; ".join(str(OBSTACLES.get(code, code)) for code in permit.waives)),
        ],
        meaning=[
            _(
                "The rules hold for the student again. A seat that is held stays held; a place in"
                " line is passed over when its turn comes."
            )
        ],
        danger=True,
        refusal=_("It was taken back on %(when)s.", when=when) if when else "",
    )
    return confirm(page, act)


# Completed courses


class CompletedForm(Form):
    """A completed course: a new one, or the correction of one."""

    was = HiddenField()  # the record's values when the page was shown
    course = TextField(
        _l("Course"),
        longest=24,
        description=_l("Its code, such as MATH 1010. It need not be offered any more."),
    )
    term = TextField(_l("Term"), required=False, longest=80)
    grade = TextField(_l("Grade"), required=False, longest=8)
    credits = DecimalField(
        _l("Credits"),
        most=MOST_CREDITS,
        required=False,
        message=_l("Credits: give a number, such as 4 or 1.5."),
    )
    remove = BooleanField(_l("Take it off the record"))
    reason = ReasonField()

    @property
    def code(self) -> str:
        """Return the course's code as it is stored."""
        return requisites.key(self.course.data or "")

    @property
    def wanted(self) -> CompletedRecord | None:
        """Return the new record."""
        if "remove" in self and self.remove.data:
            return None
        return CompletedRecord(
            self.code, self.term.data, self.grade.data, self.credits.data or Decimal(0)
        )


@bp.route("/<int:student_id>/completed", methods=["GET", "POST"])
@requires("admin")
def correct_completed(student_id: int) -> ResponseReturnValue:
    """Add a completed course, correct one (`course` in the address), or remove one."""
    record, code = _record(student_id), request.args.get("course", "")
    shown = _completed(record, code)
    facts = (
        {"term": shown.term_name, "grade": shown.grade, "credits": shown.credits} if shown else {}
    )
    form = CompletedForm(data={"was": _mark(shown), "course": code, **facts})
    if form.was.data:
        form.hide("course")
    else:
        del form.remove

    def act(reason: str) -> ResponseReturnValue | None:
        seen, wanted = _completed(record, form.code), form.wanted
        if seen != wanted and _mark(seen) != form.was.data:
            form.refuse(_("The record says something else about this course now. Look again."))
            return None
        try:
            student_records.correct_completed_course(
                student_id, form.code, seen, wanted, by=visitor().id, why=reason
            )
        except StaleRecord:
            form.refuse(_("Somebody has changed the record meanwhile. Look again."))
            return None
        retry_skipped(student_id)
        text = _("The record of %(name)s is corrected.", name=record.profile.name)
        return done(text, _page_of(student_id))

    page = Confirmation(
        title=_("Correct a completed course") if form.was.data else _("Add a completed course"),
        button=_("Correct the record"),
        back=_back(record),
        facts=[
            _named(record),
            *([(_("Course"), requisites.shown(form.course.data))] if form.was.data else []),
        ],
        meaning=[
            _(
                "It counts for prerequisites from now on. Seats that are held stay held; waitlists"
                " that passed the student over are asked again."
            )
        ],
    )
    return confirm(page, act, form)


def _completed(record: StudentRecord, code: str) -> CompletedRecord | None:
    return next((each for each in record.completed if each.code == code), None)


def _mark(course: CompletedRecord | None) -> str:
    """Return a course's record as the form sends it back."""
    return f"{course.term_name}|{course.grade}|{course.credits}" if course else ""


# Privacy


@bp.route("/<int:student_id>/privacy", methods=["GET", "POST"])
@requires("admin")
def set_privacy(student_id: int) -> ResponseReturnValue:
    """Hide a student's details from instructors, or show them again."""
    with transaction() as session:
        student = session.get(Student, student_id)
        if student is None or student.deleted_at:
            abort(404)
        name = student.account.name
    wanted = request.form.get("private", "no" if student.private else "yes")
    if wanted not in {"yes", "no"}:
        abort(400)

    def act(reason: str) -> ResponseReturnValue:
        privacy.set_private(student_id, visitor().id, reason, private=wanted == "yes")
        return done(_("It is noted, and lists of classes follow at once."), request.path)

    page = Confirmation(
        title=_("Privacy of %(name)s", name=name),
        button=_("Show the details again") if student.private else _("Keep the details private"),
        back=(_page_of(student_id), name),
        facts=[(_("Student"), f"{name}, {student.number}")],
        meaning=_privacy(student.private),
        seen={"private": "no" if student.private else "yes"},
    )
    return confirm(page, act)


def _privacy(private: bool) -> list[str]:  # noqa: FBT001
    """Return what instructors see of a student now."""
    office = _("The registrar’s office sees everything.")
    if private:
        return [
            _("This student has asked for privacy."),
            _(
                "Those who teach see the name, the number and the seat or place in line, as a class"
                " can’t do without. Year, major and email address are left out, on the page and on"
                " paper, in files and lists of addresses."
            ),
            office,
        ]
    return [
        _("This student has not asked for privacy."),
        _(
            "Those who teach see the name, number, year, major and email address of who is in their"
            " class."
        ),
        office,
    ]


# Shared by the pages


def _record(student_id: int) -> StudentRecord:
    """Return the student's record, or 404."""
    with transaction() as session:
        return student_records.find(session, student_id) or abort(404)


def _one(rows: Iterable[Row], number: int) -> Row:
    """Return the row of that id, or 404."""
    return next((each for each in rows if each.id == number), None) or abort(404)


def _page_of(student_id: int) -> str:
    return url_for("admin.students.show", student_id=student_id)


def _back(record: StudentRecord) -> tuple[str, str]:
    return _page_of(record.profile.student), record.profile.name


def _named(record: StudentRecord) -> tuple[str, str]:
    return _("Student"), f"{record.profile.name}, {record.profile.number}"
