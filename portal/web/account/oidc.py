"""Login through an OpenID provider: authorization code, PKCE, state and nonce."""

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from authlib.integrations.base_client import OAuthError
from authlib.integrations.flask_client import FlaskIntegration, FlaskOAuth2App
from flask import Blueprint, abort, current_app, redirect, request, session, url_for
from flask.typing import ResponseReturnValue
from joserfc.errors import JoseError
from requests import RequestException

from portal.core import logs
from portal.core.breakers import Breaker, BreakerOpen
from portal.core.settings import Oidc
from portal.people import visitors
from portal.people.models import Account
from portal.web.account.login import end_this_session, page, safe_path
from portal.web.http import sessions
from portal.web.http.access import public
from portal.web.http.request_info import client_address

if TYPE_CHECKING:
    from flask.blueprints import BlueprintSetupState


TIMEOUT = 4.0  # seconds for each response of the provider
LOGINS = 64  # concurrent logins of a process; beyond these the provider counts as unavailable
SKEW = 120  # seconds that its clock may be off
STATES = 3  # concurrent logins of a browser: each takes a fifth of a cookie
STATE = "_state_oidc_"  # Authlib's prefix of their session keys
AWAY = (RequestException, BreakerOpen)
UNTRUE = (OAuthError, JoseError, KeyError, ValueError)  # the provider's response is not valid


class Provider:
    """The provider of an app; its addresses and keys are fetched once, at first use."""

    def __init__(self, settings: Oidc) -> None:
        self.settings = settings
        self.breaker = Breaker("The OpenID provider", (RequestException,), "provider")
        self.breaker.at_once = LOGINS
        self.client = FlaskOAuth2App(
            FlaskIntegration("oidc"),
            "oidc",
            client_id=settings.client_id,
            client_secret=settings.client_secret,
            server_metadata_url=f"{settings.issuer.rstrip('/')}/.well-known/openid-configuration",
            client_kwargs={
                "scope": "openid profile email",
                "code_challenge_method": "S256",
                "default_timeout": TIMEOUT,
            },
        )

    def begin(self, back: str, onward: str) -> str:
        """Return the provider's login address, which leads to `back`. Raise one of AWAY."""
        authorization = self.breaker.call(self.client.create_authorization_url, back)
        for forgotten in [name for name in session if name.startswith(STATE)][: 1 - STATES]:
            session.pop(forgotten)
        state = {name: authorization[name] for name in ("state", "nonce", "code_verifier")}
        self.client.save_authorize_data(redirect_uri=back, onward=onward, **state)
        return str(authorization["url"])

    def onward(self, state: str) -> str:
        """Return the page after a login that began in this session."""
        data = self.client.framework.get_state_data(session, state) or {}
        return str(data.get("onward", "/"))

    def username(self) -> str:
        """Return the user name that the provider confirms; blank if there is none.

        Raise one of AWAY or of UNTRUE.
        """
        return self.breaker.call(self._username)

    def farewell(self, back: str) -> str:
        """Return the provider's logout address; blank if it has none. Raise one of AWAY."""
        if "end_session_endpoint" not in self.breaker.call(self.client.load_server_metadata):
            return ""
        client_id = self.settings.client_id
        return str(self.client.create_logout_url(back, client_id=client_id)["url"])

    def _username(self) -> str:
        token = self.client.authorize_access_token(leeway=SKEW, claims_options=self._expected())
        claims: Mapping[str, Any] = token["userinfo"]
        if self.settings.claim not in claims:
            claims = self._more(token, claims["sub"])
        if self.settings.claim == "email" and claims.get("email_verified") is not True:
            return ""
        return str(claims.get(self.settings.claim, ""))

    def _more(self, token: Mapping[str, Any], subject: str) -> Mapping[str, Any]:
        """Return the provider's user info; raise ValueError if it is about another person."""
        claims: Mapping[str, Any] = self.client.userinfo(token=token)
        if claims.get("sub") != subject:
            raise ValueError("The provider speaks of another person.")
        return claims

    def _expected(self) -> dict[str, Any]:
        return {
            "iss": {"essential": True, "value": self.settings.issuer},
            "aud": {"essential": True, "value": self.settings.client_id},
        }


# Logging in through an OpenID provider.

bp = Blueprint("oidc", __name__, url_prefix="/login/oidc")
log = logging.getLogger(__name__)


@bp.record_once
def _begin(state: "BlueprintSetupState") -> None:
    settings = state.app.config["SETTINGS"].oidc
    if settings:
        state.app.extensions["oidc"] = Provider(settings)


# A link instead of a form: our pages may send forms only to us.
@bp.get("")
@public
def leave() -> ResponseReturnValue:
    """Redirect to the provider for the login."""
    onward = safe_path(request.args.get("next", ""))
    try:
        return redirect(_provider().begin(url_for(".come_back", _external=True), onward))
    except AWAY as error:
        return _away(error, onward)


@bp.get("/back")
@public
def come_back() -> ResponseReturnValue:
    """Begin a session for the user that the provider confirms, if the user is known."""
    onward = _provider().onward(request.args.get("state", ""))
    try:
        username = _provider().username()
    except AWAY as error:
        return _away(error, onward)
    except UNTRUE as error:
        if logs.is_new("untrue", client_address()):
            # Quoted: the error text may come from the address.
            log.warning("A login through the provider was not believed: %r", str(error))
        return page(onward, untrue=True), 400
    named = username if username.isprintable() else ""  # user names have no NUL or line break
    known = (Account.username == named) & Account.is_service.is_(False)
    visitor = visitors.read(known) if named else None
    if visitor is None:
        return page(onward, stranger=username or "?"), 403
    end_this_session()
    # Ending the old session may end all of the account's: read the account as it is now.
    sessions.begin(visitors.read(Account.id == visitor.id) or visitor)
    session["provider"] = True
    return redirect(onward)


@bp.get("/end")
@public
def end() -> ResponseReturnValue:
    """Redirect to the provider for the logout."""
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
