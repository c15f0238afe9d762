"""GET and POST …/room/<turn>: the line paused or let go on, the room switched off or on."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from flask import Blueprint, abort, request, url_for
from flask.typing import ResponseReturnValue

from portal.admin.operations import asking
from portal.admin.operations.asking import Back, Question
from portal.admin.reasons import read_reason
from portal.admin.times import Reading
from portal.admin.windows.room import find, seen
from portal.backend import backend
from portal.core.i18n import _, _l
from portal.waiting_room import admission_limits, room, wording
from portal.waiting_room.admission_limits import AdmissionLimits
from portal.waiting_room.room import Overtaken
from portal.web.http.access import requires, visitor


@dataclass(frozen=True)
class Turn:
    """A button of the page: its words, and what it makes of the limits and the usual pace."""

    title: str
    meaning: str
    button: str
    done: str
    turned: Callable[[AdmissionLimits, int], AdmissionLimits]
    danger: bool = False


TURNS = {
    "pause": Turn(
        _l("Pause the line"),
        _l(
            "From this moment nobody is called. Those who are inside stay, those who wait keep"
            " their places, and the line goes on when you let it."
        ),
        _l("Pause it"),
        _l("Paused: nobody is called."),
        lambda now, _pace: replace(now, per_minute=0, off=False),
        danger=True,
    ),
    "resume": Turn(
        _l("Let the line go on"),
        _l("From this moment those who wait are called again, in their order, within the limits."),
        _l("Let it go on"),
        _l("The line goes on."),
        lambda now, pace: replace(now, per_minute=now.per_minute or pace),
    ),
    "off": Turn(
        _l("Switch off this waiting room"),
        _l(
            "From this moment everyone who waits or comes is let in, however many there are. The"
            " limits are kept for when it is switched on again; the order of the line is not made"
            " again."
        ),
        _l("Switch it off"),
        _l("Switched off: everyone is let in."),
        lambda now, _pace: replace(now, off=True),
        danger=True,
    ),
    "on": Turn(
        _l("Switch on this waiting room"),
        _l(
            "From this moment whoever comes waits in line where the limits say so. Those who are"
            " inside stay."
        ),
        _l("Switch it on"),
        _l("Switched on: the limits hold again."),
        lambda now, _pace: replace(now, off=False),
    ),
}

ROOM = "/terms/<int:term_id>/windows/<int:window_id>/room"
bp = Blueprint("room_turns", __name__, url_prefix=f"{ROOM}/<any({','.join(TURNS)}):turn>")


@bp.get("")
@requires("admin")
def ask(term_id: int, window_id: int, turn: str) -> ResponseReturnValue:
    """What it will mean."""
    return _asked(term_id, window_id, turn, Reading(), 200)


@bp.post("")
@requires("admin")
def do(term_id: int, window_id: int, turn: str) -> ResponseReturnValue:
    """Do it, unless somebody else has just turned the limits."""
    find(term_id, window_id)
    before, reading = seen(), Reading()
    reason = read_reason(reading, request.form)
    if reading.errors:
        return _asked(term_id, window_id, turn, reading, 422)
    wanted = TURNS[turn].turned(before, admission_limits.usual_rate(term_id, window_id))
    try:
        admission_limits.change(term_id, window_id, wanted, before, by=visitor().id, reason=reason)
    except Overtaken:
        return _asked(term_id, window_id, turn, _overtaken(), 409)
    return asking.done(str(TURNS[turn].done), _back(term_id, window_id))


def _asked(
    term_id: int, window_id: int, turn: str, reading: Reading, status: int
) -> ResponseReturnValue:
    """The question; that it can't be done now where it would change nothing."""
    window, state = find(term_id, window_id), room.state(term_id, window_id)
    if backend().settings.room is None:
        abort(404)
    now = admission_limits.limits_of(state)
    wanted = TURNS[turn].turned(now, admission_limits.usual_rate(term_id, window_id))
    if not reading.errors and (wanted == now or state.phase == "ended"):
        reading, status = _overtaken(), 409
    said = TURNS[turn]
    question = Question(
        title=str(said.title),
        facts=[
            (_("Window"), window.name),
            (_("Now"), _now(now)),
            (_("Then"), _now(wanted)),
            (_("Waiting"), wording.grouped(state.waiting)),
        ],
        meaning=str(said.meaning),
        button=str(said.button),
        danger=said.danger,
        kept={"seen": now.mark},
        back=_back(term_id, window_id),
    )
    return asking.ask(question, reading, status)


def _now(limits: AdmissionLimits) -> str:
    if limits.off:
        return _("switched off: no limits")
    if not limits.per_minute:
        return _("paused: nobody is called")
    return _(
        "%(minute)s a minute, %(once)s at once",
        minute=wording.grouped(limits.per_minute),
        once=wording.grouped(limits.at_once),
    )


def _overtaken() -> Reading:
    reading = Reading()
    reading.wrong(
        "", _("The limits are not as they were when you opened this. Look at them again.")
    )
    return reading


def _back(term_id: int, window_id: int) -> Back:
    address = url_for("admin.rooms.show", term_id=term_id, window_id=window_id)
    return address, _("Waiting room")
