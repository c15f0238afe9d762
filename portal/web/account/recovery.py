"""New passwords by links in mail, for every account with a password here."""

from flask import Blueprint, abort, flash, request, url_for
from flask.typing import ResponseReturnValue

from portal.backend import backend
from portal.core.i18n import _
from portal.people import accounts, mail_links
from portal.people.mail_links import RECOVERY, InvalidLink
from portal.web.account.sign_up import (
    NewPasswordForm,
    ask_for_address,
    enter,
    invalid,
    password_page,
)
from portal.web.http.access import public

bp = Blueprint("recovery", __name__, url_prefix="/recovery")


@bp.before_request
def _only_with_passwords() -> None:
    if not backend().settings.passwords:
        abort(404)


@bp.route("", methods=["GET", "POST"])
@public
def ask() -> ResponseReturnValue:
    """Ask for the address of an account, or mail a link to it."""
    return ask_for_address(RECOVERY)


@bp.route("/<link>", methods=["GET", "POST"])
@public
def choose(link: str) -> ResponseReturnValue:
    """Change the password of a link's account, and log in."""
    try:
        account = mail_links.account_of(link)
    except InvalidLink:
        return invalid("recovery.ask")
    form = NewPasswordForm(account.username, account.name)
    if request.method != "POST" or not form.validate():
        title, button = _("Choose a new password"), _("Change password")
        if not account.password_hash:
            title, button = _("Set your first password"), _("Set password")
        page = password_page(form, account.username, title, button)
        return page, 422 if form.errors else 200
    try:
        accounts.recover(account.id, account.session_epoch, form.fresh.data)
    except InvalidLink:  # another request has just used it
        return invalid("recovery.ask")
    changed = _("Password changed. You are logged out on all other devices.")
    flash(changed if account.password_hash else _("Password set."), "message")
    return enter(account.id, url_for("home.index"))
