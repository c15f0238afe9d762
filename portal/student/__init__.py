"""A student's pages: the lobby that becomes the picker, the confirm dialogs, my selections."""

from flask import Blueprint, request, session

from portal.live.rendering import draws_student
from portal.web.home import LAST_TERM

bp = Blueprint("student", __name__, url_prefix="/terms/<int:term_id>")

from portal.student import (  # noqa: E402  they put their views on `bp`
    doors,
    drops,
    history,
    news,
    order,
    pages,
    picks,
    schedule,
)
from portal.student.planning import asking, submitting  # noqa: E402
from portal.student.planning import pages as planning  # noqa: E402

__all__ = [
    "asking",
    "bp",
    "doors",
    "drops",
    "history",
    "order",
    "pages",
    "picks",
    "planning",
    "schedule",
    "submitting",
]


@bp.before_request
def _remember_term() -> None:
    """Pages that are of no term lead back to the one that was looked at last."""
    term = (request.view_args or {}).get("term_id")
    whole = request.method == "GET" and "text/html" in request.headers.get("Accept", "")
    if whole and "HX-Request" not in request.headers and session.get(LAST_TERM) != term:
        session[LAST_TERM] = term


draws_student(news.draw)
