"""The front page: it redirects visitors to what they came for."""

from dataclasses import dataclass
from typing import Any

from flask import Blueprint, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue

from portal.applications import listing, service
from portal.applications.kinds import KINDS
from portal.applications.models import STATES, TONES, UNDECIDED
from portal.catalog.formatting import day
from portal.catalog.models import Term
from portal.catalog.term_catalog import offered_terms
from portal.core.cache import AWAY
from portal.ledger.errors import LedgerUnavailable
from portal.people.roles import Right
from portal.people.student_profile import profile
from portal.recorder import read_with_fallback
from portal.web.http.access import signed_in, visitor
from portal.windows.cohorts import open_to
from portal.windows.phases import Phase, phase

bp = Blueprint("home", __name__)

LAST_TERM = "term"  # in the session: the term viewed last
ORDER = {"open": 0, "before": 1, "unscheduled": 2, "ended": 3}


@dataclass(frozen=True)
class Offer:
    """A term and the student's status in its windows."""

    term: Term
    phase: Phase


@bp.app_context_processor
def _navigation() -> dict[str, Any]:
    return {"current_term": current_term}


def current_term() -> int | None:
    """Return the term for the navigation: the one viewed last, else the next to open.

    Return None if there is none, or it can't be read now.
    """
    try:
        terms = offered_terms()
        if session.get(LAST_TERM) in {term.id for term in terms}:
            return int(session[LAST_TERM])
        offers = read_with_fallback.without_marking(lambda: _offers(terms))
        return next((offer.term.id for offer in offers), None)
    except (LookupError, LedgerUnavailable, *AWAY):
        return None


@bp.get("/")
@signed_in
def index() -> ResponseReturnValue:
    """Redirect a student to the term, an instructor to sections, staff to windows.

    Someone without a role sees their applications here.
    """
    who = visitor()
    if who.may(Right.REGISTER):
        return _student()
    if who.may(Right.TEACH):
        return redirect(url_for("instructor.teaching"))
    if who.may(Right.APPLY):
        return _applicant()
    return redirect(url_for("admin.terms.index"))


def _student() -> ResponseReturnValue:
    terms = offered_terms()
    if len(terms) == 1:
        return _enter(terms[0])
    offers = _offers(terms)
    now_open = [offer for offer in offers if offer.phase.kind == "open"]
    if len(now_open) == 1 and "all" not in request.args:
        return _enter(now_open[0].term)
    return render_template("terms.html", offers=offers)


def _applicant() -> ResponseReturnValue:
    """Render the applications of someone without a student record, and the terms to apply for."""
    kind, lines = KINDS["visiting"], listing.of_account(visitor().id)
    begun = {each.application.term_id for each in lines if each.application.state in UNDECIDED}
    terms = [
        each
        for each in offered_terms()
        if each.id not in begun and not service.is_late(kind, each.id)
    ]
    return render_template(
        "applicant.html",
        lines=lines,
        kind=kind,
        terms=[(each, day(service.last_day(kind, each.id), year=True)) for each in terms],
        states=STATES,
        tones=TONES,
    )


def _enter(term: Term) -> ResponseReturnValue:
    return redirect(url_for("student.term", term_id=term.id))


def _offers(terms: list[Term]) -> list[Offer]:
    """Return the open terms, then the future ones, the next one first."""
    if not terms:
        return []
    who, now = profile(visitor().student_id or 0), read_with_fallback.now()
    offers = [
        Offer(term, phase(open_to(who, read_with_fallback.windows(term.id)), now)) for term in terms
    ]
    return sorted(offers, key=lambda offer: (ORDER[offer.phase.kind], offer.phase.turns or 0))
