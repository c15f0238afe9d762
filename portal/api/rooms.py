"""The waiting room of a window: a place in its line, and an access token once it is one's turn."""

from typing import Any

from flask import abort, url_for
from flask.typing import ResponseReturnValue
from marshmallow import fields

from portal.api import queues
from portal.api.entry import bp
from portal.api.fields import LARGEST
from portal.api.kinds import kind
from portal.api.operations import about, gives, takes
from portal.api.queues import Door
from portal.api.schemas import Body, Said, said
from portal.api.wrongs import so_long
from portal.core.i18n import _l
from portal.protection import captcha
from portal.protection.captcha import NotProven
from portal.recorder.events import moment
from portal.waiting_room import access_tokens
from portal.waiting_room.room import QueueEntry, WindowShut
from portal.web.http import authentication
from portal.web.http.access import needs_scope, requires, visitor
from portal.web.http.errors import Words, problem
from portal.web.http.guard import HEADER

LINE = f"/waiting-room/<int(min=1, max={LARGEST}):window_id>/requests"
TOLD = ("Location", "Retry-After")
STATUSES = ["early", "waiting", "called"]

SHUT = Words(
    _l("This window has ended"),
    _l("GET /api/v1/windows tells of those that are to come."),
    kind("window-ended"),
)
NO_ROBOTS = _l("A proof that no robot asks is needed: solve a challenge of GET /api/v1/captcha.")


class Proof(Body):
    captcha = fields.String(
        validate=so_long(1, 8192),
        metadata={"description": "The solution of a challenge, as ALTCHA's solvers write it."},
    )


class Wait(Said):
    least = fields.Integer()
    most = fields.Integer(allow_none=True, metadata={"description": "Null: nobody can say."})


class Turn(Said):
    request_id = fields.String()
    window_id = fields.Integer()
    semester_id = fields.Integer()
    status = fields.String(metadata={"enum": STATUSES})
    requested_at = fields.DateTime(allow_none=True)
    position = fields.Integer(
        allow_none=True,
        metadata={"description": "In line: 1 is next, 0 is called. Null until the window opens."},
    )
    ahead = fields.Integer(allow_none=True, metadata={"description": "How many come before."})
    paused = fields.Boolean(
        metadata={"description": "The registrar has paused the line; places are kept."}
    )
    wait = fields.Nested(Wait, metadata={"description": "In seconds, once the window is open."})
    access_token = fields.String(
        allow_none=True, metadata={"description": f"For the header {HEADER} of POST /register."}
    )
    access_ends_at = fields.DateTime(
        allow_none=True, metadata={"description": "Ask again before, and it is renewed."}
    )
    poll_after = fields.Integer(metadata={"description": "Seconds until it is worth asking."})


EXAMPLE = {
    "request_id": "5f0c8a4de9b34b1f8d0a2f1c66b7e310",
    "window_id": 12,
    "semester_id": 7,
    "status": "waiting",
    "requested_at": "2030-08-01T13:00:04.120000+00:00",
    "position": 313,
    "ahead": 312,
    "paused": False,
    "wait": {"least": 0, "most": 60},
    "access_token": None,
    "access_ends_at": None,
    "poll_after": 6,
}


@bp.post(LINE)
@requires("student")
@takes(Proof, example={"captcha": "eyJjaGFsbGVuZ2UiOi…"}, required=False)
@about("waiting room", [404])
@gives(Turn, example=EXAMPLE, status=(202,), headers=TOLD)
def enter_room(body: dict[str, Any], window_id: int) -> ResponseReturnValue:
    """Get in line for a window, or find the place that one has.

    Before it opens all are early and are drawn by lot; who comes later stands behind. A place is
    kept for its student, whoever asks in their name and from wherever.
    """
    door = _door(window_id)
    place = door.look()
    if place is None:
        _prove(body.get("captcha", ""))
        place = door.enter()
    told = _told(door, place)
    where = url_for(".room_place", window_id=window_id, request_id=place.request)
    return said(told), 202, {"Location": where, **_later(told)}


@bp.get(f"{LINE}/<string(length=32):request_id>")
@requires("student")
@needs_scope("register")
@about("waiting room", [404])
@gives(Turn, example=EXAMPLE, status=(200, 202), headers=TOLD[1:])
def room_place(window_id: int, request_id: str) -> ResponseReturnValue:
    """One's place: 202 until the order is drawn, then 200, at last with an access token.

    It takes the scope `register`: asking keeps the place, and the answer gives leave to register.
    Asking is a sign of life: who gives none for some minutes is skipped. 404 once the visit is
    over, or for anyone else's request.
    """
    door = _door(window_id)
    place = door.look()
    if place is None or place.request != request_id:
        abort(404)
    told = _told(door, place)
    return said(told), 202 if place.kind == "early" else 200, _later(told)


def _door(window: int) -> Door:
    try:
        return queues.door(window, visitor())
    except LookupError:
        abort(404)


def _prove(payload: str) -> None:
    """Take the proof, where one is needed; raises NotProven."""
    if captcha.proven():
        return
    if authentication.bearer():
        captcha.check(payload, visitor().id)
    else:
        captcha.prove(payload)


def _told(door: Door, place: QueueEntry) -> dict[str, Any]:
    held, wait = door.access(place), queues.seconds(place)
    return {
        "request_id": place.request,
        "window_id": door.window.id,
        "semester_id": door.term,
        "status": place.kind,
        "requested_at": moment(place.since) if place.since else None,
        "position": None if place.kind == "early" else place.position,
        "ahead": place.ahead if place.kind == "waiting" else None,
        "paused": place.room.paused,
        "wait": dict(zip(("least", "most"), wait, strict=True)),
        "access_token": access_tokens.encode(held) if held else None,
        "access_ends_at": moment(held.ends) if held else None,
        "poll_after": queues.again(place, held),
    }


def _later(told: dict[str, Any]) -> dict[str, str]:
    return {"Retry-After": str(told["poll_after"])}


@bp.errorhandler(NotProven)
def _not_proven(error: NotProven) -> ResponseReturnValue:
    wrong = {"in": "body", "pointer": "/captcha", "message": error.text}
    words = Words(NO_ROBOTS, error.text, kind("captcha"))
    return problem(422, words, errors=[wrong])


@bp.errorhandler(WindowShut)
def _shut(_error: WindowShut) -> ResponseReturnValue:
    return problem(409, SHUT)
