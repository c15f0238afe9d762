"""Logging in through an OpenID provider."""

import logging
from typing import TYPE_CHECKING

from flask import Blueprint, abort, current_app, redirect, request, session, url_for
from flask.typing import ResponseReturnValue

from portal.access import public
from portal.core import logs
from portal.edge.addresses import client
from portal.people import accounts, sessions
from portal.people.login import end_this_session, page, safe_path
from portal.people.models import Account
from portal.people.provider import AWAY, UNTRUE, Provider

if TYPE_CHECKING:
    from flask.blueprints import BlueprintSetupState

bp = Blueprint("oidc", __name__, url_prefix="/login/oidc")
log = logging.getLogger(__name__)


@bp.record_once
def _begin(state: "BlueprintSetupState") -> None:
    settings = state.app.config["SETTINGS"].oidc
    if settings:
        state.app.extensions["oidc"] = Provider(settings)


# A link and not a form: our pages may send forms to nobody else.
@bp.get("")
@public
def leave() -> ResponseReturnValue:
    """To the provider, to log in there."""
    onward = safe_path(request.args.get("next", ""))
    try:
        return redirect(_provider().begin(url_for(".come_back", _external=True), onward))
    except AWAY as error:
        return _away(error, onward)


@bp.get("/back")
@public
def come_back() -> ResponseReturnValue:
    """Back from the provider: begin a session of whom it names, if we know them."""
    onward = _provider().onward(request.args.get("state", ""))
    try:
        username = _provider().username()
    except AWAY as error:
        return _away(error, onward)
    except UNTRUE as error:
        if logs.is_new("untrue", client()):
            # Quoted: what it says may be what stood in the address.
            log.warning("A login through the provider was not believed: %r", str(error))
        return page(onward, untrue=True), 400
    named = username.isprintable() and username  # no name of ours has a NUL or a line break
    visitor = accounts.read(Account.username == named) if named else None
    if visitor is None:
        return page(onward, stranger=username or "?"), 403
    end_this_session()
    # Ending that session may have ended all of them: read the account as it is now.
    sessions.begin(accounts.read(Account.id == visitor.id) or visitor)
    session["provider"] = True
    return redirect(onward)


@bp.get("/end")
@public
def end() -> ResponseReturnValue:
    """To the provider, to log out there as well."""
    try:
        farewell = _provider().farewell(url_for("login.form", _external=True))
    except AWAY as error:
        return _away(error, "/")
    return redirect(farewell or url_for("login.form"))


def _provider() -> Provider:
    found: Provider | None = current_app.extensions.get("oidc")
    return found or abort(404)


def _away(error: Exception, onward: str) -> ResponseReturnValue:
    logs.warn(log, "The OpenID provider is away", repr(error))
    return page(onward, away=True), 503, {"Retry-After": "30"}
