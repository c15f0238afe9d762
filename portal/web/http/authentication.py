"""The sender of a request: the account of its session or of its access token."""

from flask import Request, g, request

from portal.people import tokens, visitors
from portal.people.visitors import Visitor
from portal.web.account import sessions
from portal.web.http import request_limits
from portal.web.http.extensions import logins

HEALTH = {"/health", "/ready"}


def start() -> None:
    """Tell Flask-Login how to find a visitor."""
    logins.user_loader(_of_session)
    logins.request_loader(of_request)


def of_request(sent: Request) -> Visitor | None:
    """Return the visitor of the request's access token; its scopes are in `g.scopes`."""
    token = bearer(sent)
    if token and not tokens.is_cached(token):
        request_limits.count_guess()
    found = tokens.find_bearer(token) if token else None
    if found is None:
        return None
    g.scopes = found.scopes
    return visitors.find(found.account_id)


def bearer(sent: Request = request) -> str | None:
    """Return the access token that a request carries, if any; pages accept none."""
    scheme, _, token = sent.headers.get("Authorization", "").partition(" ")
    given = scheme.lower() == "bearer" and token.startswith(tokens.PREFIX)
    for_programs = sent.path.startswith("/api/") or sent.path in HEALTH
    return token if given and for_programs else None


def _of_session(stored: str) -> Visitor | None:
    # With a token, only the token's rights count.
    if not sessions.holds() or bearer():
        return None
    return visitors.from_session(stored, sessions.name())
