"""A window's waiting room: its status, its limits, and the buttons that control it."""

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.backend import backend
from portal.catalog.term_catalog import catalog_of
from portal.core import flags
from portal.core.i18n import _, _l
from portal.ledger.types import WindowView
from portal.operations.figures import admitted_per_minute
from portal.people.roles import Right
from portal.waiting_room import admission_limits, room, wait_estimates
from portal.waiting_room.admission_limits import AdmissionLimits
from portal.waiting_room.room import LimitsChanged, QueueEntry
from portal.waiting_room.wording import grouped
from portal.waiting_room.wording import wait as wait_in_words
from portal.web.confirm import NotPossible, Wording, confirm, done
from portal.web.forms import Form, NumberField, ReasonField
from portal.web.http.access import requires, visitor
from portal.windows import service

bp = Blueprint(
    "waiting_room", __name__, url_prefix="/terms/<int:term_id>/windows/<int:window_id>/room"
)

OVERTAKEN = _l("The limits have changed. Check them and try again.")


class LimitsForm(Form):
    """The two limits of a waiting room."""

    per_minute = NumberField(
        _l("Admissions per minute"),
        most=room.MOST,
        description=_l(
            "Admissions are spread evenly over the minute, with short bursts after a quiet time."
        ),
    )
    at_once = NumberField(
        _l("Maximum admitted at once"),
        least=1,
        most=room.MOST,
        description=_l("When one student leaves, the next is admitted."),
    )
    reason = ReasonField()


CONTROLS = {
    "pause": Wording(
        _l("Pause the waiting room"),
        _l(
            "No more students are admitted. Admitted students can continue, and waiting"
            " students keep their positions until you resume."
        ),
        done=_l("Waiting room paused. No one is admitted."),
        button=_l("Pause"),
        danger=True,
    ),
    "resume": Wording(
        _l("Resume the waiting room"),
        _l("Waiting students are admitted again, in order and within the limits."),
        done=_l("Waiting room resumed."),
        button=_l("Resume"),
    ),
    "off": Wording(
        _l("Switch off this waiting room"),
        _l(
            "All waiting and arriving students are admitted at once. The limits are kept"
            " for when you switch it on again. The order of the queue is lost."
        ),
        done=_l("Waiting room switched off. Everyone is admitted."),
        button=_l("Switch off"),
        danger=True,
    ),
    "on": Wording(
        _l("Switch on this waiting room"),
        _l("Arriving students wait when the limits are reached. Admitted students can continue."),
        done=_l("Waiting room switched on. The limits apply again."),
        button=_l("Switch on"),
    ),
}


@bp.get("")
@requires(Right.SEE_TERMS)
def show(term_id: int, window_id: int) -> ResponseReturnValue:
    """Render the waiting room's status and its limits."""
    window = _window(term_id, window_id)
    state = room.state(term_id, window_id)
    form = LimitsForm(formdata=None, per_minute=state.per_minute, at_once=state.at_once)
    return _page(term_id, window, form)


@bp.get("/figures")
@requires(Right.SEE_TERMS)
def figures(term_id: int, window_id: int) -> ResponseReturnValue:
    """Render the current status, for an open page."""
    return render_template(
        "admin/room_figures.html", **_figures(term_id, _window(term_id, window_id))
    )


@bp.post("")
@requires(Right.CHANGE_WINDOWS)
def change(term_id: int, window_id: int) -> ResponseReturnValue:
    """Set both limits, with immediate effect."""
    window, form = _window(term_id, window_id), LimitsForm()
    if backend().settings.room is None:
        abort(400)
    if not form.validate():
        return _page(term_id, window, form), 422
    limits, by = AdmissionLimits(form.per_minute.data, form.at_once.data), visitor().id
    try:
        admission_limits.change(term_id, window_id, limits, _seen(), by=by, reason=form.reason.data)
    except LimitsChanged:
        form.refuse(_("Someone else has changed the limits."))
        form.refuse(_("The current limits are shown above. Save again to use yours."))
        return _page(term_id, window, form), 409
    return done(_("Limits saved."), _address(term_id, window_id))


@bp.route(f"/<any({','.join(CONTROLS)}):control>", methods=["GET", "POST"])
@requires(Right.CHANGE_WINDOWS)
def act_on(term_id: int, window_id: int, control: str) -> ResponseReturnValue:
    """Pause or resume the queue, or switch the room off or on."""
    window, state = _window(term_id, window_id), room.state(term_id, window_id)
    if backend().settings.room is None:
        abort(404)
    wording, now = CONTROLS[control], admission_limits.limits_of(state)
    usual = admission_limits.usual_rate(term_id, window_id)
    wanted, address = admission_limits.CHANGES[control](now, usual), _address(term_id, window_id)

    def act(reason: str) -> ResponseReturnValue:
        seen = _seen()
        limits, by = admission_limits.CHANGES[control](seen, usual), visitor().id
        try:
            admission_limits.change(term_id, window_id, limits, seen, by=by, reason=reason)
        except LimitsChanged:
            raise NotPossible(str(OVERTAKEN)) from None
        return done(str(wording.done), address)

    page = wording.page(
        (address, _("Waiting room")),
        facts=[
            (_("Window"), window.name),
            (_("Now"), _in_words(now)),
            (_("After"), _in_words(wanted)),
            (_("Waiting"), grouped(state.waiting)),
        ],
        seen={"seen": now.mark},
        refusal=str(OVERTAKEN) if wanted == now or state.phase == "ended" else "",
    )
    return confirm(page, act)


def _window(term_id: int, window_id: int) -> WindowView:
    """Return the window, or 404."""
    return service.find_window(term_id, window_id) or abort(404)


def _address(term_id: int, window_id: int) -> str:
    return url_for("admin.waiting_room.show", term_id=term_id, window_id=window_id)


def _seen() -> AdmissionLimits:
    """Return the limits that the page showed."""
    try:
        return AdmissionLimits.of(request.form["seen"])
    except ValueError:
        abort(400)


def _page(term_id: int, window: WindowView, form: LimitsForm) -> str:
    return render_template(
        "admin/room.html",
        **_figures(term_id, window),
        term=catalog_of(term_id).term,
        form=form,
    )


def _figures(term_id: int, window: WindowView) -> dict[str, object]:
    state = room.state(term_id, window.id)
    compared = state.right + state.wrong
    last = QueueEntry("waiting", state, ahead=max(0, state.waiting - 1))
    return {
        "window": window,
        "term_id": term_id,
        "state": state,
        "seen": admission_limits.limits_of(state).mark,
        "rooms": backend().settings.room is not None,
        "switched_off": not flags.on("waiting_room"),
        "lately": admitted_per_minute(state),
        "last": wait_in_words(wait_estimates.estimate(last)) if state.waiting else "",
        "share": state.right / compared if compared else None,
        "compared": compared,
    }


def _in_words(limits: AdmissionLimits) -> str:
    if limits.off:
        return _("switched off: no limits")
    if not limits.per_minute:
        return _("paused: no one is admitted")
    return _(
        "%(minute)s per minute, %(once)s at once",
        minute=grouped(limits.per_minute),
        once=grouped(limits.at_once),
    )
