"""A student's pages: the lobby that becomes the picker, the confirm dialogs, my selections."""

from flask import Blueprint

from portal.live.own import drawn_by

bp = Blueprint("student", __name__, url_prefix="/terms/<int:term_id>")

from portal.student import news, pages, picks  # noqa: E402  they put their views on `bp`

__all__ = ["bp", "pages", "picks"]

drawn_by(news.draw)
