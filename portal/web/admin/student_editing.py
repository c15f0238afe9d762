"""Creating and editing students: a form, what changes, then the change."""

from collections.abc import Sequence
from typing import ClassVar

from flask import Blueprint, abort, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session
from wtforms import ValidationError

from portal.catalog import courses
from portal.catalog.deletion import Obstacle
from portal.catalog.record_details import RecordChange
from portal.core.db import transaction
from portal.core.i18n import _
from portal.exchange import term_names
from portal.exchange.importing.edits import note_original
from portal.exchange.term_names import ImportPending
from portal.people import accounts, student_editing, visitors
from portal.people.models import CLASS_YEARS, Student
from portal.people.roles import Right
from portal.people.student_fields import StudentDetails
from portal.recorder.promotion import retry_skipped
from portal.web import drafts
from portal.web.admin.record_editing import RecordEdit, confirm_change, is_complete, show_form
from portal.web.admin.section_forms import add_fields
from portal.web.admin.students import address_of
from portal.web.confirm import Confirmation, done
from portal.web.forms import Form, Sent, TextField, UsernameField
from portal.web.http.access import requires, visitor
from portal.windows import cohorts

bp = Blueprint("student_editing", __name__, url_prefix="/students")


class StudentForm(Form):
    """All fields of a student, which come from StudentDetails."""

    rows: ClassVar[tuple[tuple[str, ...], ...]] = (
        ("name", "number"),
        ("level", "year"),
        ("majors", "minors"),
        ("degree", "department"),
        ("college", "campus"),
    )

    def __init__(
        self, sent: Sent | None, session: Session, stored: StudentDetails | None = None
    ) -> None:
        super().__init__(sent, data=vars(stored) if stored and sent is None else None)
        self.session, self.stored = session, stored
        self.department.offer({"": "", **courses.departments(session)})
        known = cohorts.choices(session)
        years = dict.fromkeys((*CLASS_YEARS, *known["years"]))
        self.known: dict[str, list[str]] = {"levels": [*known["levels"]], "years": [*years]}

    def validate_number(self, field: TextField) -> None:
        """Raise ValidationError if another student has the number."""
        if not field.data.isprintable() or " " in field.data:
            raise ValidationError(_("Student number: enter letters and digits without spaces."))
        if request.method == "POST" or (self.stored and self.stored.number == field.data):
            return  # storing it checks this, too: the same form may be sent twice
        if self.session.query(Student.id).filter(Student.number == field.data).first():
            raise ValidationError(_("Another student has this number, possibly a deleted one."))

    def check_together(self) -> None:
        """Check the subjects, and build the details that the fields describe."""
        for name in ("majors", "minors"):
            for code in student_editing.unknown_subjects(self.session, self[name].data or ()):
                self.refuse(_("No subject has the code %(code)s.", code=code[:60]), name)
        if not self.errors:
            names = StudentDetails.fields()
            self.details = StudentDetails(**{name: self[name].data for name in names})

    def refuse_number(self, found: Sequence[Obstacle]) -> None:
        """Name what needs the number as it is, if there is something."""
        if found:
            names = "; ".join(each.text for each in found)
            wrong = _("The number can’t change, because these name it: %(names)s.", names=names)
            self.refuse(wrong, "number")

    def cautions(self) -> list[str]:
        """Return values that no other student has: they may be mistyped."""
        found = []
        for each in StudentDetails.fields().values():
            field = self[each.name]
            if each.suggested and field.data and field.data not in self.known[each.suggested]:
                facts = {"field": field.label.text, "value": field.data}
                found.append(_("No other student has this value: %(field)s “%(value)s”.", **facts))
        return found


add_fields(StudentForm, StudentDetails.fields().values())


class NewStudentForm(StudentForm):
    rows: ClassVar[tuple[tuple[str, ...], ...]] = (("username", "email"), *StudentForm.rows)

    username = UsernameField()

    def validate_username(self, field: UsernameField) -> None:
        """Raise ValidationError if another account has the username."""
        if request.method == "GET" and accounts.username_taken(self.session, field.data):
            raise ValidationError(_("Another account has this username, possibly a deleted one."))


@bp.route("/new", methods=["GET", "POST"])
@requires(Right.CHANGE_STUDENTS)
def new() -> ResponseReturnValue:
    """Render the form of a new student, or what it says; store it once that is confirmed."""
    sent = drafts.sent_form()
    back = url_for("admin.students.index"), _("Students")
    with transaction() as session:
        form = NewStudentForm(sent, session)
        if sent is None or not is_complete(sent, form):
            return show_form(form, title=_("New student"), back=back)
    username, details = form.username.data, form.details
    page = Confirmation(
        title=_("Create this student?"),
        button=_("Create student"),
        back=back,
        meaning=[_("The account has no password. Send a link to choose one from its page.")],
        context={
            "lines": [(_("Username"), [username]), *details.lines],
            "cautions": form.cautions(),
        },
    )

    def store(reason: str) -> ResponseReturnValue:
        made = student_editing.create(username, RecordChange(details, visitor().id, reason))
        return done(_("%(name)s is created.", name=details.name), address_of(made))

    return confirm_change(page, sent, store)


@bp.route("/<int:student_id>/edit", methods=["GET", "POST"])
@requires(Right.CHANGE_STUDENTS)
def edit(student_id: int) -> ResponseReturnValue:
    """Render the form or what the submitted one changes; store it once it is confirmed."""
    sent = drafts.sent_form()
    with transaction() as session:
        student = student_editing.find(session, student_id) or abort(404)
        account, username = student.account_id, student.account.username
        stored = student_editing.details(session, student)
        form = StudentForm(sent, session, stored)
        back = address_of(student_id), stored.name
        change = RecordEdit(sent, form, stored, f"student:{student_id}", back)
        if page := change.page_before_review(session):
            return page
        wanted = form.details
        form.refuse_number(student_editing.number_obstacles(session, student_id, stored, wanted))
        if not student_editing.may_change_email(student.account, stored, wanted):
            form.refuse(
                _(
                    "This account belongs to the registrar’s office. Its address can’t be changed"
                    " here: anyone who reads that inbox could reset the password."
                ),
                "email",
            )
        if form.errors:
            return change.show_form()
    meaning = [
        _(
            "Rules use the new record from the next request of the student. Current seats"
            " stay. Waitlists that skipped the student are checked again."
        ),
        _("Later imports keep what you change here, and show it beside the value of the file."),
    ]

    def store(confirmed: RecordChange[StudentDetails]) -> ResponseReturnValue:
        try:
            with transaction() as session:
                note_original(session, "account", username)
                note_original(session, "student", stored.number)
                student_editing.edit(session, student_id, confirmed)
                if stored.number != wanted.number:
                    term_names.rename(session, "student", stored.number, wanted.number)
        except ImportPending:
            why = _("You can’t change a number while an import is in progress or waits for review.")
            return drafts.show_draft(request.path, why)
        visitors.forget(account)
        retry_skipped(student_id)
        return _("%(name)s is saved.", name=wanted.name)

    return change.confirm(store, meaning, cautions=form.cautions())
