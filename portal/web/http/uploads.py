"""File uploads: only some views accept them, and only from the users they are for."""

from flask import Flask, current_app, g, request
from flask_login import current_user

from portal.core.bulkheads import Bulkhead
from portal.web.http.access import View, opens, visitor
from portal.web.http.slow_clients import BODY

MOST_BYTES = 64 * 2**20
MOST_TEXT = 4 * 2**20  # bytes outside files, such as a pasted list
SECONDS = 600.0  # for a whole body
AT_ONCE = 4  # uploads of a process: they use its disk and memory

uploads = Bulkhead(AT_ONCE)


def takes_files(view: View, most: int = 0) -> View:
    """Let a view accept larger bodies than other views: `most` bytes, by default MOST_BYTES."""
    view.takes_files = True  # type: ignore[attr-defined]
    view.most_bytes = most  # type: ignore[attr-defined]
    return view


def start(app: Flask) -> None:
    """Raise the limits of such views; start this before anything reads a form."""
    app.before_request(_allow)
    app.teardown_request(_leave)


def _allow() -> None:
    view = current_app.view_functions.get(request.endpoint or "")
    if view is None or not getattr(view, "takes_files", False):
        return
    if current_user.is_authenticated and opens(view, visitor()):
        uploads.enter()
        g.uploads = True
        request.max_content_length = getattr(view, "most_bytes", 0) or MOST_BYTES
        request.max_form_memory_size = MOST_TEXT
        if BODY in request.environ:
            request.environ[BODY].expect_more(SECONDS)


def _leave(_error: BaseException | None) -> None:
    if g.pop("uploads", False):
        uploads.leave()
