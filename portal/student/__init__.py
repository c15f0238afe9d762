"""A student's pages: the lobby that becomes the picker, the confirm dialogs, my selections."""

from flask import Blueprint

from portal.live.own import drawn_by

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

drawn_by(news.draw)
