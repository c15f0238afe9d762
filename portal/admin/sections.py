"""The sections of a term as they fill."""

from flask import Blueprint, render_template, request
from flask.typing import ResponseReturnValue

from portal.access import requires
from portal.backend import backend
from portal.catalog.board import board
from portal.catalog.query import Query

bp = Blueprint("sections", __name__, url_prefix="/terms/<int:term_id>/sections")

PAGE = 100


@bp.get("")
@requires("admin")
def index(term_id: int) -> ResponseReturnValue:
    """Sections that fit the search, drafts and canceled ones too, a hundred at a time."""
    offered = board(term_id)
    found = offered.search(query := Query.parse(request.args))
    pages = max(1, -(-len(found) // PAGE))
    page = min(max(1, request.args.get("page", 1, type=int)), pages)
    shown = found[(page - 1) * PAGE : page * PAGE]
    return render_template(
        "admin/sections.html",
        term=offered.term,
        query=query,
        cards=shown,
        counts=backend().ledger.seats_of(term_id, [card.id for card in shown]),
        total=len(found),
        page=page,
        pages=pages,
    )
