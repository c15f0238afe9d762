"""My plan: a panel beside the list, or a full page of its own."""

from collections.abc import Collection, Mapping
from types import MappingProxyType
from typing import Any

from cachetools import LRUCache, cached
from flask import current_app
from htmx_flask import request
from markupsafe import Markup

from portal.backend import backend
from portal.catalog.views import SectionView
from portal.core.i18n import current_locale
from portal.ledger.types import SeatCounts
from portal.registration import plans
from portal.registration.credits import amount, credit_choices, credits_in_words, points
from portal.registration.plans import Plan
from portal.registration.precheck import (
    Reasons,
    first_possible,
    gone,
    plan_credits,
    possible,
    possible_plan,
    waitlist_full,
)
from portal.registration.reasons import FOR_ALL, Explanation, distinct, explain
from portal.registration.requests import Choice, SectionRequest
from portal.web.http.request_info import split_url
from portal.web.student import fragments, request_form
from portal.web.student.earlier_terms import LastTime, last_time
from portal.web.student.round_views import BallotView, ballot_views
from portal.web.student.section_list import distinct_meetings, unknown_counts
from portal.web.student.student_term import StudentTerm, reserved_notes, seats_open_to
from portal.web.student.waiting_room import status_on_page


def panel(  # noqa: PLR0913  the ways in which a page may want it
    student_term: StudentTerm,
    plan: Plan | None = None,
    *,
    full: bool | None = None,
    oob: bool = False,
    message: str = "",
    lost: bool = False,
) -> Markup:
    """Render my plan, id plan; `full` shows every control, by default as the page has it.

    `message` tells why a change failed. `lost` means that the focused element is gone.
    """
    full = on_plan_page() if full is None else full
    plan = student_term.plan if plan is None else plan
    known = plan or Plan()
    status_on_page(student_term, known)  # submitting it needs an access token
    if known.choices or full or message or lost:
        drawn = _draw(student_term, known, plan is None, full=full, message=message, lost=lost)
    else:
        drawn = _draw_empty(student_term, known, plan is None)
    return fragments.out_of_band(drawn) if oob else drawn


@cached(
    LRUCache(maxsize=200),
    key=lambda now, *plan: (now.term.id, now.phase.kind, *plan, current_locale().language),
)
def _draw_empty(student_term: StudentTerm, plan: Plan, away: bool) -> Markup:  # noqa: FBT001 - its key
    """Render an empty plan beside the list once for all students."""
    return _draw(student_term, plan, away)


def _draw(  # noqa: PLR0913  the ways in which a page may want it
    student_term: StudentTerm,
    plan: Plan,
    away: bool,  # noqa: FBT001 - the plan is not known
    *,
    full: bool = False,
    message: str = "",
    lost: bool = False,
) -> Markup:
    reasons = student_term.precheck.refusals_of_plan(plan)
    everything = [each for choice in reasons for found in choice for each in found.values()]
    shared = [each for found in everything for each in found if each.code in FOR_ALL]
    common = [*student_term.late_to_add, *shared]
    planned = plan_credits(plan, student_term.catalog, student_term.held)
    left = possible_plan(plan, student_term.catalog)
    html = current_app.jinja_env.get_template("fragments/plan.html").render(
        student_term=student_term,
        plan=plan,
        away=away,
        choices=_choices(student_term, plan, reasons, full=full),
        common=distinct(explain(common, student_term.case(None))),
        full=full,
        message=message,
        lost=lost,
        rounds=_rounds(student_term) if full else [],
        credits=credits_in_words(planned),
        after=amount(student_term.credits + planned),
        over=student_term.credits + planned > student_term.credit_limit,
        points=amount,
        packed=plans.write(left),
        submits=not all(_is_had(each, student_term.held) for each in left.choices),
        gone=[each for each in plan.sections if gone(each, student_term.catalog)],
        key=request_form.new_key(),
    )
    return Markup(html)  # noqa: S704 - the template escapes


def _is_had(choice: Choice, held: Collection[int]) -> bool:
    """Return whether the student has one of the alternatives already."""
    return any(all(part.section in held for part in each) for each in choice.alternatives)


def _rounds(student_term: StudentTerm) -> list[BallotView]:
    """Return the allocation rounds in which the plan is a ballot."""
    term, student = student_term.term.id, student_term.profile.student
    return ballot_views(term, student, student_term.phase.now)


def on_plan_page() -> bool:
    """Return whether the plan's own page sent the request."""
    address = request.htmx.current_url if request.htmx else request.path
    return split_url(address).path.endswith("/plan")


def _choices(
    student_term: StudentTerm, plan: Plan, reasons: list[list[Reasons]], *, full: bool
) -> list[dict[str, Any]]:
    """Return the choices as the template shows them; `key` stays the same when one is moved.

    `full` adds counts and how full each course was last time.
    """
    seats = backend().ledger.seats_of(student_term.term.id, plan.sections) if full else {}
    last = last_time(student_term.term.id) if full else {}
    firsts = first_possible(plan, student_term.catalog)
    ended = student_term.phase.kind == "ended"
    choices = []
    for at, choice in enumerate(plan.choices):
        later = {section for each in plan.choices[at + 1 :] for section in each.sections}
        left = possible(choice, student_term.catalog)
        alternatives = [
            {
                "name": student_term.case(None).names(part.section for part in alternative),
                "parts": [_part(student_term, part, seats, last) for part in alternative],
                "gone": alternative not in left,
                "first": alternative == firsts[at],
                # Of two first choices that clash, the later one loses, so only it shows that.
                "problems": reasons_against(
                    student_term, found, later if alternative == firsts[at] else (), seats
                )
                if alternative not in left or not ended
                else [],
            }
            for alternative, found in zip(choice.alternatives, reasons[at], strict=True)
        ]
        waitlists = 0 if ended else len(left)
        choices.append(
            {
                "alternatives": alternatives,
                "wait": choice.wait,
                "key": choice.sections[0],
                "waitlists": waitlists,
            }
        )
    return choices


def _part(
    student_term: StudentTerm,
    part: SectionRequest,
    seats: dict[int, SeatCounts],
    last: dict[int, LastTime],
) -> dict[str, Any]:
    """Return a section of an alternative; its `view` is None if it is no longer offered."""
    view = student_term.catalog.published(part.section)
    known = seats.get(part.section) or (unknown_counts(view) if view else None)
    return {
        "section": part.section,
        "name": student_term.case(None).named(part.section),
        "view": view,
        "meetings": distinct_meetings(view) if view else (),
        "amounts": credit_choices(view) if view else [],
        "chosen": "" if part.credits is None else points(part.credits),
        "counts": live_counts(known) if known and seats else Markup(),
        "kept": reserved_notes(student_term, view) if view and seats else [],
        "last": last.get(view.course_id) if view else None,
    }


def reasons_against(
    student_term: StudentTerm,
    reasons: Reasons,
    later: Collection[int] = (),
    seats: Mapping[int, SeatCounts] = MappingProxyType({}),
) -> list[Explanation]:
    """Return the likely refusals of one alternative, but for clashes with `later` sections.

    No form is offered for a section that has no room even on its waitlist, by its `seats`.
    """
    found: list[Explanation] = []
    for section, against in reasons.items():
        lasting = [
            each
            for each in against
            if not (each.facts.get("planned") and each.facts.get("section") in later)
        ]
        view = student_term.catalog.section(section)
        steps = student_term.workable(explain(lasting, student_term.case(view)))
        counts = seats.get(section)
        if (
            view
            and counts
            and not _shares(student_term, view)
            and waitlist_full(seats_open_to(student_term, view, counts))
        ):
            steps = [each.without_form for each in steps]
        found += steps
    return distinct(each for each in found if each.code not in FOR_ALL)


def _shares(student_term: StudentTerm, view: SectionView) -> bool:
    """Return whether the student has a seat that counts in the section's pool: a swap frees it."""
    held = student_term.catalog.some(student_term.held)
    return view.pool is not None and any(each.pool == view.pool for each in held)


def live_counts(seats: SeatCounts) -> Markup:
    """Render live counts that may be on a page twice: scripts give one of them its id."""
    name = f"seats-{seats.section}"
    drawn = str(fragments.seats(seats)).replace(f' id="{name}"', "", 1)
    return Markup(f'<div class="counts" data-counts="{name}">{drawn}</div>')  # noqa: S704 - is drawn
