"""Accounts of people: found, deactivated and activated, and helped to log in again."""

from collections.abc import Callable
from typing import Any

from flask import Blueprint, abort, render_template, url_for
from flask.typing import ResponseReturnValue

from portal.backend import backend
from portal.core.db import transaction
from portal.core.i18n import _, current_locale
from portal.notifications import mail
from portal.people import accounts, staff
from portal.people.accounts import AccountRefusedError
from portal.people.models import Account
from portal.people.roles import Right
from portal.web.account import login_limits
from portal.web.admin.audit_trail import history_of
from portal.web.confirm import Confirmation, NotPossible, confirm
from portal.web.http.access import requires, visitor
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
            accounts.note_recovery(session, account_id, visitor().id, reason)
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
        accounts.note_unlock(account_id, visitor().id, reason)
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
    address = url_for(".show", account_id=account.id)
    refusal = texts.pop("refusal", "")
    page = Confirmation(
        back=(address, account.name),
        facts=[(_("Account"), f"{account.name}, {account.username}")],
        button=texts["title"],
        refusal=refusal,
        **texts,
    )
    return confirm(page, act)


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
