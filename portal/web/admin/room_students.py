"""Actions on students of a waiting room: let them in, end a visit, empty the room."""

from collections.abc import Callable
from typing import Any

from flask import Blueprint, abort, request, url_for
from flask.typing import ResponseReturnValue

from portal.backend import backend
from portal.core.i18n import _, _l, _n
from portal.ledger.errors import KeyReused
from portal.ledger.types import WindowView
from portal.people.api_requests import Refusal, change_once
from portal.people.models import ApiRequest
from portal.people.roles import Right
from portal.waiting_room import controls, room
from portal.waiting_room.room import WindowEnded
from portal.waiting_room.wording import grouped
from portal.web.admin.windows import window_or_404
from portal.web.confirm import Confirmation, NotPossible, Wording, confirm
from portal.web.forms import Form, NumberField, ReasonField, StudentField
from portal.web.http.access import requires, visitor
from portal.web.student.request_form import KEY, new_key

bp = Blueprint(
    "room_students", __name__, url_prefix="/terms/<int:term_id>/windows/<int:window_id>/room"
)

ENDED = _l("The window is not open.")
REUSED = _l("This form was already sent with other choices. Check it and try again.")
LET_IN = Wording(
    _l("Let students in"),
    _l(
        "The next students in the queue are admitted now, regardless of the limits, even "
        "while the waiting room is paused."
    ),
    done="",
    button=_l("Let them in"),
)
EXPIRE = Wording(
    _l("End a student’s access"),
    _l("The student can’t register any longer, keeps all seats, and may join the queue again."),
    done=_l("The student’s access has ended."),
    button=_l("End access"),
    danger=True,
)
EMPTY = Wording(
    _l("Empty the waiting room"),
    _l("All students lose their positions and turns, and have to join again. The limits stay."),
    done=_l("The waiting room is empty."),
    danger=True,
)


class CountForm(Form):
    """How many students to let in."""

    count = NumberField(_l("How many students"), least=1, most=controls.MOST_LET_IN)
    reason = ReasonField()


class StudentForm(Form):
    """The student whose access ends."""

    student = StudentField()
    reason = ReasonField()


@bp.route("/admit", methods=["GET", "POST"])
@requires(Right.CHANGE_WINDOWS)
def let_in(term_id: int, window_id: int) -> ResponseReturnValue:
    window, form = _window(term_id, window_id), CountForm()

    def act(reason: str) -> str:
        def change(row: ApiRequest) -> dict[str, Any]:
            count, by, key = form.count.data, visitor().id, str(row.number)
            admitted = controls.let_in(term_id, window_id, count, by=by, reason=reason, key=key)
            return {"admitted": admitted}

        admitted = _once(change, form.count.data)["admitted"]
        return _n("%(num)s student let in.", "%(num)s students let in.", admitted)

    return confirm(_page(LET_IN, term_id, window), act, form)


@bp.route("/expire", methods=["GET", "POST"])
@requires(Right.CHANGE_WINDOWS)
def expire(term_id: int, window_id: int) -> ResponseReturnValue:
    """End the access of one admitted student."""
    window, form = _window(term_id, window_id), StudentForm()

    def act(reason: str) -> str | None:
        def change(row: ApiRequest) -> dict[str, Any]:
            student, by, key = form.student.found, visitor().id, str(row.number)
            if not controls.expire(term_id, window_id, student, by=by, reason=reason, key=key):
                raise Refusal(_("The student is not in the picker now."))
            return {}

        try:
            _once(change, form.student.found)
        except Refusal as refusal:
            form.refuse(str(refusal), "student")
            return None
        return str(EXPIRE.done)

    return confirm(_page(EXPIRE, term_id, window), act, form)


@bp.route("/empty", methods=["GET", "POST"])
@requires(Right.CHANGE_WINDOWS)
def empty(term_id: int, window_id: int) -> ResponseReturnValue:
    """Empty the queue, and end all visits."""
    window = _window(term_id, window_id)

    def act(reason: str) -> str:
        def change(row: ApiRequest) -> dict[str, Any]:
            by, key = visitor().id, str(row.number)
            return dict(controls.reset(term_id, window_id, by=by, reason=reason, key=key))

        _once(change)
        return str(EMPTY.done)

    return confirm(_page(EMPTY, term_id, window), act)


def _once(change: Callable[[ApiRequest], dict[str, Any]], *chosen: int) -> dict[str, Any]:
    """Return the outcome of the change, made once however often the form is sent.

    Raises NotPossible, and whatever `change` raises.
    """
    key = request.form.get("request", "")
    if not KEY.fullmatch(key):
        abort(400)
    about = [request.endpoint, request.view_args, chosen]
    try:
        return change_once(visitor().id, key, about, change)[0]
    except WindowEnded:
        raise NotPossible(str(ENDED)) from None
    except KeyReused:
        raise NotPossible(str(REUSED)) from None


def _window(term_id: int, window_id: int) -> WindowView:
    """Return the window, or 404."""
    if backend().settings.room is None:
        abort(404)
    return window_or_404(term_id, window_id)


def _page(wording: Wording, term_id: int, window: WindowView) -> Confirmation:
    state = room.state(term_id, window.id)
    opening_day = url_for("admin.waiting_room.show", term_id=term_id, window_id=window.id)
    return wording.page(
        (opening_day, _("Opening day")),
        facts=[
            (_("Window"), window.name),
            (_("Waiting"), grouped(state.waiting)),
            (_("Admitted"), grouped(state.inside)),
        ],
        seen={"request": new_key()},
    )
