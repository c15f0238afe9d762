"""An OpenID provider, as somebody to ask: authorization code, PKCE, state and nonce."""

from collections.abc import Mapping
from typing import Any

from authlib.integrations.base_client import OAuthError
from authlib.integrations.flask_client import FlaskIntegration, FlaskOAuth2App
from flask import session
from joserfc.errors import JoseError
from requests import RequestException

from portal.breakers import Breaker, Resting
from portal.core.settings import Oidc

PATIENCE = 4.0  # seconds for each answer of the provider
LOGINS = 64  # of a process that wait for it at once; beyond, it counts as away
SKEW = 120  # seconds that its clock may be off
STATES = 3  # logins that one browser may have begun: each takes a fifth of what a cookie holds
STATE = "_state_oidc_"  # how Authlib begins their names in the session
AWAY = (RequestException, Resting)
UNTRUE = (OAuthError, JoseError, KeyError, ValueError)  # what was brought back can't be believed


class Provider:
    """The provider of an app: what its addresses and keys are is asked once, at first use."""

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
                "default_timeout": PATIENCE,
            },
        )

    def begin(self, back: str, onward: str) -> str:
        """Where the browser is sent to log in, from where it comes `back`; raises one of AWAY."""
        asked = self.breaker.call(self.client.create_authorization_url, back)
        for forgotten in [name for name in session if name.startswith(STATE)][: 1 - STATES]:
            session.pop(forgotten)
        kept = {name: asked[name] for name in ("state", "nonce", "code_verifier")}
        self.client.save_authorize_data(redirect_uri=back, onward=onward, **kept)
        return str(asked["url"])

    def onward(self, state: str) -> str:
        """Where a login leads that has been begun in this session."""
        kept = self.client.framework.get_state_data(session, state) or {}
        return str(kept.get("onward", "/"))

    def username(self) -> str:
        """Our name for whom the browser comes back as, by the provider's word; blank for none.

        Raises one of AWAY, or of UNTRUE.
        """
        return self.breaker.call(self._username)

    def farewell(self, back: str) -> str:
        """Where the browser is sent to log out there; blank for nowhere. Raises one of AWAY."""
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
        """What the provider tells besides, of the same person; raises ValueError if of another."""
        claims: Mapping[str, Any] = self.client.userinfo(token=token)
        if claims.get("sub") != subject:
            raise ValueError("The provider speaks of another person.")
        return claims

    def _expected(self) -> dict[str, Any]:
        return {
            "iss": {"essential": True, "value": self.settings.issuer},
            "aud": {"essential": True, "value": self.settings.client_id},
        }
