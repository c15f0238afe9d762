"""All there is to know of a section: a page, or a dialog over the list."""

from flask.typing import ResponseReturnValue

from portal.registration import rules
from portal.registration.reasons import explain
from portal.web.http.access import requires
from portal.web.student import bp
from portal.web.student.dialogs import NOTHING, form, seats_of, visible_section
from portal.web.student.plan_panel import live_counts
from portal.web.student.request_form import resumes_section
from portal.web.student.student_term import reserved_notes, seats_open_to


@bp.get("/sections/<int:section_id>")
@requires("student")
@resumes_section
def section(term_id: int, section_id: int) -> ResponseReturnValue:
    """Show a section with its requirements, those that the student lacks, and links to each act."""
    now, card = visible_section(term_id, section_id)
    conflicts = [] if now.state(card.id) else now.in_the_way(card)
    lacking = [] if now.state(card.id) else rules.unmet(now.profile, card)
    seats = seats_open_to(now, card, all_seats := seats_of(card))
    return form(
        "section",
        now,
        card,
        NOTHING,
        seats=seats,
        counts=live_counts(all_seats),
        offered=seats.claimable or seats.waiting < seats.waitlist_capacity,
        swaps=any(each.code == "same_course" for each in conflicts),
        kept=reserved_notes(now, card),
        sharing=now.catalog.sharing(card),
        reasons=explain([*conflicts, *lacking], now.case(card)),
    )
