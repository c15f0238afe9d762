"""A student's pages: the lobby that becomes the picker, the confirm dialogs, my selections."""

from flask import Blueprint, request, session

from portal.catalog.term_catalog import published_catalog
from portal.live.rendering import renderers
from portal.web.home import LAST_TERM

bp = Blueprint("student", __name__, url_prefix="/terms/<int:term_id>")

from portal.web.student import (  # noqa: E402, F401  they use `bp`, and add their views
    applications,
    drops,
    live_updates,
    plan_page,
    receipts,
    register,
    rounds,
    schedule,
    section_page,
    term_page,
    waiting_room_views,
)


@bp.before_request
def _hide_drafts() -> None:
    """Answer 404 for a draft of a term: students can't see it, not even by its address."""
    published_catalog((request.view_args or {})["term_id"])


@bp.before_request
def _remember_term() -> None:
    """Remember the term: pages without a term link back to the last one."""
    term = (request.view_args or {}).get("term_id")
    whole = request.method == "GET" and "text/html" in request.headers.get("Accept", "")
    if whole and "HX-Request" not in request.headers and session.get(LAST_TERM) != term:
        session[LAST_TERM] = term


renderers.student = live_updates.render_student
