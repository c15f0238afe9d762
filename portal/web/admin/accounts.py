"""Accounts of people: found, created, edited, deactivated, and helped to log in again."""

from collections.abc import Callable
from typing import Any, ClassVar

from flask import Blueprint, abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue
from sqlalchemy.orm import Session
from wtforms import ValidationError

from portal.backend import backend
from portal.catalog.record_details import RecordChange
from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.core.i18n import _, _l, current_locale
from portal.exchange.importing.edits import note_original
from portal.notifications import mail
from portal.people import account_editing, accounts, staff, visitors
from portal.people.account_editing import AccountDetails
from portal.people.accounts import LONGEST_ADDRESS, AccountRefusedError
from portal.people.models import Account
from portal.people.roles import Right
from portal.web import drafts
from portal.web.account import login_limits
from portal.web.admin.audit_trail import history_of
from portal.web.admin.record_editing import RecordEdit, confirm_change, is_complete, show_form
from portal.web.confirm import Confirmation, NotPossible, confirm
from portal.web.forms import Form, Sent, TextField, UsernameField
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go
from portal.web.paging import page_number, search_text

bp = Blueprint("accounts", __name__, url_prefix="/accounts")


@bp.get("")
@requires(Right.SEE_ACCOUNTS)
def index() -> ResponseReturnValue:
    """Render the accounts that match a search."""
    text, page = search_text(), page_number()
    with transaction() as session:
        found, more = accounts.search(session, text, page)
    return render_template("admin/accounts.html", text=text, found=found, page=page, more=more)


@bp.get("/<int:account_id>")
@requires(Right.SEE_ACCOUNTS)
def show(account_id: int) -> ResponseReturnValue:
    """Render an account: who it belongs to, how they log in, and its history."""
    account = _account(account_id)
    with transaction() as session:
        history = history_of(session, f"account:{account_id}")
    return render_template(
        "admin/account.html",
        account=account,
        roles=staff.role_labels(account),
        obstacle=_obstacle(account),
        passwords=backend().settings.passwords,
        **history,
    )


@bp.route("/<int:account_id>/<any(deactivate,activate):wanted>", methods=["GET", "POST"])
@requires(Right.CHANGE_ACCOUNTS)
def switch(account_id: int, wanted: str) -> ResponseReturnValue:
    """Deactivate an account, or activate it again, once it is confirmed."""
    account, active = _account(account_id), wanted == "activate"

    def change(reason: str) -> str:
        try:
            accounts.set_active(account_id, visitor().id, reason, active=active)
        except AccountRefusedError as error:
            raise NotPossible(_obstacle(account)) from error
        if active:
            return _("%(name)s can log in again.", name=account.name)
        return _("%(name)s is logged out and can’t log in any more.", name=account.name)

    if active:
        meaning = [_("The owner can log in again with the old password.")]
    else:
        meaning = [
            _("No one can log in to this account. Its sessions and access tokens end at once."),
            _(
                "Seats, waitlist positions, roles and records stay, and emails about them still go"
                " out."
            ),
        ]
    return _confirm(
        account,
        change,
        title=_("Activate the account") if active else _("Deactivate the account"),
        meaning=meaning,
        danger=not active,
        refusal="" if active else _obstacle(account),
    )


@bp.route("/<int:account_id>/recovery", methods=["GET", "POST"])
@requires(Right.CHANGE_ACCOUNTS)
def recover(account_id: int) -> ResponseReturnValue:
    """Mail a link for a new password to the address of the account."""
    account = _account(account_id)
    if not backend().settings.passwords:
        abort(404)
    refusal = ""
    if account.deactivated_at:
        refusal = _("The account is deactivated. Activate it first.")
    elif backend().settings.oidc and not account.password_hash:
        refusal = _("The account has no password here: its owner logs in by single sign-on.")
    elif not mail.is_address(account.email):
        refusal = _("The account has no email address. Add one to the record of the person first.")

    def change(reason: str) -> str:
        if refusal:
            raise NotPossible(refusal)
        with transaction() as session:
            _note(session, "account.recovery", account_id, reason)
            mail.send_recovery(session, account, str(current_locale()), visitor().name)
        return _("A link is on its way to %(address)s.", address=account.email)

    return _confirm(
        account,
        change,
        title=_("Send a link for a new password"),
        meaning=[
            _("The link goes to %(address)s. It works once, for an hour.", address=account.email),
            _("The password and open sessions stay as they are until someone uses the link."),
        ],
        refusal=refusal,
    )


@bp.route("/<int:account_id>/unlock", methods=["GET", "POST"])
@requires(Right.CHANGE_ACCOUNTS)
def unlock(account_id: int) -> ResponseReturnValue:
    """Forget the failed logins of an account, so that its owner need not wait."""
    account = _account(account_id)

    def change(reason: str) -> str:
        login_limits.unlock(account.username)
        with transaction() as session:
            _note(session, "account.unlock", account_id, reason)
        return _("%(name)s can try to log in at once.", name=account.name)

    return _confirm(
        account,
        change,
        title=_("Unlock the login"),
        meaning=[
            _(
                "After too many wrong passwords, the login makes people wait or asks for a"
                " captcha. This ends that for the username at once, on all devices."
            )
        ],
    )


def _confirm(account: Account, act: Callable[[str], str], **texts: Any) -> ResponseReturnValue:
    """Confirm a change of the account; `act` returns the message to show on its page."""
    page = Confirmation(
        back=(url_for(".show", account_id=account.id), account.name),
        facts=[(_("Account"), f"{account.name}, {account.username}")],
        **texts,
    )
    return confirm(page, act)


def _note(session: Session, action: str, account_id: int, reason: str) -> None:
    add_audit_entry(session, action, f"account:{account_id}", by=visitor().id, reason=reason)


def _obstacle(account: Account) -> str:
    """Return why the account can't be deactivated here; blank if it can."""
    if account.id == visitor().id:
        return _("You can’t deactivate your own account.")
    if account.is_admin:
        return _(
            "An account of the registrar’s office can’t be deactivated here. First end its role"
            " with “%(command)s”.",
            command=f"fairseat account {account.username} --end-role admin",
        )
    return ""


def _account(account_id: int) -> Account:
    return accounts.find(account_id) or abort(404)


# Creating and editing an account: a form, a review, then the change


class AccountForm(Form):
    rows: ClassVar[tuple[tuple[str, ...], ...]] = (("name", "email"),)

    name = TextField(_l("Name"), missing=_l("Enter a name."))
    email = TextField(
        _l("Email"),
        longest=LONGEST_ADDRESS,
        missing=_l("Enter an email address such as name@example.org."),
        description=_l("Links for a new password go there."),
        render_kw={"type": "email", "spellcheck": "false"},
    )

    def __init__(self, sent: Sent | None, session: Session, stored: Account | None = None) -> None:
        super().__init__(sent, obj=stored if sent is None else None)
        self.session, self.stored = session, stored

    def validate_name(self, field: TextField) -> None:
        """Raise ValidationError if the name has signs that can't be seen."""
        if not field.data.isprintable():
            raise ValidationError(_("Use letters, digits and visible symbols only."))

    def validate_email(self, field: TextField) -> None:
        """Raise ValidationError unless mail could be sent there, or if another account has it."""
        if self.stored and self.stored.email == field.data:
            return
        if not mail.is_address(field.data):
            raise ValidationError(_("Enter an email address such as name@example.org."))
        if request.method == "POST":
            return  # storing it checks this, too: the same form may be sent twice
        known = self.stored.id if self.stored else 0
        if account_editing.address_taken(self.session, field.data, known):
            raise ValidationError(_("Another account has this email address."))

    @property
    def details(self) -> AccountDetails:
        """Return what a valid form describes."""
        return AccountDetails(name=self.name.data, email=self.email.data)


class NewAccountForm(AccountForm):
    rows: ClassVar[tuple[tuple[str, ...], ...]] = (("username", "email"), ("name",))

    username = UsernameField()

    def validate_username(self, field: UsernameField) -> None:
        """Raise ValidationError if another account has the username."""
        if request.method == "GET" and accounts.username_taken(self.session, field.data):
            raise ValidationError(_("Another account has this username, possibly a deleted one."))


@bp.route("/new", methods=["GET", "POST"])
@requires(Right.CHANGE_ACCOUNTS)
def new() -> ResponseReturnValue:
    """Render the form of a new account, or what it says; store it once that is confirmed."""
    sent = drafts.sent_form()
    back = url_for(".index"), _("Accounts")
    with transaction() as session:
        form = NewAccountForm(sent, session)
        if sent is None or not is_complete(sent, form):
            return show_form(form, title=_("New account"), back=back)
    username, wanted = form.username.data, form.details
    settings = backend().settings
    mails = settings.passwords and not settings.oidc
    login = _("The owner logs in by single sign-on with this username.")
    if mails:
        login = _(
            "A link to choose a password goes to %(address)s. It works once, for an hour. You can"
            " send another one from the page of the account.",
            address=wanted.email,
        )
    page = Confirmation(
        title=_("Create this account?"),
        button=_("Create account"),
        back=back,
        meaning=[login, _("The account has no role for staff. Give it one on its page.")],
        context={"lines": [(_("Username"), [username]), *wanted.lines]},
    )

    def store(reason: str) -> ResponseReturnValue:
        change = RecordChange(wanted, visitor().id, reason)
        with transaction() as session:
            account, is_new = account_editing.create(session, username, change)
            if mails and is_new:
                mail.send_recovery(session, account, str(current_locale()), visitor().name)
            made = account.id
        flash(_("%(name)s is created.", name=wanted.name))
        if mails:
            flash(_("A link is on its way to %(address)s.", address=wanted.email))
        return go(url_for(".show", account_id=made))

    return confirm_change(page, sent, store)


@bp.route("/<int:account_id>/edit", methods=["GET", "POST"])
@requires(Right.CHANGE_ACCOUNTS)
def edit(account_id: int) -> ResponseReturnValue:
    """Render the form or what the submitted one changes; store it once it is confirmed.

    A student's name and address are those of the student record, and are edited there.
    """
    sent, account = drafts.sent_form(), accounts.find(account_id) or abort(404)
    if student := account_editing.student_of(account):
        return go(url_for("admin.student_editing.edit", student_id=student.id))
    stored = account_editing.details(account)
    with transaction() as session:
        form = AccountForm(sent, session, account)
        back = url_for(".show", account_id=account_id), stored.name
        change = RecordEdit(sent, form, stored, f"account:{account_id}", back)
        if page := change.page_before_review(session):
            return page
    wanted = form.details
    if stored.email != wanted.email and (why := _address_obstacle(account)):
        form.refuse(why, "email")
        return change.show_form()

    def store(confirmed: RecordChange[AccountDetails]) -> ResponseReturnValue:
        with transaction() as session:
            note_original(session, "account", account.username)
            account_editing.edit(session, account_id, confirmed, visitor())
        visitors.forget(account_id)
        return _("%(name)s is saved.", name=wanted.name)

    return change.confirm(store, _meaning(account, stored, wanted))


def _address_obstacle(account: Account) -> str:
    """Return why the address stays; blank if it may change."""
    if account_editing.logs_in_with_address(account):
        return _("The owner logs in with this address, so it must stay.")
    if account_editing.may_change_email(account, visitor()):
        return ""
    return _(
        "This account has special rights. Its address can’t be changed here: anyone who reads that"
        " inbox could reset the password."
    )


def _meaning(account: Account, stored: AccountDetails, wanted: AccountDetails) -> list[str]:
    """Return the effects of a change."""
    found = [
        _("The owner logs in as before. The username and the password stay."),
        _("Later imports keep what you change here, and show it beside the value of the file."),
    ]
    if stored.email != wanted.email:
        found.append(
            _("Email, including password links, goes to the new address. We notify the old one.")
        )
    if stored.name != wanted.name:
        found.extend(
            _(
                "Students still see %(name)s. To change that name, edit the instructor’s record.",
                name=each.name,
            )
            for each in account.instructors
            if not each.deleted_at
        )
    return found
