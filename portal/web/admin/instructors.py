"""Instructors of the catalog: search, create, edit, delete; their accounts, and who decides."""

from collections.abc import Callable
from functools import partial
from typing import Any

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session

from portal.catalog import courses
from portal.catalog.deletion import InTheWay
from portal.catalog.models import Instructor
from portal.catalog.record_details import RecordChange
from portal.catalog.term_catalog import catalog_of, expire, live_terms, term_label
from portal.core.db import transaction
from portal.core.i18n import _, _l
from portal.core.sorting import Sorting
from portal.people import instructors
from portal.people.instructors import InstructorDetails, InstructorView
from portal.people.models import Account
from portal.people.roles import Right
from portal.web import drafts
from portal.web.admin.audit_trail import history_of
from portal.web.admin.catalog import refusal
from portal.web.admin.record_editing import RecordEdit, confirm_change, is_complete, show_form
from portal.web.admin.section_forms import add_fields
from portal.web.confirm import Confirmation, NotPossible, confirm, done
from portal.web.forms import Form, Sent, TextField, render_form
from portal.web.http.access import requires, visitor
from portal.web.paging import page_number, search_text

bp = Blueprint("instructors", __name__, url_prefix="/instructors")


class AccountForm(Form):
    """The user name of an account."""

    account = TextField(
        _l("Username"),
        longest=64,
        required=False,
        description=_l("The username for login. You can review before you save."),
        render_kw={"spellcheck": "false", "autocapitalize": "none"},
    )


class InstructorForm(Form):
    """All fields of an instructor, which come from InstructorDetails."""

    def __init__(
        self, sent: Sent | None, session: Session, instructor_id: int = 0, **stored: str
    ) -> None:
        super().__init__(sent, data=stored if sent is None else None)
        self.session, self.instructor_id = session, instructor_id
        self.department.offer({"": _("None"), **courses.departments(session)})

    def check_together(self) -> None:
        """Check that the department has no such instructor."""
        if not self.errors and not self.name.data.isprintable():
            self.refuse(_("Use letters, digits and visible symbols only."), "name")
        self.details = InstructorDetails(**{each.name: each.data or "" for each in self})
        if not self.errors and instructors.namesakes(
            self.session, self.details, self.instructor_id
        ):
            wrong = _("This department already has an instructor with this name. Change one name.")
            self.refuse(wrong, "name")


add_fields(InstructorForm, InstructorDetails.fields().values())


@bp.get("")
@requires(Right.SEE_INSTRUCTORS)
def index() -> ResponseReturnValue:
    """Render the instructors that match a search, all or those without an account."""
    text, page, without = search_text(), page_number(), request.args.get("show") == "without"
    sorting = Sorting.parse(instructors.SORTS, request.args)
    with transaction() as session:
        found, more = instructors.search(session, text, page, sorting, without=without)
    return render_template(
        "admin/instructors.html",
        text=text,
        found=found,
        page=page,
        more=more,
        without=without,
        sorting=sorting,
    )


@bp.get("/<int:instructor_id>")
@requires(Right.SEE_INSTRUCTORS)
def show(instructor_id: int) -> ResponseReturnValue:
    """Render an instructor's sections and account, and a search for an account."""
    return _page(_instructor(instructor_id), AccountForm(formdata=None))


@bp.route("/new", methods=["GET", "POST"])
@requires(Right.CHANGE_INSTRUCTORS)
def new() -> ResponseReturnValue:
    """Render the form of a new instructor, or what it says; store it once that is confirmed."""
    sent = drafts.sent_form()
    back = url_for("admin.instructors.index"), _("Instructors")
    with transaction() as session:
        form = InstructorForm(sent, session)
        if sent is None or not is_complete(sent, form):
            return show_form(form, title=_("New instructor"), back=back)
    wanted = form.details
    page = Confirmation(
        title=_("Create this instructor?"),
        button=_("Create instructor"),
        back=back,
        meaning=[_("You can add the instructor to sections, and link an account.")],
        context={"lines": wanted.lines},
    )

    def store(reason: str) -> ResponseReturnValue:
        made = instructors.create(RecordChange(wanted, visitor().id, reason))
        return done(
            _("%(name)s is created.", name=wanted.name), url_for(".show", instructor_id=made)
        )

    return confirm_change(page, sent, store)


@bp.route("/<int:instructor_id>/edit", methods=["GET", "POST"])
@requires(Right.CHANGE_INSTRUCTORS)
def edit(instructor_id: int) -> ResponseReturnValue:
    """Render the form or what the submitted one changes; store it once it is confirmed."""
    sent, shown = drafts.sent_form(), _instructor(instructor_id)
    back = url_for(".show", instructor_id=instructor_id), shown.name
    with transaction() as session:
        stored = instructors.details(session, session.get_one(Instructor, instructor_id))
        form = InstructorForm(sent, session, instructor_id, **vars(stored))
        change = RecordEdit(sent, form, stored, f"teacher:{instructor_id}", back)
        if page := change.page_before_review(session):
            return page
    wanted = form.details
    meaning = [
        _("Students see the new name in all terms. Their classes do not change."),
        _(
            "Imports know instructors without an account by name and department. Change"
            " these in your files, too; otherwise they add the old one again."
        ),
    ]

    def store(confirmed: RecordChange[InstructorDetails]) -> ResponseReturnValue:
        instructors.edit(instructor_id, confirmed)
        for term in live_terms():
            expire(term.id)
        return _("%(name)s is saved.", name=wanted.name)

    return change.confirm(store, meaning)


@bp.route("/<int:instructor_id>/delete", methods=["GET", "POST"])
@requires(Right.CHANGE_INSTRUCTORS)
def delete(instructor_id: int) -> ResponseReturnValue:
    """Delete an instructor who teaches nothing, once it is confirmed."""
    with transaction() as session:
        instructor = session.get(Instructor, instructor_id) or abort(404)
        found = instructors.obstacles(session, instructor_id)
    if instructor.deleted_at and request.method == "GET":
        abort(404)

    def act(reason: str) -> ResponseReturnValue:
        try:
            instructors.remove(instructor_id, visitor().id, reason)
        except InTheWay as way:
            raise NotPossible(refusal("delete", way.obstacles)) from way
        message = _("%(name)s is deleted.", name=instructor.name)
        return done(message, url_for("admin.instructors.index"))

    page = Confirmation(
        title=_("Delete %(name)s", name=instructor.name),
        button=_("Delete"),
        back=(url_for(".show", instructor_id=instructor_id), instructor.name),
        meaning=[
            _("The instructor disappears from lists and forms. Sections of past terms keep it.")
        ],
        danger=True,
        refusal=refusal("delete", found) if found else "",
    )
    return confirm(page, act)


@bp.route("/<int:instructor_id>/link", methods=["GET", "POST"])
@requires(Right.CHANGE_INSTRUCTORS)
def link(instructor_id: int) -> ResponseReturnValue:
    instructor, form = _instructor(instructor_id), AccountForm(request.values)
    with transaction() as session:
        account = instructors.account_of(session, form.account.data)
    if account is None:
        form.validate()
        name = form.account.data or "–"
        form.refuse(_("No account has the username %(name)s.", name=name), "account")
        return _page(instructor, form)
    meaning = _(
        "This account can see these classes at once, with the names and addresses of students."
    )
    text = _(
        "Account %(name)s is linked to instructor %(instructor)s.",
        name=account.name,
        instructor=instructor.name,
    )
    change = partial(instructors.link, instructor_id, account.id)
    title = _("Link account")
    texts = {"title": title, "meaning": [meaning]}
    return _confirm(instructor, account, change, text, **texts)


@bp.route("/<int:instructor_id>/unlink", methods=["GET", "POST"])
@requires(Right.CHANGE_INSTRUCTORS)
def unlink(instructor_id: int) -> ResponseReturnValue:
    instructor = _instructor(instructor_id)
    name = request.form.get("account", instructor.username or "").replace("\0", "")
    with transaction() as session:
        account = instructors.account_of(session, name) or abort(404)
    meaning = _(
        "Without an account, only admins and other instructors of these classes can see them."
    )
    text = _(
        "Account %(name)s is no longer linked to instructor %(instructor)s.",
        name=account.name,
        instructor=instructor.name,
    )
    change, title = partial(instructors.unlink, instructor_id, account.id), _("Unlink account")
    texts = {"title": title, "meaning": [meaning]}
    return _confirm(instructor, account, change, text, **texts, danger=True)


@bp.route("/<int:instructor_id>/decider", methods=["GET", "POST"])
@requires(Right.CHANGE_INSTRUCTORS)
def decider(instructor_id: int) -> ResponseReturnValue:
    """Let the linked account decide applications for the department, or no longer."""
    instructor = _instructor(instructor_id)
    sent = request.form if request.method == "POST" else request.args
    decides = sent.get("decides") == "1"
    shown = instructor.department_code if decides else instructor.right_code
    department = request.form.get("department", "") if request.method == "POST" else shown
    named = instructor.department if decides else instructor.right_for or instructor.department
    if decides and not named:
        abort(404)
    name = request.form.get("account", instructor.username or "").replace("\0", "")
    with transaction() as session:
        account = instructors.account_of(session, name) or abort(404)
    facts = {"name": account.name, "department": named or department}
    if decides:
        act = instructors.let_decide
        title = _("Let this account decide for the department")
        meaning = _(
            "This account can read applications about sections of %(department)s, with their "
            "documents, and decide the stage of the department.",
            **facts,
        )
        text = _("%(name)s decides applications for %(department)s.", **facts)
    else:
        act = instructors.stop_deciding
        title = _("Stop deciding for the department")
        meaning = _("This account can no longer read or decide applications of the department.")
        text = _("%(name)s no longer decides applications for %(department)s.", **facts)
    change = partial(act, instructor_id, account.id, department)
    texts = {"title": title, "meaning": [meaning]}
    seen = {"decides": "1" if decides else "", "department": department}
    return _confirm(instructor, account, change, text, **texts, seen=seen)


def _confirm(
    instructor: InstructorView,
    account: Account,
    change: Callable[..., None],
    done_text: str,
    **texts: Any,
) -> ResponseReturnValue:
    """Confirm a `change` of the instructor's account; `texts` are fields of the page."""
    seen = {"account": account.username, **texts.pop("seen", {})}
    with transaction() as session:
        others = instructors.of_account(session, account.id)
    also = "; ".join(
        ", ".join(filter(None, (each.name, each.department)))
        for each in others
        if each.id != instructor.id
    )

    def act(reason: str) -> str:
        change(by=visitor().id, why=reason)
        return done_text

    page = Confirmation(
        back=(url_for(".show", instructor_id=instructor.id), instructor.name),
        facts=[
            (_("Instructor"), instructor.name),
            (_("Account"), f"{account.name}, {account.username}"),
            *([(_("Also linked to"), also)] if also else []),
        ],
        **texts,
        seen=seen,
    )
    return confirm(page, act)


def _instructor(instructor_id: int) -> InstructorView:
    """Return the instructor, or 404."""
    with transaction() as session:
        return instructors.find(session, instructor_id) or abort(404)


def _page(instructor: InstructorView, form: AccountForm) -> ResponseReturnValue:
    with transaction() as session:
        also = instructors.of_account(session, instructor.account or 0)
        suggested = (
            [] if instructor.account else instructors.suggested_accounts(session, instructor)
        )
        history = history_of(session, f"teacher:{instructor.id}")
    catalogs = [catalog_of(term.id) for term in live_terms()]
    taught = [
        (term_label(each.term), each.taught_by(frozenset({instructor.id}))) for each in catalogs
    ]
    return render_form(
        "admin/instructor.html",
        form,
        instructor=instructor,
        also=[each for each in also if each.id != instructor.id],
        suggested=suggested,
        classes=[(name, sections) for name, sections in taught if sections],
        **history,
    )
