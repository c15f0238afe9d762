"""Live updates: a websocket, the same fragments over HTTP, and the ledger's clock."""

from typing import TYPE_CHECKING, Any, cast

import orjson
import simple_websocket
from flask import (
    Blueprint,
    Request,
    Response,
    abort,
    current_app,
    g,
    jsonify,
    request,
    session,
)
from flask.typing import ResponseReturnValue
from werkzeug.utils import cached_property
from wsproto.utilities import ProtocolError

from portal.backend import backend
from portal.core import flags, redis_clients
from portal.core.i18n import current_locale
from portal.ledger.types import SeatCounts
from portal.live import frames, waiting_rooms
from portal.live.hub import Hub
from portal.live.rendering import reader_of, renderers
from portal.live.seat_counts import Audience
from portal.live.sockets import SocketSession, listed, number
from portal.live.visibility import is_hidden, visible_sections
from portal.people.roles import Right
from portal.waiting_room import room, wait_estimates
from portal.web.http import sessions
from portal.web.http.access import public, requires, signed_in, visitor
from portal.web.http.errors import MESSAGES, answer
from portal.web.http.extensions import sock
from portal.web.http.request_info import same_origin

if TYPE_CHECKING:
    from flask.blueprints import BlueprintSetupState
    from simple_websocket import Server

bp = Blueprint("live", __name__)


@bp.record_once
def _begin(state: "BlueprintSetupState") -> None:
    app = state.app
    template = "fragments/seats.html"

    def render(seats: SeatCounts, staff: bool) -> str:  # noqa: FBT001 - as the cache calls it
        return app.jinja_env.get_template(template).render(seats=seats, staff=staff)

    ledger = backend().ledger
    redis = redis_clients.subscriber(backend().settings.queue_url)
    app.extensions["live"] = Hub(redis, ledger.seats, render, ledger.servers.shard_subscriber)


def hub() -> Hub:
    found: Hub = current_app.extensions["live"]
    return found


@bp.before_request
def _before_handshake() -> None:
    if request.endpoint != "live.socket":
        return
    if not flags.on("live_push"):
        abort(503)
    if not same_origin():  # browsers send cookies with websockets from any site
        abort(403)
    if not hub().reserve(visitor().id):
        abort(429)
    g.reserved = visitor().id
    frames.prepare(request.environ)


@bp.teardown_request
def _release(_error: BaseException | None) -> None:
    if account := g.pop("reserved", None):  # the websocket is closed, or was never opened
        hub().release(account)


@bp.errorhandler(UnicodeError)
@bp.errorhandler(ProtocolError)
@bp.errorhandler(simple_websocket.ConnectionError)
def _no_handshake(_error: Exception) -> ResponseReturnValue:
    return answer(400, MESSAGES[400])


@sock.route("/ws", bp=bp, endpoint="socket")  # type: ignore[untyped-decorator]
@signed_in
def socket(connection: "Server") -> None:
    """Send counts of the sections on a page, and the student's own events, as they happen."""
    talk = SocketSession(
        connection, hub(), visitor(), session=sessions.name(), ends=sessions.ends()
    )
    _close_session()
    talk.run()


def _close_session() -> None:
    """Free the handshake's data, which is not needed again: it takes 2 KB."""
    session.clear()
    session.modified = False  # send no session cookie
    known = cast("Any", request)._get_current_object().__dict__  # noqa: SLF001 - its only door
    for name in tuple(known):
        if isinstance(getattr(Request, name, None), cached_property):
            del known[name]


@bp.get("/live/fragments")
@signed_in
def fragments() -> ResponseReturnValue:
    """Return what the websocket would send, for a page that has none now."""
    if "operations" in request.args:
        return _operations()
    try:
        term = number(int(request.args["term"]))
        sections = listed(request.args.get("sections", ""))
        held, refused = (listed(request.args.get(name, "")) for name in ("held", "refused"))
    except (KeyError, ValueError):
        abort(400)
    if is_hidden(visitor(), term):
        abort(404)
    shown = visible_sections(visitor(), term, sections)
    seats = backend().ledger.seats_of(term, shown)
    audience = Audience(str(current_locale()), "staff" in request.args)
    html = "".join(hub().counts.fragments(seats, shown, audience).values())
    student = visitor().student_id
    if student:
        html += renderers.student(
            term,
            student,
            sections=visible_sections(visitor(), term, held),
            refused=visible_sections(visitor(), term, refused),
            panel_version=request.args.get("mark", ""),
            shown=shown,
        ).html
    return html


def _operations() -> ResponseReturnValue:
    if not visitor().may(Right.SEE_OPERATIONS):
        abort(403)
    return hub().operations.fragments(reader_of(visitor(), str(current_locale())))


@bp.get("/live/room")
@requires(Right.REGISTER)
def waiting() -> ResponseReturnValue:
    """Return the websocket's messages for a waiting page, and the seconds until the next poll."""
    try:
        term, window = (number(int(request.args[name])) for name in ("term", "room"))
    except (KeyError, ValueError):
        abort(400)
    if is_hidden(visitor(), term):
        abort(404)
    entry = room.queue_entry(term, window, visitor().student_id or 0)
    signal = waiting_rooms.missed_signal(window, entry)
    message = signal and orjson.Fragment(signal.text)
    content = {"signal": message, "poll": round(wait_estimates.poll_interval(entry), 1)}
    return Response(orjson.dumps(content), mimetype="application/json")


@bp.get("/clock")
@public
def clock() -> ResponseReturnValue:
    """Return the ledger's time in ms, which decides when windows open and close."""
    return jsonify(now=backend().ledger.now())
