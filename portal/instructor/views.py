"""An instructor's own sections, and who is in them."""

from typing import Any, cast

from flask import Blueprint, make_response, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.catalog.term_catalog import catalog_of, live_terms
from portal.instructor.classes import Class, own
from portal.instructor.looks import SORTS, Look
from portal.instructor.rosters import roster as people
from portal.recorder import read_with_fallback
from portal.web.http.access import requires, visitor

bp = Blueprint("instructor", __name__, url_prefix="/teaching")


@bp.get("")
@requires("instructor")
def teaching() -> ResponseReturnValue:
    """The visitor's own sections of a term, the latest unless another is asked for, with seats."""
    mine = visitor().teacher_ids
    offers = [offered for term in live_terms() if (offered := catalog_of(term.id)).taught_by(mine)]
    asked = request.args.get("term", type=int)
    shown = next((each for each in offers if each.term.id == asked), offers[0] if offers else None)
    cards = shown.taught_by(mine) if shown else []
    ids = [card.id for card in cards]
    counts = read_with_fallback.seats_of(shown.term.id, ids) if shown else {}
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
    shown, look = own(section_id), Look.parse(request.args)
    counts = read_with_fallback.seats_of(shown.term.id, [section_id])
    return render_template(
        "instructor/section.html",
        term=shown.term,
        counts=counts,
        now=read_with_fallback.now(),
        **_listed(shown, look),
    )


@bp.get("/sections/<int:section_id>/roster")
@requires("instructor", "admin")
def roster(section_id: int) -> ResponseReturnValue:
    """Roster and waitlist alone, for a page that is open already."""
    shown, look = own(section_id), Look.parse(request.args)
    answer = make_response(render_template("instructor/roster.html", **_listed(shown, look)))
    # The address of the page follows what is searched for, so that a reload shows the same.
    answer.headers["HX-Replace-Url"] = url_for(
        ".section", section_id=section_id, **cast("Any", look.args())
    )
    return answer


def _listed(shown: Class, look: Look) -> dict[str, object]:
    everyone = people(shown.term.id, shown.card.id, visitor().roles)
    return {
        "name": shown.name,
        "card": shown.card,
        "look": look,
        "sorts": SORTS,
        "everyone": everyone,
        "people": look.at(everyone),
    }
