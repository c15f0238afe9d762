"""GET /captcha and /waiting-room: a place in the queue of a window, and its access token."""

import math
from threading import Lock
from typing import Any

from cachetools import LRUCache, cached
from flask import abort, url_for
from flask.typing import ResponseReturnValue
from marshmallow import fields

from portal.catalog.term_catalog import published_terms
from portal.core.i18n import _l
from portal.people.roles import Right
from portal.people.student_profile import profile
from portal.protection import captcha
from portal.protection.captcha import NotProven
from portal.registration import limits
from portal.waiting_room import access_tokens, wait_estimates
from portal.waiting_room.access_tokens import AccessToken
from portal.waiting_room.admission import Queue
from portal.waiting_room.room import QueueEntry, WindowEnded
from portal.web.api.blueprint import bp, field_error
from portal.web.api.fields import LARGEST_ID, Moment, characters, described, one_of
from portal.web.api.schemas import Answer, Body, answer, envelope, problem_type
from portal.web.http import authentication
from portal.web.http.access import needs_scope, requires, signed_in, visitor
from portal.web.http.admission import HEADER, captcha_needed, prove, proven
from portal.web.http.errors import Message, problem

REQUESTS = f"/waiting-room/<int(min=1, max={LARGEST_ID}):window_id>/requests"
RETRY_AFTER: dict[str, Any] = {
    "Retry-After": {"description": "Seconds to wait.", "schema": {"type": "integer", "minimum": 1}}
}
LOCATION: dict[str, Any] = {
    "Location": {
        "description": "Where to ask for the place.",
        "schema": {"type": "string", "format": "uri-reference"},
    }
}
SECOND = 1000

WINDOW_ENDED = Message(
    _l("This window has ended"),
    _l("GET /api/v1/windows lists upcoming windows."),
    problem_type("window-ended"),
)
NO_PROOF = _l("A captcha is required. Solve a challenge from GET /api/v1/captcha.")


class CaptchaChallenge(Answer):
    needed = described(fields.Boolean, "Whether a proof is needed at all.")
    challenge = described(fields.Dict, "A puzzle, as ALTCHA's solvers take it.")


class Proof(Body):
    captcha = fields.String(
        validate=characters(1, 8192),
        metadata={"description": "The solution of a challenge, as ALTCHA's solvers write it."},
    )


class Wait(Answer):
    least = fields.Integer()
    most = described(fields.Integer, "Null if it can't be estimated.", allow_none=True)


class QueuePlace(Answer):
    request_id = fields.String()
    window_id = fields.Integer()
    semester_id = fields.Integer()
    status = one_of("early", "waiting", "called")
    requested_at = Moment(allow_none=True)
    position = described(
        fields.Integer, "1 is next, 0 is called. Null until the window opens.", allow_none=True
    )
    ahead = described(fields.Integer, "How many come before you.", allow_none=True)
    paused = described(fields.Boolean, "The registrar has paused the queue; places are kept.")
    wait = fields.Nested(Wait, metadata={"description": "In seconds, once the window is open."})
    access_token = described(
        fields.String, f"For the header {HEADER} of POST /register.", allow_none=True
    )
    access_ends_at = Moment(
        allow_none=True, metadata={"description": "Ask again before this, and it is renewed."}
    )
    poll_after = described(fields.Integer, "Seconds until it is worth asking again.")


@bp.get("/captcha", tags=["waiting room"])
@signed_in
@bp.response(200, envelope(CaptchaChallenge))
def captcha_challenge() -> dict[str, Any]:
    """Return a puzzle for this account, a proof of work. Its solution counts once."""
    return answer({"needed": captcha_needed(), "challenge": captcha.challenge(visitor().id)})


@bp.post(REQUESTS, tags=["waiting room"])
@requires(Right.REGISTER)
@bp.arguments(Proof, required=False)
@bp.response(202, envelope(QueuePlace), headers=LOCATION | RETRY_AFTER)
@bp.alt_response(404, response="NOT_FOUND")
def enter_room(body: dict[str, Any], window_id: int) -> ResponseReturnValue:
    """Join the queue of a window, or return the place that you have.

    Everyone who comes before the window opens is early, and a draw puts them in order. Later
    students follow them. A place belongs to its student, from any program and browser.
    """
    queue = _queue_of(window_id)
    entry = queue.look_up()
    if entry is None:
        _check_proof(body.get("captcha", ""))
        entry = queue.enter()
    data = _position(queue, entry)
    where = url_for(".room_place", window_id=window_id, request_id=entry.request)
    return answer(data), 202, {"Location": where, "Retry-After": str(data["poll_after"])}


@bp.get(f"{REQUESTS}/<string(length=32):request_id>", tags=["waiting room"])
@requires(Right.REGISTER)
@needs_scope("register")
@bp.response(200, envelope(QueuePlace), headers=RETRY_AFTER)
@bp.alt_response(202, schema=envelope(QueuePlace), headers=RETRY_AFTER, success=True)
@bp.alt_response(404, response="NOT_FOUND")
def room_place(window_id: int, request_id: str) -> ResponseReturnValue:
    """Return your place: 202 until the order is drawn, then 200, at last with an access token.

    This needs the scope `register`, because asking keeps the place and the response lets you
    register. A student who does not ask for some minutes is skipped. The status is 404 once the
    visit is over, and for another student's request.
    """
    queue = _queue_of(window_id)
    entry = queue.look_up()
    if entry is None or entry.request != request_id:
        abort(404)
    data = _position(queue, entry)
    status = 202 if entry.kind == "early" else 200
    return answer(data), status, {"Retry-After": str(data["poll_after"])}


def _queue_of(window: int) -> Queue:
    """Return the queue of a window that is for the visitor; 404 for any other."""
    who = visitor()
    try:
        term = _term_of(window)
    except LookupError:
        abort(404)
    mine = limits.windows_of(profile(who.student_id or 0), term)
    found = next((each for each in mine if each.id == window), None)
    return Queue(term, found, who) if found else abort(404)


@cached(LRUCache(maxsize=1000), lock=Lock())
def _term_of(window: int) -> int:
    for term in published_terms():
        if any(each.id == window for each in limits.windows(term.id)):
            return term.id
    raise LookupError(window)


def _check_proof(payload: str) -> None:
    """Check the captcha proof if one is needed. Raise NotProven."""
    if proven():
        return
    if authentication.bearer():
        captcha.check(payload, visitor().id)
    else:
        prove(payload)


def _position(queue: Queue, entry: QueueEntry) -> dict[str, Any]:
    token = queue.access_token(entry)
    return {
        "request_id": entry.request,
        "window_id": queue.window.id,
        "semester_id": queue.term,
        "status": entry.kind,
        "requested_at": entry.since or None,
        "position": None if entry.kind == "early" else entry.position,
        "ahead": entry.ahead if entry.kind == "waiting" else None,
        "paused": entry.room.paused,
        "wait": _wait_seconds(entry),
        "access_token": access_tokens.encode(token) if token else None,
        "access_ends_at": token.ends if token else None,
        "poll_after": _poll_after(entry, token),
    }


def _wait_seconds(entry: QueueEntry) -> dict[str, int | None]:
    if entry.kind == "called":
        return {"least": 0, "most": 0}
    wait = wait_estimates.estimate(entry)
    unknown = wait.most >= wait_estimates.NEVER
    return {"least": wait.least // SECOND, "most": None if unknown else wait.most // SECOND}


def _poll_after(entry: QueueEntry, token: AccessToken | None) -> int:
    """Return the seconds until the next poll: half the time left of a token, to renew it."""
    if token:
        return max(1, (token.ends - entry.room.at) // 2 // SECOND)
    return math.ceil(wait_estimates.poll_interval(entry))


@bp.errorhandler(NotProven)
def _not_proven(error: NotProven) -> ResponseReturnValue:
    message = Message(NO_PROOF, error.text, problem_type("captcha"))
    return problem(422, message, errors=[field_error("/captcha", error.text)])


@bp.errorhandler(WindowEnded)
def _window_ended(_error: WindowEnded) -> ResponseReturnValue:
    return problem(409, WINDOW_ENDED)
