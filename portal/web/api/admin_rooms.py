"""Waiting rooms, for programs: set their limits, let students in, end a visit, empty them."""

from typing import Any

from marshmallow import fields

from portal.backend import backend
from portal.core.i18n import _, _n
from portal.people.api_requests import Refusal
from portal.people.models import ApiRequest
from portal.people.roles import Right
from portal.waiting_room import admission_limits, controls, room
from portal.waiting_room.admission_limits import AdmissionLimits
from portal.waiting_room.room import LimitsChanged, WindowEnded
from portal.web.admin.waiting_room import OVERTAKEN
from portal.web.api.admin_changes import (
    WINDOW,
    Act,
    Change,
    StudentField,
    existing_window,
    program_change,
    student_of,
)
from portal.web.api.blueprint import bp
from portal.web.api.fields import between, described, one_of
from portal.web.api.schemas import Answer, answer, envelope
from portal.web.http.access import needs_scope, requires, visitor

SCOPE = "waiting-room"
ROOM = f"{WINDOW}/waiting-room"


class Limits(Change):
    per_minute = fields.Integer(
        required=True,
        strict=True,
        validate=between(0, room.MOST),
        metadata={"description": "Students admitted a minute; 0 pauses the queue."},
    )
    at_once = fields.Integer(
        required=True,
        strict=True,
        validate=between(1, room.MOST),
        metadata={"description": "Students inside at once."},
    )


class Count(Change):
    count = fields.Integer(
        required=True,
        strict=True,
        validate=between(1, controls.MOST_LET_IN),
        metadata={"description": "How many of the next students."},
    )


class OneStudent(Change):
    student_number = StudentField()


class Room(Answer):
    semester_id = fields.Integer()
    window_id = fields.Integer()
    phase = one_of("unknown", "before", "open", "ended")
    per_minute = fields.Integer()
    at_once = fields.Integer()
    paused = fields.Boolean()
    off = described(fields.Boolean, "Everyone is admitted.")
    share = described(
        fields.Float,
        "The part of `per_minute` that is admitted now: below 1 after pages were slow.",
    )
    waiting = fields.Integer()
    inside = fields.Integer()


class LetIn(Room):
    admitted = described(fields.Integer, "How many were let in now.")


class Emptied(Room):
    waited = described(fields.Integer, "How many waited.")
    were_inside = described(fields.Integer, "How many were inside.")


@bp.get(ROOM, tags=["administration"])
@requires(Right.CALL_ADMIN_API)
@needs_scope(SCOPE)
@bp.response(200, envelope(Room))
@bp.alt_response(404, response="NOT_FOUND")
def waiting_room_state(semester_id: int, window_id: int) -> dict[str, Any]:
    """Return how a waiting room stands."""
    existing_window(semester_id, window_id)
    return answer(_state(semester_id, window_id))


@program_change(f"{ROOM}/limits", SCOPE, Limits, Room)
def set_limits(body: dict[str, Any], semester_id: int, window_id: int) -> Act:
    """Set both limits of a waiting room, with immediate effect."""
    wanted = AdmissionLimits(body["per_minute"], body["at_once"])
    return _with_limits(body, (semester_id, window_id), lambda _now: wanted)


@program_change(f"{ROOM}/pause", SCOPE, Change, Room)
def pause_room(body: dict[str, Any], semester_id: int, window_id: int) -> Act:
    """Admit no one; all keep their positions."""
    return _with_control(body, (semester_id, window_id), "pause")


@program_change(f"{ROOM}/resume", SCOPE, Change, Room)
def resume_room(body: dict[str, Any], semester_id: int, window_id: int) -> Act:
    """Admit students again, as many a minute as before the pause."""
    return _with_control(body, (semester_id, window_id), "resume")


@program_change(f"{ROOM}/admit", SCOPE, Count, LetIn)
def admit_students(body: dict[str, Any], semester_id: int, window_id: int) -> Act:
    """Let the next students in now, whatever the limits; also while the room is paused."""
    where = _running(semester_id, window_id)

    def act(row: ApiRequest) -> tuple[dict[str, Any], str]:
        try:
            admitted = controls.let_in(*where, body["count"], **_author(body, row))
        except WindowEnded as ended:
            raise Refusal(_("The window is not open.")) from ended
        message = _n("%(num)s student let in.", "%(num)s students let in.", admitted)
        return _state(*where) | {"admitted": admitted}, message

    return act


@program_change(f"{ROOM}/expire", SCOPE, OneStudent, Room)
def expire_access(body: dict[str, Any], semester_id: int, window_id: int) -> Act:
    """End the access of one admitted student, who may join the queue again."""
    where, student = _running(semester_id, window_id), student_of(body["student_number"])

    def act(row: ApiRequest) -> tuple[dict[str, Any], str]:
        if not controls.expire(*where, student, **_author(body, row)):
            raise Refusal(_("The student is not in the picker now."))
        return _state(*where), _("The student’s access has ended.")

    return act


@program_change(f"{ROOM}/reset", SCOPE, Change, Emptied)
def reset_room(body: dict[str, Any], semester_id: int, window_id: int) -> Act:
    """Empty the queue and end all visits: students have to join again. Limits stay."""
    where = _running(semester_id, window_id)

    def act(row: ApiRequest) -> tuple[dict[str, Any], str]:
        try:
            emptied = controls.reset(*where, **_author(body, row))
        except WindowEnded as ended:
            raise Refusal(_("The window has ended.")) from ended
        counts = {"waited": emptied["waiting"], "were_inside": emptied["inside"]}
        return _state(*where) | counts, _("The waiting room is empty.")

    return act


def _author(body: dict[str, Any], row: ApiRequest) -> dict[str, Any]:
    """Return who changes the room, why, and the key under which it is done once."""
    return {"by": visitor().id, "reason": body["reason"].strip(), "key": str(row.number)}


def _with_control(body: dict[str, Any], where: tuple[int, int], control: str) -> Act:
    change = admission_limits.CHANGES[control]
    usual = admission_limits.usual_rate(*where)
    return _with_limits(body, where, lambda now: change(now, usual))


def _with_limits(body: dict[str, Any], where: tuple[int, int], change: Any) -> Act:
    _running(*where)

    def act(_row: ApiRequest) -> tuple[dict[str, Any], str]:
        seen = admission_limits.limits_of(room.state(*where))
        reason = body["reason"].strip()
        try:
            admission_limits.change(*where, change(seen), seen, by=visitor().id, reason=reason)
        except LimitsChanged as changed:
            raise Refusal(str(OVERTAKEN)) from changed
        return _state(*where), _("Limits saved.")

    return act


def _running(semester_id: int, window_id: int) -> tuple[int, int]:
    """Return the room of a window; refuse while the portal has none, and for other windows."""
    existing_window(semester_id, window_id)
    if backend().settings.room is None:
        raise Refusal(_("This portal has no waiting rooms."))
    return semester_id, window_id


def _state(semester_id: int, window_id: int) -> dict[str, Any]:
    state = room.state(semester_id, window_id)
    names = ("phase", "per_minute", "at_once", "paused", "off", "share", "waiting", "inside")
    found = {name: getattr(state, name) for name in names}
    return {"semester_id": semester_id, "window_id": window_id, **found}
