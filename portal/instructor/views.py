"""An instructor's own sections, and who is in them."""

from flask import Blueprint, abort, render_template, request
from flask.typing import ResponseReturnValue

from portal.access import requires, visitor
from portal.backend import backend
from portal.catalog.board import Board, Card, board
from portal.catalog.terms import live_terms
from portal.instructor.rosters import roster as people

bp = Blueprint("instructor", __name__, url_prefix="/teaching")


@bp.get("")
@requires("instructor")
def teaching() -> ResponseReturnValue:
    """The visitor's own sections of a term, the latest unless another is asked for, with seats."""
    own = visitor().teacher_id or 0
    offers = [offered for term in live_terms() if (offered := board(term.id)).taught_by(own)]
    asked = request.args.get("term", type=int)
    shown = next((each for each in offers if each.term.id == asked), offers[0] if offers else None)
    cards = shown.taught_by(own) if shown else []
    ids = [card.id for card in cards]
    counts = backend().ledger.seats_of(shown.term.id, ids) if shown else {}
    return render_template(
        "instructor/teaching.html",
        terms=[offered.term for offered in offers],
        term=shown.term if shown else None,
        cards=cards,
        counts=counts,
    )


@bp.get("/sections/<int:section_id>")
@requires("instructor", "admin")
def section(section_id: int) -> ResponseReturnValue:
    """One section with its roster and its waitlist."""
    offered, card = _own(section_id)
    counts = backend().ledger.seats_of(card.term_id, [card.id])
    return render_template(
        "instructor/section.html",
        term=offered.term,
        card=card,
        counts=counts,
        people=people(card.term_id, card.id),
    )


@bp.get("/sections/<int:section_id>/roster")
@requires("instructor", "admin")
def roster(section_id: int) -> ResponseReturnValue:
    """Roster and waitlist alone, for a page that is open already."""
    _, card = _own(section_id)
    return render_template(
        "instructor/roster.html", card=card, people=people(card.term_id, card.id)
    )


def _own(section_id: int) -> tuple[Board, Card]:
    """The section, if the visitor teaches it or is an admin; 404 where there is none, else 403."""
    offers = [board(term.id) for term in live_terms()]
    offered = next((each for each in offers if each.card(section_id)), None) or abort(404)
    card = offered.card(section_id) or abort(404)
    if not ("admin" in visitor().roles or visitor().teacher_id in card.teacher_ids):
        abort(403)
    return offered, card
