"""What a student can read while the ledger is away: sections, selections and the plan."""

from collections.abc import Callable
from functools import wraps

from flask import abort, render_template
from flask.typing import ResponseReturnValue
from htmx_flask import request

from portal.catalog.search import Query
from portal.catalog.term_catalog import TermCatalog, catalog_of
from portal.core.i18n import _
from portal.ledger.errors import LedgerUnavailable
from portal.people.student_profile import profile
from portal.recorder import read_with_fallback
from portal.registration import rules
from portal.registration.next_steps import section_name
from portal.registration.plan_store import plan_of
from portal.registration.plans import Plan
from portal.registration.requests import Alternative
from portal.student import attention
from portal.student.alike import classes
from portal.student.listing import PAGE
from portal.student.planning.panel import on_plan_page
from portal.student.scene import titled
from portal.web.http.access import visitor
from portal.windows.cohorts import open_to
from portal.windows.phases import phase, sections_visible

View = Callable[..., ResponseReturnValue]


def or_recorded(view: View) -> View:
    """Let a page be read out of PostgreSQL while the ledger is away; parts of pages wait for it."""

    @wraps(view)
    def read(term_id: int) -> ResponseReturnValue:
        try:
            return view(term_id)
        except LedgerUnavailable:
            if request.htmx:
                raise
            read_with_fallback.give_up()
            return _page(term_id)

    return read


def _page(term_id: int) -> ResponseReturnValue:
    try:
        who, offered = profile(visitor().student_id or 0), catalog_of(term_id)
    except LookupError:
        abort(404)
    query = Query.parse(request.args)
    listed = sections_visible(
        phase(open_to(who, read_with_fallback.windows(term_id)), read_with_fallback.now())
    )
    found = offered.search(query) if listed else []
    fitting = [card for card in found if rules.visible(who, card)]
    shown, standing = fitting[:PAGE], read_with_fallback.standing(term_id, who.student)
    held = offered.some([each.section for each in standing.enrolled])
    return render_template(
        "student/recorded.html",
        term=offered.term,
        query=query,
        listed=listed,
        total=len(fitting),
        shown=shown,
        held=held,
        attention=attention.shown(term_id, attention.attention(who, held)),
        waiting=offered.some([each.section for each in standing.waiting]),
        counts=read_with_fallback.seats_of(term_id, [card.id for card in shown]),
        plan=_lines(offered, plan_of(term_id, who.student)) if on_plan_page() else None,
        title=lambda card: titled(offered, card),
        classes=classes,
    )


def _lines(offered: TermCatalog, plan: Plan | None) -> list[list[str]]:
    """The lines of a plan, each with its options by rank."""
    lines = plan.choices if plan else ()
    return [[_named(offered, option) for option in line.alternatives] for line in lines]


def _named(offered: TermCatalog, option: Alternative) -> str:
    cards = [offered.published(part.section) for part in option]
    return " + ".join(
        f"{section_name(card)}, {titled(offered, card)}" if card else _("No longer offered")
        for card in cards
    )
