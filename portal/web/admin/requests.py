"""Requests of instructors: the open ones, the oldest first, and the decision on one."""

from typing import Any

from flask import Blueprint, abort, flash, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.catalog import formatting
from portal.core.i18n import _, _l
from portal.instructor_requests import listing, service
from portal.instructor_requests.listing import RequestView, remaining_obstacles
from portal.instructor_requests.models import REFUSED, STATES, TONES
from portal.instructor_requests.service import RequestRefused
from portal.people.roles import Right
from portal.registration.reasons import PERMISSIONS, permission_names
from portal.registration.seat_counts import outlook_in_words
from portal.web.forms import ChoicesField, Form, NoteField, NumberField, render_form
from portal.web.http.access import requires, visitor
from portal.web.http.layout import go

bp = Blueprint("requests", __name__, url_prefix="/requests")

DECISIONS = {"approve": "approved", "decline": "declined"}
DONE = {"approve": _l("Approved: %(name)s."), "decline": _l("Declined: %(name)s.")}
TEXTS = {
    "states": STATES,
    "tones": TONES,
    "stale": REFUSED,
    "rules": permission_names,
    "promised": outlook_in_words,
}


class DecisionForm(Form):
    """How much of a request is approved, and a note to the instructor, required to decline."""

    capacity = NumberField(
        _l("Number of seats"),
        most=0,
        message=_l("Enter a whole number from %(least)s to %(most)s."),
    )
    waives = ChoicesField(
        _l("Rules that should not apply"), choices={}, missing=_l("Choose at least one rule.")
    )
    note = NoteField(_l("Note"), missing=_l("Enter a reason."))

    @classmethod
    def about(cls, line: RequestView, decision: str = "") -> "DecisionForm":
        """Return the form for a request, with what can be approved in part, if anything."""
        instructor_request = line.request
        now = instructor_request.section.capacity
        default = {"capacity": instructor_request.wanted, "waives": instructor_request.waives}
        form = cls(data=default)
        form.note.flags.required = decision == "decline"
        form.capacity.least, form.capacity.most = now + 1, instructor_request.wanted or 0
        form.capacity.description = _(
            "It has %(capacity)s now. Enter fewer than %(wanted)s to approve in part.",
            capacity=formatting.number(now),
            wanted=formatting.number(instructor_request.wanted or 0),
        )
        form.waives.description = _("To approve in part, clear the rules that still apply.")
        form.waives.offer({code: PERMISSIONS[code] for code in instructor_request.waives})
        some = decision != "decline" and instructor_request.state == "open" and not line.stale
        counts = instructor_request.kind == "seats" and form.capacity.raw_data  # a number was sent
        if not some or (form.capacity.least >= form.capacity.most and not counts):
            del form.capacity
        if not some or len(instructor_request.waives) < 2:
            del form.waives
        form.note.description = _(
            "%(who)s can read this. Required if you decline.", who=instructor_request.account.name
        )
        return form

    def chosen(self) -> dict[str, Any]:
        """Return the approved changes as arguments of `service.approve`."""
        parameters = {"capacity": "seats", "waives": "waives"}
        return {of: self[name].data for name, of in parameters.items() if name in self}


@bp.get("")
@requires(Right.SEE_REQUESTS)
def index() -> ResponseReturnValue:
    """Render the requests that wait for a decision, or those that have one."""
    done = request.args.get("state") == "done"
    key = request.args.get("from", type=int)
    found = listing.decided_requests(key) if done else listing.open_requests(key)
    return render_template(
        "admin/requests.html",
        lines=found[: listing.PAGE],
        more=len(found) > listing.PAGE,
        done=done,
        waiting=listing.waiting(),
        live=listing.term_of(found),
        **TEXTS,
    )


@bp.get("/<int:instructor_request_id>")
@requires(Right.SEE_REQUESTS)
def show(instructor_request_id: int) -> ResponseReturnValue:
    """Render one request, and the effects of its approval."""
    line = _line(instructor_request_id)
    return _page(line, DecisionForm.about(line))


@bp.post("/<int:instructor_request_id>")
@requires(Right.DECIDE)
def decide(instructor_request_id: int) -> ResponseReturnValue:
    """Approve or decline a request, once; a second press changes nothing."""
    line, decision = _line(instructor_request_id), request.form.get("decision", "")
    if decision not in DECISIONS:
        abort(400)
    form = DecisionForm.about(line, decision)
    if not form.validate():
        return _page(line, form)
    if decision == "approve" and line.stale:  # a moment later, it could be approved as a whole
        form.refuse(REFUSED[line.stale])
        return _page(line, form, 409)
    try:
        if decision == "decline":
            service.decline(instructor_request_id, visitor().id, form.note.data)
        elif not service.approve(
            instructor_request_id, visitor().id, form.note.data, **form.chosen()
        ):
            flash(_("The ledger does not respond. The new seats are added when it is back."))
    except RequestRefused as refused:
        line = _line(instructor_request_id)
        mine = line.request.decided_by == visitor().id
        if not (refused.code == "decided" and mine and line.request.state == DECISIONS[decision]):
            form.refuse(refused.text)
            return _page(line, form, 409)
    else:
        flash(str(DONE[decision]) % {"name": line.name})
    return go(url_for("admin.requests.index"))


def _line(instructor_request_id: int) -> RequestView:
    return listing.one(instructor_request_id) or abort(404)


def _page(line: RequestView, form: DecisionForm, status: int = 0) -> ResponseReturnValue:
    instructor_request = line.request
    weighed = (
        instructor_request.kind == "override"
        and instructor_request.state == "open"
        and not line.stale
    )
    return render_form(
        "admin/request.html",
        form,
        status=status,
        line=line,
        way=remaining_obstacles(instructor_request) if weighed else None,
        partial=next((name for name in ("capacity", "waives") if name in form), ""),
        **TEXTS,
    )
