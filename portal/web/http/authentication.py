"""The sender of a request: the account of its session or of its token."""

from flask import Request, g, request

from portal.people import signed_tokens, tokens, visitors
from portal.people.tokens import Bearer
from portal.people.visitors import Visitor
from portal.web.http import request_limits, sessions, viewing
from portal.web.http.extensions import logins

HEALTH = {"/health", "/ready"}


def start() -> None:
    """Tell Flask-Login how to find a visitor."""
    logins.user_loader(_of_session)
    logins.request_loader(of_request)


def of_request(sent: Request) -> Visitor | None:
    """Return the visitor of the request's token; its scopes are in `g.scopes`."""
    token = bearer(sent)
    found = _bearer_of(token) if token else None
    if found is None:
        return None
    g.bearer, g.scopes = found, found.scopes
    return visitors.find(found.account_id)


def _bearer_of(token: str) -> Bearer | None:
    if signed_tokens.is_signed(token):
        found = signed_tokens.find_bearer(token)
        if found is None:
            request_limits.count_guess()
        return found
    if not tokens.is_cached(token):
        request_limits.count_guess()
    return tokens.find_bearer(token)


def bearer(sent: Request = request) -> str | None:
    """Return the token that a request carries, if any; pages accept none."""
    scheme, _, token = sent.headers.get("Authorization", "").partition(" ")
    known = token.startswith(tokens.PREFIX) or signed_tokens.is_signed(token)
    given = scheme.lower() == "bearer" and known
    for_programs = sent.path.startswith("/api/") or sent.path in HEALTH
    return token if given and for_programs else None


def _of_session(stored: str) -> Visitor | None:
    # With a token, only the token's rights count.
    if not sessions.holds() or bearer():
        return None
    found = visitors.from_session(stored, sessions.name())
    if found and found.is_staff:
        sessions.end_when_idle()
    return viewing.in_place_of(found) if found else None
