"""A section's students (enrolled, waiting, and former ones) and its history."""

from flask import Blueprint, abort, render_template, request
from flask.typing import ResponseReturnValue

from portal.catalog.term_catalog import SectionView, catalog_of
from portal.core.db import transaction
from portal.core.i18n import _l
from portal.people.roles import Right
from portal.recorder import participants as people
from portal.recorder import read_with_fallback
from portal.web.http.access import demand, requires
from portal.web.paging import count_pages, page_number

bp = Blueprint("results", __name__, url_prefix="/terms/<int:term_id>/sections/<int:section_id>")

GROUPS = {
    "in": _l("Enrolled"),
    "waiting": _l("Waiting"),
    "out": _l("Dropped the class"),
    "left": _l("Left the waitlist"),
}
SHOWN = (*GROUPS, "history")


@bp.get("/results")
@requires(Right.SEE_ROSTERS, Right.SCHEDULE)
def show(term_id: int, section_id: int) -> ResponseReturnValue:
    """Render a group of its students, or its history, a page at a time."""
    offered = catalog_of(term_id)
    section = offered.section(section_id) or abort(404)
    demand(Right.SEE_ROSTERS, section.department_id)
    shown = request.args.get("show", "in")
    if shown not in SHOWN:
        abort(404)
    with transaction() as session:
        counts, prior = people.counts(session, section_id), people.prior(session, section_id)
        pages = count_pages(counts.get(shown, 0), people.PAGE)
        page = page_number(pages)
        found = [] if shown == "history" else people.participants(session, section_id, shown, page)
    before = request.args.get("before", type=int)
    happened, more = (
        people.history(term_id, section_id, before) if shown == "history" else ([], False)
    )
    return render_template(
        "admin/results.html",
        term=offered.term,
        view=section,
        seats=read_with_fallback.seats_of(term_id, [section_id]).get(section_id),
        groups=GROUPS,
        shown=shown,
        counts=counts,
        prior=prior,
        people=found,
        leaving=_leaving(section, shown, request.args.get("just", type=int)),
        first=(page - 1) * people.PAGE + 1,
        page=page,
        pages=pages,
        happened=happened,
        older=happened[-1]["seq"] if more else 0,
    )


def _leaving(section: SectionView, shown: str, just: int | None) -> set[int]:
    """Return the student adjusted just now, if that is not recorded yet."""
    if just is None or shown not in {"in", "waiting"}:
        return set()
    now = read_with_fallback.registrations(section.term_id, just)
    here = now.enrolled if shown == "in" else now.waiting
    return set() if any(each.section == section.id for each in here) else {just}
