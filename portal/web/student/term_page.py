"""The single page of a term, lobby and picker alike, and my selections."""

import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import time
from functools import partial, wraps
from threading import Lock
from typing import Any, NamedTuple
from urllib.parse import parse_qsl

from cachetools import TTLCache, cached
from flask import abort, current_app, redirect, render_template
from flask.typing import ResponseReturnValue
from htmx_flask import request
from markupsafe import Markup
from werkzeug.datastructures import MultiDict

from portal.catalog import term_catalog
from portal.catalog.formatting import DAYS, clock, day_names
from portal.catalog.models import Term
from portal.catalog.search import Query
from portal.catalog.term_catalog import TermCatalog, TermView, catalog_of
from portal.core.i18n import _, current_locale, in_locale
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.types import Decision, SeatCounts, SubmissionResult
from portal.people.roles import Right
from portal.people.student_profile import StudentProfile, profile
from portal.recorder import odds, read_with_fallback
from portal.registration import limits
from portal.registration.next_steps import section_name
from portal.registration.plans import Plan
from portal.registration.requests import Alternative
from portal.web.account.login import safe_path
from portal.web.forms import Sent
from portal.web.http.access import requires, visitor
from portal.web.http.request_info import split_url
from portal.web.http.shared_pages import Parts, render_shared
from portal.web.student import bp, fragments
from portal.web.student.plan_panel import on_plan_page, panel
from portal.web.student.round_views import ballot_views
from portal.web.student.section_list import (
    PAGE,
    Listing,
    distinct_meetings,
    for_student,
    likely_sections,
    listing,
    week_of,
)
from portal.web.student.student_term import StudentTerm, section_title, student_term
from portal.web.student.waiting_room import WaitingRoomStatus, status_on_page
from portal.windows.cohorts import open_to
from portal.windows.phases import Phase, phase, sections_visible

TERMS_FRESH_SECONDS = 10
MOST_TERMS = 4  # terms with a link on the page of one of them


View = Callable[..., ResponseReturnValue]


def or_recorded(view: View) -> View:
    """Serve a page from PostgreSQL while the ledger is unavailable; parts of pages wait for it."""

    @wraps(view)
    def read(term_id: int) -> ResponseReturnValue:
        try:
            with in_locale(current_locale()):  # looked up a hundred times for a page
                return view(term_id)
        except LedgerUnavailable:
            if request.htmx:
                raise
            read_with_fallback.stop_waiting()
            return _page(term_id)

    return read


@bp.get("")
@requires(Right.REGISTER)
@or_recorded
def term(term_id: int) -> ResponseReturnValue:
    """Render the lobby before the window opens, the picker while it is open, else my selections."""
    now = mine_of(term_id, shown=partial(likely_sections, request.args))
    if request.htmx.target == "more":
        found = listing(now, request.args, last_page_only=True)
        return render_template("student/rows.html", student_term=now, listing=found)
    found = listing(now, request.args)
    if request.htmx.target == "results":
        page = render_template("student/results.html", student_term=now, listing=found)
        return page, {"HX-Replace-Url": found.query_url(term_id)}
    return _term_page(now, found)


def _term_page(now: StudentTerm, found: Listing) -> str:
    """Render the whole page from a shared page and the student's own parts."""
    parts, size = around(now), _row_size()
    own = {
        "head": fragments.render_fragment("student/refresh.html", **parts),
        "top": parts["top"] + _rounds(now),
        "rows": found.rows,
        "plan": panel(now),
        "mine": parts["mine"],
    }
    terms = tuple((each.id, each.name) for each in parts["terms"])
    shape = replace(found, rows=Markup())

    def facts(own: Parts) -> dict[str, Any]:
        return {
            **own,
            "listing": replace(found, rows=own["rows"]),
            "term": now.term,
            "terms": parts["terms"],
            "other_terms": parts["other_terms"],
            "student_term": SharedTerm(now.term, Phase(now.phase.kind, None, 0)),
            "row_size": size,
            "week": week_of(now.catalog),
            "subjects": now.catalog.subjects,
            "days": list(zip(DAYS, day_names(), strict=True)),
            "oclock": lambda hour: clock(time(hour)),
        }

    key = now.term, now.catalog.version, terms, parts["other_terms"], now.phase.kind, size, shape
    return render_shared("student/term.html", key, own, facts)


def _rounds(now: StudentTerm) -> Markup:
    """Render a note about allocation rounds while no window is open."""
    if now.phase.kind == "open":
        return Markup()
    found = ballot_views(now.term.id, now.profile.student, now.phase.now)
    if not found:
        return Markup()
    return fragments.render_fragment("student/rounds_note.html", rounds=found, term_id=now.term.id)


class SharedTerm(NamedTuple):
    """What a term's page shows to all students in the same phase."""

    term: TermView
    phase: Phase


@bp.get("/stage")
@requires(Right.REGISTER)
def stage(term_id: int) -> ResponseReturnValue:
    """Render the current banner, and the list if its phase needs a different one.

    While the ledger is unavailable, leave the banner as it is, and say so until it is back.
    """
    limits.forget_windows()  # a page asks because they have changed
    try:
        return _stage(term_id) + render_template("recorded.html")
    except LedgerUnavailable:
        read_with_fallback.stop_waiting()
        again = request.full_path.rstrip("?")
        return render_template("recorded.html", ask_again=again), {"HX-Reswap": "none"}


def _stage(term_id: int) -> str:
    now = mine_of(term_id)
    shown = request.args.get("shown", "")
    # When registration begins, styles alone change the cells: nothing moves under the pointer.
    begun = shown.startswith("before") and now.phase.kind == "open"
    found = None if begun or shown == now.stage else listing(now, _args_of_page())
    return render_template("student/stage.html", listing=found, **around(now))


@bp.get("/mine")
@requires(Right.REGISTER)
@or_recorded
def mine(term_id: int) -> ResponseReturnValue:
    """Render my selections and my waitlists, with live positions."""
    return render_template("student/mine.html", **around(mine_of(term_id)))


def mine_of(
    term_id: int,
    decided: Decision | SubmissionResult | None = None,
    shown: Callable[[StudentProfile, TermCatalog], Sequence[int]] = lambda *_: (),
) -> StudentTerm:
    """Return the visitor's state, as of `decided` if given; 404 if the term does not exist."""
    at = None if decided is None or decided.replayed else decided.at
    registrations = decided.registrations if decided else None
    try:
        return student_term(term_id, visitor().student_id or 0, at, registrations, shown)
    except LookupError:
        abort(404)


def around(now: StudentTerm, status: WaitingRoomStatus | None = None) -> dict[str, Any]:
    """Return what every student page has around its own content."""
    odds.refresh_freed_seats(now.term.id)
    status = status or status_on_page(now)
    attention = fragments.attention(now.term.id, now.attention)
    return {
        "student_term": now,
        "term": now.term,
        "terms": _near(now.term.id),
        "other_terms": len(offered_terms()) > MOST_TERMS,
        "status": status,
        "top": fragments.top(status, attention),
        "banner": fragments.banner,
        "gate": fragments.gate,
        "mine": fragments.mine(now) + fragments.bar(now),
        "plan": partial(panel, now),
        "refresh": status.reload if status.kind == "waiting" else _refresh(now),
    }


def _near(term_id: int) -> list[Term]:
    """Return a few terms before and after this one."""
    terms = offered_terms()
    index = next((at for at, term in enumerate(terms) if term.id == term_id), 0)
    first = max(0, min(index - MOST_TERMS // 2, len(terms) - MOST_TERMS))
    return terms[first : first + MOST_TERMS]


@cached(TTLCache(maxsize=1, ttl=TERMS_FRESH_SECONDS), lock=Lock())
def offered_terms() -> list[Term]:
    """Return the terms to choose from, from a short cache."""
    return term_catalog.offered_terms()


def _refresh(now: StudentTerm) -> int:
    """Return seconds until a page without scripts reloads, spread to avoid reloads all at once."""
    spread = random.randint(0, 20)  # noqa: S311 - no secret
    if now.phase.kind == "open":
        return 40 + spread
    left = ((now.phase.turns or 0) - now.phase.now) // 1000 if now.phase.kind == "before" else 60
    return left + 1 + spread // 5 if left < 40 else 20 + spread


def _args_of_page() -> Sent:
    """Return the search and filters of the page that sent the request."""
    return MultiDict(parse_qsl(split_url(request.htmx.current_url).query))


def recorded_term(term_id: int) -> StudentTerm:
    """Return the visitor's recorded state, for reading only; 404 if the term does not exist."""
    try:
        who, offered = profile(visitor().student_id or 0), catalog_of(term_id)
    except LookupError:
        abort(404)
    windows = open_to(who, read_with_fallback.windows(term_id))
    return StudentTerm(
        who,
        offered,
        read_with_fallback.registrations(term_id, who.student),
        phase(windows, read_with_fallback.now()),
    )


def _page(term_id: int) -> ResponseReturnValue:
    now = recorded_term(term_id)
    who, offered, query = now.profile, now.catalog, Query.parse(request.args)
    listed = sections_visible(now.phase)
    held = offered.some(now.held)
    found = offered.search(query, _recorded_counts(offered, query)) if listed else []
    fitting = for_student(query, found, who, offered, held)
    shown = fitting[:PAGE]
    return render_template(
        "student/recorded.html",
        term=offered.term,
        query=query,
        listed=listed,
        total=len(fitting),
        shown=shown,
        held=held,
        attention=fragments.attention(term_id, now.attention),
        waiting=offered.some(now.positions),
        counts=read_with_fallback.seats_of(term_id, [view.id for view in shown]),
        plan=_choices(offered, now.plan) if on_plan_page() else None,
        title=now.title,
        classes=distinct_meetings,
    )


def _recorded_counts(offered: TermCatalog, query: Query) -> dict[int, SeatCounts] | None:
    """Return all recorded counts, if the query asks for them."""
    if not query.open_only:
        return None
    return read_with_fallback.seats_of(offered.term.id, [each.id for each in offered.sections])


def _choices(offered: TermCatalog, plan: Plan | None) -> list[list[str]]:
    """Return the choices of a plan, each with its alternatives by rank."""
    choices = plan.choices if plan else ()
    return [[_named(offered, each) for each in choice.alternatives] for choice in choices]


def _named(offered: TermCatalog, alternative: Alternative) -> str:
    views = [offered.published(part.section) for part in alternative]
    return " + ".join(
        f"{section_name(view)}, {section_title(offered, view)}" if view else _("No longer offered")
        for view in views
    )


# How high the rows of the section list are: each browser keeps the choice

ROWS_COOKIE = "rows"
ROWS_KEPT_SECONDS = 365 * 24 * 3600
COMPACT, COMFORTABLE = "compact", "comfortable"


def _row_size() -> str:
    """Return the row size that this browser keeps; compact unless the student chose otherwise."""
    return COMFORTABLE if request.cookies.get(ROWS_COOKIE) == COMFORTABLE else COMPACT


@bp.post("/rows")
@requires(Right.REGISTER)
def choose_row_size(term_id: int) -> ResponseReturnValue:
    """Return to the list with rows of the chosen size; the browser keeps the choice."""
    size = request.form.get("rows", "")
    if size not in {COMPACT, COMFORTABLE}:
        abort(400)
    response = redirect(safe_path(request.form.get("next", "") or f"/terms/{term_id}"), 303)
    response.set_cookie(
        ROWS_COOKIE,
        size,
        max_age=ROWS_KEPT_SECONDS,
        secure=current_app.config["SESSION_COOKIE_SECURE"],
        httponly=True,
        samesite="Lax",
    )
    return response
