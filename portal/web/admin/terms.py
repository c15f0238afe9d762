"""Terms and their selection windows, on a page that updates itself."""

from typing import Any

from flask import Blueprint, abort, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.catalog.models import Term
from portal.catalog.term_catalog import current_terms, live_terms
from portal.core.db import transaction
from portal.core.sorting import Sorting
from portal.operations.term_overview import SORTS, content_mark, overview
from portal.people.roles import Right
from portal.web.http.access import requires

bp = Blueprint("terms", __name__)


@bp.get("")
@requires(Right.SEE_TERMS)
def index() -> ResponseReturnValue:
    """Render every term with its windows."""
    return render_template("admin/terms.html", **_overviews())


@bp.get("/sections")
@requires(Right.SEE_SECTIONS, Right.SCHEDULE)
def sections() -> ResponseReturnValue:
    """Go to the sections of the latest term; to the windows if every term is archived."""
    for term in current_terms():
        return redirect(url_for("admin.sections.index", term_id=term.id))
    return redirect(url_for("admin.terms.index"))


@bp.get("/now")
@requires(Right.SEE_TERMS)
def now() -> ResponseReturnValue:
    """Render changes since the page with this mark: everything, or the figures alone."""
    shown = _overviews()
    part = "figures" if request.args.get("mark") == shown["mark"] else "overviews"
    return render_template(f"admin/terms_{part}.html", **shown) + render_template("recorded.html")


def _overviews() -> dict[str, Any]:
    """Return what the page shows: terms with their windows in the wanted order, archived ones."""
    sorting = Sorting.parse(SORTS, request.args)
    overviews = [overview(term, sorting) for term in current_terms()]
    return {
        "overviews": overviews,
        "archived": [term for term in live_terms() if term.state == "archived"],
        "mark": content_mark(overviews),
        "sorting": sorting,
    }


def term_or_404(term_id: int) -> Term:
    """Return the term unless it is deleted."""
    with transaction() as session:
        term = session.get(Term, term_id)
    return abort(404) if term is None or term.deleted_at else term
