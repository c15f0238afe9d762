"""Terms and their selection windows, on a page that updates itself."""

from flask import Blueprint, redirect, render_template, request, url_for
from flask.typing import ResponseReturnValue

from portal.catalog.term_catalog import live_terms
from portal.operations.term_overview import content_mark, overview
from portal.web.http.access import requires

bp = Blueprint("terms", __name__)


@bp.get("")
@requires("admin")
def index() -> ResponseReturnValue:
    """Render every term with its windows."""
    overviews = [overview(term) for term in live_terms()]
    return render_template("admin/terms.html", overviews=overviews, mark=content_mark(overviews))


@bp.get("/sections")
@requires("admin")
def sections() -> ResponseReturnValue:
    """Go to the sections of the latest term; to the windows if there is no term."""
    for term in live_terms():
        return redirect(url_for("admin.sections.index", term_id=term.id))
    return redirect(url_for("admin.terms.index"))


@bp.get("/now")
@requires("admin")
def now() -> ResponseReturnValue:
    """Render changes since the page with this mark: everything, or the figures alone."""
    overviews = [overview(term) for term in live_terms()]
    mark = content_mark(overviews)
    part = "figures" if request.args.get("mark") == mark else "overviews"
    fragment = render_template(f"admin/terms_{part}.html", overviews=overviews, mark=mark)
    return fragment + render_template("recorded.html")
