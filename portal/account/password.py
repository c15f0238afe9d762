"""Choosing another password."""

from flask import (
    Blueprint,
    abort,
    flash,
    make_response,
    redirect,
    render_template,
    request,
    session,
    url_for,
)
from flask.typing import ResponseReturnValue

from portal.backend import backend
from portal.core.db import transaction
from portal.core.i18n import _, _n
from portal.people import credentials, passwords, tokens, visitors
from portal.people.models import Account
from portal.people.passwords import LONGEST, SHORTEST
from portal.web.account import devices, sessions
from portal.web.account.login import BUSY_SECONDS
from portal.web.http.access import signed_in, visitor
from portal.web.http.extensions import limiter

bp = Blueprint("password", __name__, url_prefix="/password")


@bp.get("")
@signed_in
def form() -> ResponseReturnValue:
    """The form that asks for the password now in use and for another."""
    return _page({})


@bp.post("")
@signed_in
@limiter.limit("20/hour")
def change() -> ResponseReturnValue:
    """Keep another password, or say what is wrong; other sessions of the account end."""
    account = _own()
    try:
        if errors := _errors(account):
            return _page(errors), 422
        credentials.change_password(account.id, request.form["fresh"])
    except passwords.TooManyError:
        abort(503, retry_after=BUSY_SECONDS)
    revoked = tokens.revoke(account.id) if "tokens" in request.form else []
    shared = not session.permanent
    who = visitors.find(account.id) or abort(401)
    sessions.begin(who, shared=shared)
    flash(_("Your password is changed. You are logged out everywhere else."), "message")
    if revoked:
        count = len(revoked)
        told = _n("%(num)s access token is revoked.", "%(num)s access tokens are revoked.", count)
        flash(told, "message")
    answer = make_response(redirect(url_for("account.overview.show"), 303))
    if not shared:
        devices.remember(answer, account.username, who.epoch)
    return answer


def _own() -> Account:
    """The visitor's account; a 404 where it has no password to change."""
    with transaction() as db:
        account = db.get_one(Account, visitor().id)
    if not (backend().settings.passwords and account.password_hash):
        abort(404)
    return account


def _errors(account: Account) -> dict[str, list[str]]:
    given = request.form
    errors: dict[str, list[str]] = {}
    if not credentials.holds(account.id, given.get("current", "")[:LONGEST]):
        errors["current"] = [_("This is not your password.")]
    fresh = given.get("fresh", "")
    about = (account.username, account.name, account.email, backend().settings.institution)
    if wrong := passwords.objection(fresh, about):
        errors["fresh"] = [wrong]
    elif fresh == given.get("current"):
        errors["fresh"] = [_("This is the password that you have already.")]
    return errors


def _page(errors: dict[str, list[str]]) -> str:
    account = _own()
    return render_template(
        "account/password.html",
        account=account,
        reading={"errors": errors},
        least=SHORTEST,
        most=LONGEST,
    )
