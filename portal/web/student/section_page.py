"""All there is to know of a section: a page, or a dialog over the list."""

from flask.typing import ResponseReturnValue

from portal.catalog.views import SectionView
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.types import SeatCounts
from portal.people.roles import Right
from portal.recorder import read_with_fallback
from portal.registration import precheck, rules
from portal.registration.reasons import explain
from portal.web.http.access import requires
from portal.web.student import bp
from portal.web.student.dialogs import (
    NOTHING,
    form,
    published_section,
    require_visible,
    seats_of,
    visible_section,
)
from portal.web.student.plan_panel import live_counts
from portal.web.student.request_form import resumes_section
from portal.web.student.section_list import unknown_counts
from portal.web.student.student_term import StudentTerm, reserved_notes, seats_open_to
from portal.web.student.term_page import recorded_term


@bp.get("/sections/<int:section_id>")
@requires(Right.REGISTER)
@resumes_section
def section(term_id: int, section_id: int) -> ResponseReturnValue:
    """Show a section with its requirements, those that the student lacks, and links to each act.

    While the ledger is unavailable, show the recorded seats and no links.
    """
    try:
        now, view = visible_section(term_id, section_id)
        return _render(now, view, seats_of(view))
    except LedgerUnavailable:
        read_with_fallback.stop_waiting()
    view, now = published_section(term_id, section_id), recorded_term(term_id)
    require_visible(now, view)
    found = read_with_fallback.seats_of(term_id, [view.id])
    return _render(now, view, found.get(view.id) or unknown_counts(view))


def _render(now: StudentTerm, view: SectionView, all_seats: SeatCounts) -> str:
    closed = [] if now.state(view.id) else precheck.not_open(view)
    asks = not closed and not now.state(view.id)
    conflicts = now.precheck.against_seats(view) if asks else []
    lacking = rules.unmet(now.profile, view) if asks else []
    seats = seats_open_to(now, view, all_seats, likely=read_with_fallback.recorded())
    return form(
        "section",
        now,
        view,
        NOTHING,
        recorded=read_with_fallback.recorded(),
        closed=bool(closed),
        seats=seats,
        counts=live_counts(all_seats),
        offered=seats.claimable or seats.waiting < seats.waitlist_capacity,
        swaps=not lacking and any(each.code == "same_course" for each in conflicts),
        kept=reserved_notes(now, view),
        sharing=now.catalog.sharing(view),
        together=any(now.adds_both(view, each) for each in conflicts),
        reasons=explain([*closed, *conflicts, *lacking], now.case(view)),
    )
