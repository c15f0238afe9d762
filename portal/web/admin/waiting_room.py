"""The opening of a window: its figures, the limits of its waiting room, and its controls."""

from typing import Any

from flask import Blueprint, abort, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.backend import backend
from portal.catalog.local_time import local_clock
from portal.catalog.term_catalog import catalog_of
from portal.core import flags
from portal.core.i18n import _, _l
from portal.core.moments import milliseconds
from portal.ledger.types import WindowView
from portal.operations import opening
from portal.operations.figures import or_none
from portal.people.roles import Right
from portal.registration.reasons import label
from portal.waiting_room import admission_limits, draw_codes, room, wait_estimates
from portal.waiting_room.admission_limits import AdmissionLimits
from portal.waiting_room.draw_codes import REFUSED
from portal.waiting_room.room import LimitsChanged, QueueEntry, RoomState
from portal.waiting_room.wording import grouped
from portal.waiting_room.wording import wait as wait_in_words
from portal.web.admin.public_values import ask_for_value, check_source, value_page
from portal.web.admin.windows import window_or_404
from portal.web.confirm import (
    Confirmation,
    NotPossible,
    Wording,
    confirm,
    done,
    seen_number,
)
from portal.web.forms import (
    Form,
    MomentField,
    NumberField,
    OptionalReasonForm,
    ReasonField,
    ReasonForm,
    TextField,
    render_form,
)
from portal.web.http.access import requires, visitor

bp = Blueprint(
    "waiting_room", __name__, url_prefix="/terms/<int:term_id>/windows/<int:window_id>/room"
)

# The controls that set limits from elsewhere: a form says which, so that it is no older advice.
OFFERS = ("advice", "back")
OVERTAKEN = _l("The limits have changed. Check them and try again.")


class LimitsForm(Form):
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


class SourceForm(Form):
    """Where the public value of a draw will come from, and when it can be known."""

    public_source = TextField(
        _l("Where the public value will come from"),
        longest=300,
        missing=_l("Name a value that will be published before the window opens."),
        description=_l(
            "A number that no one knows beforehand, such as the randomness of “drand quicknet round"
            " 4711” or the next draw of a lottery. Say which number, with how many digits."
        ),
    )
    public_at = MomentField(
        _l("Public value known from"),
        description=_l(
            "No one can know the value before this moment. The codes of the students are fixed ten"
            " minutes before it. It must be ten minutes before the opening or earlier, so that you"
            " can enter it."
        ),
    )
    reason = ReasonField()


CONTROLS = {
    "pause": Wording(
        _l("Pause the waiting room"),
        _l(
            "No more students are admitted. Admitted students can continue, and waiting"
            " students keep their positions until you resume. They read that the queue is"
            " paused. An alarm rings on the pages of admins."
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
    "advice": Wording(
        _l("Use the limits of the rehearsal"),
        _l("They apply at once. You can restore the current limits with one button."),
        done=_l("The limits of the rehearsal apply."),
        button=_l("Use these limits"),
    ),
    "back": Wording(
        _l("Go back to the limits from before"),
        _l("They apply at once."),
        done=_l("The limits from before apply again."),
        button=_l("Use these limits"),
    ),
}


@bp.get("")
@requires(Right.SEE_TERMS)
def show(term_id: int, window_id: int) -> ResponseReturnValue:
    """Render the opening of the window, with the limits of its waiting room."""
    window = window_or_404(term_id, window_id)
    state = room.state(term_id, window_id)
    form = LimitsForm(formdata=None, per_minute=state.per_minute, at_once=state.at_once)
    return _page(term_id, window, form)


@bp.get("/figures")
@requires(Right.SEE_TERMS)
def figures(term_id: int, window_id: int) -> ResponseReturnValue:
    """Render the current figures, for an open page."""
    context = _figures(term_id, window_or_404(term_id, window_id))
    parts = ("admin/opening_figures.html", "admin/opening_draw.html")
    return "".join(render_template(part, **context) for part in parts)


@bp.post("")
@requires(Right.CHANGE_WINDOWS)
def change(term_id: int, window_id: int) -> ResponseReturnValue:
    """Set both limits, with immediate effect. 0 keeps a paused room paused; it pauses no other."""
    window, form = window_or_404(term_id, window_id), LimitsForm()
    if backend().settings.room is None:
        abort(400)
    if not form.validate():
        return _page(term_id, window, form)
    limits, by = AdmissionLimits(form.per_minute.data, form.at_once.data), visitor().id
    seen = _limits("seen")
    if not (limits.per_minute or seen.paused):
        form.refuse(_("0 admits no one. To do that, use “Pause the waiting room”."), "per_minute")
        return _page(term_id, window, form)
    try:
        admission_limits.change(term_id, window_id, limits, seen, by=by, reason=form.reason.data)
    except LimitsChanged:
        form.refuse(_("Someone else has changed the limits."))
        form.refuse(_("The current limits are shown above. Save again to use yours."))
        return _page(term_id, window, form, 409)
    return done(_("Limits saved."), _address(term_id, window_id))


@bp.route(f"/<any({','.join(CONTROLS)}):control>", methods=["GET", "POST"])
@requires(Right.CHANGE_WINDOWS)
def act_on(term_id: int, window_id: int, control: str) -> ResponseReturnValue:
    """Pause or resume the queue, switch the room off or on, or use other limits.

    To resume takes one press, without a reason.
    """
    window, state = window_or_404(term_id, window_id), room.state(term_id, window_id)
    if backend().settings.room is None:
        abort(404)
    wording, now = CONTROLS[control], admission_limits.limits_of(state)
    offered, address = _offered(control, term_id, window_id, now), _address(term_id, window_id)

    def act(reason: str) -> str:
        seen, limits = _limits("seen"), _limits("to") if control in OFFERS else None
        if limits is None:
            limits = admission_limits.changed(control, seen, term_id, window_id)
        elif limits not in {offered, now}:  # such as the advice of an older rehearsal
            raise NotPossible(str(OVERTAKEN))
        try:
            admission_limits.change(
                term_id, window_id, limits, seen, by=visitor().id, reason=reason
            )
        except LimitsChanged:
            raise NotPossible(str(OVERTAKEN)) from None
        return str(wording.done)

    page = wording.page(
        (address, _("Opening day")),
        facts=[
            (_("Window"), window.name),
            (_("Now"), _in_words(now)),
            (_("After"), _in_words(offered)),
            (_("Waiting"), grouped(state.waiting)),
        ],
        seen={"seen": now.mark, "to": offered.mark},
        refusal=str(OVERTAKEN) if offered == now or state.phase == "ended" else "",
    )
    return confirm(page, act, _form_of(control))


@bp.route("/draw", methods=["GET", "POST"])
@requires(Right.CHANGE_WINDOWS)
def name_public_value(term_id: int, window_id: int) -> ResponseReturnValue:
    """Name the public value that the draw of the window will use."""
    window, found = window_or_404(term_id, window_id), draw_codes.find(window_id)
    named: dict[str, object] = {}
    if found:
        named = {"public_source": found.public_source, "public_at": milliseconds(found.public_at)}
    form = SourceForm(data=named)
    page = Confirmation(
        title=_("Name a public value for the draw"),
        button=_("Save"),
        back=(_address(term_id, window_id), _("Opening day")),
        facts=[
            (_("Window"), window.name),
            (_("Opens"), local_clock().full(window.opens)),
        ],
        meaning=[
            _("Without one, students must trust the portal: it chose the secret seed."),
            _("Anyone can read it on the page of the draw. You enter the value once it is known."),
        ],
        first_seen={"version": found.version if found else 0},
        refusal=_refusal(window, "fixed" if found and found.root else ""),
    )

    def act(reason: str) -> str | None:
        if not check_source(form):
            return None
        source, at = form.public_source.data, form.public_at.data
        draw_codes.name_source(term_id, window, seen_number(), source, at, visitor().id, reason)
        return _("Public value named.")

    return confirm(page, act, form)


@bp.route("/draw/value", methods=["GET", "POST"])
@requires(Right.CHANGE_WINDOWS)
def enter_public_value(term_id: int, window_id: int) -> ResponseReturnValue:
    """Enter the public value once it is known: it orders the students who came early."""
    window, found = window_or_404(term_id, window_id), draw_codes.find(window_id)
    facts = [(_("Window"), window.name), (_("Opens"), local_clock().full(window.opens))]
    if found:
        known = local_clock().full(milliseconds(found.public_at))
        facts += [(_("Source"), found.public_source), (_("Public value known from"), known)]
        facts += [(_("Root"), found.root or "")]

    def act(value: str, reason: str) -> str:
        draw_codes.enter_value(term_id, window_id, value, visitor().id, reason)
        return _("The draw uses the public value.")

    page = value_page(
        facts,
        (_address(term_id, window_id), _("Opening day")),
        refusal=_refusal(window, draw_codes.not_yet(found) if found else "unfixed"),
    )
    source = found.public_source if found else ""
    return ask_for_value(page, _("Use it in the draw"), source, act)


def _refusal(window: WindowView, why: str) -> str:
    """Return why the public value can't be changed: it is late once the window opens, or `why`."""
    why = "late" if backend().ledger.now() >= window.opens else why
    return str(REFUSED[why]) if why else ""


def _draw_of(term_id: int, window: WindowView, phase: str) -> dict[str, object] | None:
    """Return the public value of a draw and the next step, as the page shows them."""
    if backend().settings.room is None:
        return None
    found, value = draw_codes.find(window.id), draw_codes.public_value(term_id, window.id)
    last = window.opens - room.RULES["LAST"]
    return {
        "source": found,
        "known_at": local_clock().full(milliseconds(found.public_at)) if found else "",
        "enter_until": local_clock().full(last),
        "missed": found and not value and backend().ledger.now() >= last,
        "value": value,
        "too_late": found and not found.root and draw_codes.is_known(found),
        "may_name": phase == "before" and not (found and found.root),
        "may_enter": phase == "before" and found and not value and not draw_codes.not_yet(found),
    }


def _offered(control: str, term_id: int, window_id: int, now: AdmissionLimits) -> AdmissionLimits:
    """Return the limits that a control would set now; those of now if it would change nothing."""
    if control not in OFFERS:
        return admission_limits.changed(control, now, term_id, window_id)
    if not now.counts:
        return now  # to resume is another press
    if control == "advice":
        rehearsal = opening.advised().rehearsal
        return rehearsal.limits or now if rehearsal else now
    earlier = admission_limits.earlier(term_id, window_id, now)
    return earlier.limits if earlier else now


def _form_of(control: str) -> Form | None:
    if control == "resume":
        return OptionalReasonForm()
    if control == "advice" and (rehearsal := opening.advised().rehearsal):
        return ReasonForm(reason=_("Rehearsal of %(date)s", date=local_clock().short(rehearsal.at)))
    return None


def _address(term_id: int, window_id: int) -> str:
    return url_for("admin.waiting_room.show", term_id=term_id, window_id=window_id)


def _limits(name: str) -> AdmissionLimits:
    """Return the limits in a hidden field: those that the page showed, or that it sets."""
    try:
        return AdmissionLimits.of(request.form[name])
    except ValueError:
        abort(400)


def _page(
    term_id: int, window: WindowView, form: LimitsForm, status: int = 0
) -> ResponseReturnValue:
    return render_form("admin/opening.html", form, status=status, **_figures(term_id, window))


def _figures(term_id: int, window: WindowView) -> dict[str, Any]:
    found = opening.read_opening(term_id, window)
    context: dict[str, Any] = {
        "term": catalog_of(term_id).term,
        "window": window,
        "opening": found,
        "rooms": backend().settings.room is not None,
        "switched_off": not flags.on("waiting_room"),
        "reason": label,
    }
    return context | (_of_room(term_id, window, found.now.room) if found.now.room else {})


def _of_room(term_id: int, window: WindowView, state: RoomState) -> dict[str, object]:
    window_id, now, advised = window.id, admission_limits.limits_of(state), opening.advised()
    compared = state.right + state.wrong
    last = QueueEntry("waiting", state, ahead=max(0, state.waiting - 1))
    return {
        "state": state,
        "seen": now.mark,
        "lately": wait_estimates.admitted_per_minute(state),
        "last": wait_in_words(wait_estimates.estimate(last)) if state.waiting else "",
        "share": state.right / compared if compared else None,
        "compared": compared,
        "limits": now,
        "earlier": or_none(
            lambda: admission_limits.earlier(term_id, window_id, now), there=now.counts
        ),
        "advised": advised,
        "in_words": _in_words,
        "draw": or_none(lambda: _draw_of(term_id, window, state.phase)),
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
