"""A section's students (enrolled, waiting, and former ones) and its history."""

from typing import Any

from flask import Blueprint, abort, render_template, request
from flask.typing import ResponseReturnValue

from portal.catalog.term_catalog import SectionView, catalog_of
from portal.core.db import transaction
from portal.core.i18n import _, _l
from portal.core.moments import milliseconds
from portal.recorder import participants as people
from portal.recorder import read_with_fallback
from portal.recorder.events import Event
from portal.recorder.receipt_texts import outcome
from portal.recorder.receipts import code
from portal.web.http.access import requires

bp = Blueprint("results", __name__, url_prefix="/terms/<int:term_id>/sections/<int:section_id>")

GROUPS = {
    "in": _l("Enrolled"),
    "waiting": _l("Waiting"),
    "out": _l("Canceled"),
    "left": _l("Left the waitlist"),
}
SHOWN = (*GROUPS, "history")


@bp.get("/results")
@requires("admin")
def show(term_id: int, section_id: int) -> ResponseReturnValue:
    """Render a group of its students, or its history, a page at a time."""
    offered = catalog_of(term_id)
    card = offered.section(section_id) or abort(404)
    shown = request.args.get("show", "in")
    if shown not in SHOWN:
        abort(404)
    with transaction() as session:
        counts, prior = people.counts(session, section_id), people.prior(session, section_id)
        pages = max(1, -(-counts.get(shown, 0) // people.PAGE))
        page = min(max(1, request.args.get("page", 1, type=int)), pages)
        found = [] if shown == "history" else people.participants(session, section_id, shown, page)
    before = request.args.get("before", type=int)
    happened, more = _history(card, before) if shown == "history" else ([], False)
    return render_template(
        "admin/results.html",
        term=offered.term,
        card=card,
        seats=read_with_fallback.seats_of(term_id, [section_id]).get(section_id),
        groups=GROUPS,
        shown=shown,
        counts=counts,
        prior=prior,
        people=found,
        leaving=_leaving(card, shown, request.args.get("just", type=int)),
        first=(page - 1) * people.PAGE + 1,
        page=page,
        pages=pages,
        happened=happened,
        older=happened[-1]["seq"] if more else 0,
    )


def _leaving(card: SectionView, shown: str, just: int | None) -> set[int]:
    """Return the student adjusted just now, if that is not recorded yet."""
    if just is None or shown not in {"in", "waiting"}:
        return set()
    now = read_with_fallback.registrations(card.term_id, just)
    here = now.enrolled if shown == "in" else now.waiting
    return set() if any(each.section == card.id for each in here) else {just}


def _history(card: SectionView, before: int | None) -> tuple[list[dict[str, Any]], bool]:
    """Return a page of the section's events, and whether there are more."""
    with transaction() as session:
        events, more = people.happened(session, card.term_id, card.id, before)
        names = people.names(session, events)
    return [_shown(card, each, names) for each in events], more


def _shown(card: SectionView, event: Event, names: dict[str, str]) -> dict[str, Any]:
    """Return what happened, the student, the actor, and an admin's reason."""
    student, facts = event.payload.get("student", 0), event.payload
    actor = names.get(event.context.get("actor", ""), "")
    what, tone = outcome(event)
    if event.name == "section_set":
        seats = {"seats": facts["capacity"], "places": facts["waitlist"]}
        what, actor = _("Seats: %(seats)s, waitlist: %(places)s", **seats), ""
        if facts["status"] == "CANCELED":
            what = _("The section was canceled")
    return {
        "seq": event.seq,
        "at": milliseconds(event.at),
        "what": what,
        "tone": tone,
        "student": student,
        "name": names.get(f"student:{student}", ""),
        "by": actor,
        "reason": event.context.get("reason", ""),
        "code": code(card.term_id, event.seq) if student else "",
    }
