"""Refuses a claim without a pass, before Redis or PostgreSQL hears of it."""

from dataclasses import replace
from time import time
from typing import Any, cast

from flask import Flask, current_app, g, make_response, request, session
from flask.typing import ResponseReturnValue
from flask_login import current_user

from portal.core.i18n import _l
from portal.ledger.errors import NotAdmitted
from portal.waiting_room import access_tokens
from portal.waiting_room.access_tokens import AccessToken
from portal.web.account import sessions
from portal.web.http.access import View, to_login_and_back
from portal.web.http.errors import Words, answer, refused_often

HEADER = "Fairseat-Pass"
COOKIE = "pass"
STANDS = "Fairseat-Gate"  # the header that tells scripts how one stands at the gate
SIGN = {STANDS: "pass"}  # so that they can tell this refusal from others

REFUSED = Words(
    _l("It is not your turn yet"),
    _l("Nothing was changed. Open the list of sections: it says when your turn comes."),
)


class AccessTokenRequired(Exception):  # noqa: N818  a state of the world, not a mistake
    """Whoever claims has no pass, or one that is not good for this."""


def needs_access_token(view: View) -> View:
    """Let a view be asked for changes only with a pass; pages may be read without."""
    view.needs_pass = True  # type: ignore[attr-defined]
    return view


def start(app: Flask) -> None:
    """Check passes before everything else, and once more when it is known who asks."""
    app.before_request(_check)
    app.register_error_handler(AccessTokenRequired, _to_room)
    app.register_error_handler(NotAdmitted, _ended)


def finish(app: Flask) -> None:
    """Check that a pass is the visitor's own; to be started after the login."""
    app.before_request(_check_owner)


def access_token() -> AccessToken | None:
    """The pass of a request that was let through with one."""
    return cast("AccessToken | None", g.get("access"))


def sent_token() -> AccessToken | None:
    """The pass that a request brings, if it is ours and still good."""
    found = access_tokens.decode(request.headers.get(HEADER) or request.cookies.get(COOKIE, ""))
    return found if found and found.ends > time() * 1000 else None


def is_own(found: AccessToken | None) -> bool:
    """Whether a pass is of the account of this session; a bearer's is compared later."""
    if found is None:
        return False
    account, signed, _ = str(session.get("_user_id", "")).partition(".")
    return account == str(found.account) if signed else "Authorization" in request.headers


def refused(words: Words) -> ResponseReturnValue:
    """That it is not one's turn, in whatever form was asked for; asks nobody who that one is."""
    g.nobody = True
    return answer(403, words, SIGN)


def _check() -> ResponseReturnValue | None:
    view: Any = current_app.view_functions.get(request.endpoint or "")
    if not getattr(view, "needs_pass", False) or request.method in {"GET", "HEAD", "OPTIONS"}:
        return None
    if not current_app.config["GATE"]:
        return None
    if _logged_out():
        g.nobody = True
        return refused_often() or to_login_and_back()
    found, asked = sent_token(), request.view_args or {}
    if not is_own(found) or found is None or found.term != asked.get("term_id", found.term):
        raise AccessTokenRequired
    g.access = found
    return None


def _logged_out() -> bool:
    """Whether a page's form comes from a browser whose session is over; programs bring none."""
    program = "Authorization" in request.headers or request.path.startswith("/api/")
    return not program and not ("_user_id" in session and sessions.holds())


def _check_owner() -> None:
    found = access_token()
    if found and current_user.id != found.account:
        raise AccessTokenRequired


def _to_room(_error: Exception) -> ResponseReturnValue:
    term = (request.view_args or {}).get("term_id")
    return refused(replace(REFUSED, onward=f"/terms/{term}/room" if term else ""))


def _ended(error: NotAdmitted) -> ResponseReturnValue:
    """The visit is over, perhaps from another device: its access token goes from this one too."""
    answer = make_response(_to_room(error))
    found = access_token()
    if found:
        answer.delete_cookie(COOKIE, path=f"/terms/{found.term}")
    return answer
