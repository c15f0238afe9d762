"""Admission in requests: the captcha proof of a session, access tokens, and who may register.

A change without an access token is refused without calling Redis or PostgreSQL.
"""

from dataclasses import replace
from time import time
from typing import cast

from flask import Flask, Response, current_app, g, make_response, request, session
from flask.typing import ResponseReturnValue
from flask_login import current_user

from portal.core.i18n import _l
from portal.ledger.errors import NotAdmitted
from portal.people.visitors import Visitor
from portal.protection import captcha
from portal.waiting_room import access_tokens, admission
from portal.waiting_room.access_tokens import AccessToken
from portal.waiting_room.admission import FREE, Admission, Applicant
from portal.web.http import sessions, viewing
from portal.web.http.access import View, to_login_and_back, visitor
from portal.web.http.errors import Message, answer, refused_often
from portal.web.http.request_info import READS
from portal.windows.phases import Phase

HEADER = "Fairseat-Pass"
COOKIE = "pass"
ADMISSION_HEADER = "Fairseat-Gate"  # tells scripts the student's admission status

PROOF = "proven"  # in the session: the account, and the end of validity
PROOF_LASTS = 12 * 60 * 60  # seconds

NOT_YOUR_TURN = Message(
    _l("It is not your turn yet"),
    _l("Nothing was changed. Open the list of sections to see when your turn comes."),
)


class AccessTokenRequired(Exception):
    """A request to register has no access token, or one that is not valid for it."""


def needs_access_token(view: View) -> View:
    """Require an access token for changes in a view; reading needs none."""
    view.needs_access_token = True  # type: ignore[attr-defined]
    return view


def check_tokens(app: Flask) -> None:
    """Check access tokens before everything else."""
    app.before_request(_check_token)
    app.register_error_handler(AccessTokenRequired, _not_your_turn)
    app.register_error_handler(NotAdmitted, _visit_over)


def start(app: Flask) -> None:
    """Check the owner of an access token once the visitor is known, and send new tokens."""
    app.before_request(_check_owner)
    app.after_request(_send_token)


def enabled() -> bool:
    """Return whether captcha, waiting rooms and access tokens are on."""
    return bool(current_app.config["GATE"])


# The captcha


def captcha_needed() -> bool:
    """Return whether visitors must pass a captcha at all."""
    return enabled() and captcha.enabled()


def proven() -> bool:
    """Return whether the visitor's session has passed the captcha, or needs none."""
    account, until = session.get(PROOF, (0, 0))
    return not captcha_needed() or (account == visitor().id and time() < until)


def prove(payload: str) -> None:
    """Check the solution of a puzzle for the visitor's session; raise as captcha.check does."""
    captcha.check(payload, visitor().id)
    remember_proof()


def remember_proof() -> None:
    """Mark the visitor's session as proven."""
    session[PROOF] = (visitor().id, int(time()) + PROOF_LASTS)


# Admission


def look_up(term: int, phase: Phase, who: Visitor) -> Admission:
    """Return the visitor's admission status without joining the queue."""
    if not enabled() or who.viewer:
        return FREE
    return _with_token(admission.look_up(term, phase, _applicant(who)))


def enter(term: int, phase: Phase, who: Visitor) -> Admission:
    """Join the queue, or get in if the queue is empty. Raise WindowEnded."""
    if not enabled() or who.viewer:
        return FREE
    return _with_token(admission.enter(term, phase, _applicant(who)))


def forget_token() -> None:
    """Send no access token with this response."""
    g.pop("new_token", None)


def access_token() -> AccessToken | None:
    """Return the access token that admitted this request."""
    return cast("AccessToken | None", g.get("access_token"))


def refused(message: Message) -> ResponseReturnValue:
    """Answer that it is not the visitor's turn, without looking up the visitor."""
    g.skips_account = True
    return answer(403, message, {ADMISSION_HEADER: "pass"})


def _applicant(who: Visitor) -> Applicant:
    token = _sent_token()
    own = token if token and token.account == who.id else None
    return Applicant(who.id, who.student_id or 0, own, proven())


def _with_token(found: Admission) -> Admission:
    """Send a token that was issued or renewed along with the response."""
    if found.token and found.token != _sent_token():
        g.new_token = found.token
    return found


def _sent_token() -> AccessToken | None:
    """Return the request's access token if we signed it and it has not expired."""
    if "sent_token" not in g:
        text = request.headers.get(HEADER) or request.cookies.get(COOKIE, "")
        g.sent_token = access_tokens.decode(text)
    found: AccessToken | None = g.sent_token
    return found if found and found.ends > time() * 1000 else None


def _check_token() -> ResponseReturnValue | None:
    view = current_app.view_functions.get(request.endpoint or "")
    if not getattr(view, "needs_access_token", False) or request.method in READS:
        return None
    if not enabled() or viewing.STUDENT in session:  # one who only views is refused later
        return None
    if _logged_out():
        g.skips_account = True
        return refused_often() or to_login_and_back()
    found, args = _sent_token(), request.view_args or {}
    if found is None or not _is_own(found) or found.term != args.get("term_id", found.term):
        raise AccessTokenRequired
    g.access_token = found
    return None


def _logged_out() -> bool:
    """Return whether a page's form comes from a browser whose session has ended."""
    program = "Authorization" in request.headers or request.path.startswith("/api/")
    return not program and not ("_user_id" in session and sessions.holds())


def _is_own(token: AccessToken) -> bool:
    """Return whether a token belongs to this session's account; API tokens are compared later."""
    account, signed, _ = str(session.get("_user_id", "")).partition(".")
    return account == str(token.account) if signed else "Authorization" in request.headers


def _check_owner() -> None:
    found = access_token()
    if found and current_user.id != found.account:
        raise AccessTokenRequired


def _not_your_turn(_error: Exception) -> ResponseReturnValue:
    term = (request.view_args or {}).get("term_id")
    return refused(replace(NOT_YOUR_TURN, onward=f"/terms/{term}/room" if term else ""))


def _visit_over(error: NotAdmitted) -> ResponseReturnValue:
    """Delete the access token in a browser whose visit has ended, perhaps on another device."""
    response = make_response(_not_your_turn(error))
    found = access_token()
    if found:
        response.delete_cookie(COOKIE, path=f"/terms/{found.term}")
    return response


def _send_token(response: Response) -> Response:
    token: AccessToken | None = g.pop("new_token", None)
    if token:
        response.set_cookie(
            COOKIE,
            access_tokens.encode(token),
            max_age=max(1, int(token.ends / 1000 - time())),
            path=f"/terms/{token.term}",
            secure=current_app.config["SESSION_COOKIE_SECURE"],
            httponly=True,
            samesite="Lax",
        )
    return response
