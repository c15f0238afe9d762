"""Instructors of the catalog and their accounts: search, link, unlink, and who decides."""

from collections.abc import Callable
from functools import partial
from typing import Any

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.catalog.term_catalog import catalog_of, live_terms
from portal.core.db import transaction
from portal.core.i18n import _, _l
from portal.core.sorting import Sorting
from portal.people import instructors
from portal.people.instructors import InstructorView
from portal.people.models import Account
from portal.people.roles import Right
from portal.web.confirm import Confirmation, confirm, done
from portal.web.forms import Form, TextField
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
    return _page(_instructor(instructor_id), AccountForm(formdata=None)), 200


@bp.route("/<int:instructor_id>/link", methods=["GET", "POST"])
@requires(Right.CHANGE_INSTRUCTORS)
def link(instructor_id: int) -> ResponseReturnValue:
    """Link an account to an instructor."""
    instructor, form = _instructor(instructor_id), AccountForm(request.values)
    with transaction() as session:
        account = instructors.account_of(session, form.account.data)
    if account is None:
        form.validate()
        name = form.account.data or "–"
        form.refuse(_("No account has the username %(name)s.", name=name), "account")
        return _page(instructor, form), 422
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
    texts = {"title": title, "button": title, "meaning": [meaning]}
    return _confirm(instructor, account, change, text, **texts)


@bp.route("/<int:instructor_id>/unlink", methods=["GET", "POST"])
@requires(Right.CHANGE_INSTRUCTORS)
def unlink(instructor_id: int) -> ResponseReturnValue:
    """Unlink an account from an instructor."""
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
    texts = {"title": title, "button": title, "meaning": [meaning]}
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
    texts = {"title": title, "button": title, "meaning": [meaning]}
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
    address = url_for("admin.instructors.show", instructor_id=instructor.id)

    def act(reason: str) -> ResponseReturnValue:
        change(by=visitor().id, why=reason)
        return done(done_text, address)

    page = Confirmation(
        back=(address, instructor.name),
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


def _page(instructor: InstructorView, form: AccountForm) -> str:
    with transaction() as session:
        also = instructors.of_account(session, instructor.account or 0)
        suggested = (
            [] if instructor.account else instructors.suggested_accounts(session, instructor)
        )
    catalogs = [catalog_of(term.id) for term in live_terms()]
    taught = [(each.term.name, each.taught_by(frozenset({instructor.id}))) for each in catalogs]
    return render_template(
        "admin/instructor.html",
        instructor=instructor,
        also=[each for each in also if each.id != instructor.id],
        suggested=suggested,
        classes=[(name, sections) for name, sections in taught if sections],
        form=form,
    )
