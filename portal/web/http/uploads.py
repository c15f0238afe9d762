"""Files in forms: only some views take them, from those alone whom they are for."""

from flask import Flask, current_app, g, request
from flask_login import current_user

from portal.core.bulkheads import Bulkhead
from portal.web.http.access import View, rule_of, visitor
from portal.web.http.slow_clients import BODY

MOST_BYTES = 64 * 2**20
MOST_TEXT = 4 * 2**20  # of bytes that are no file, such as a list that was pasted
SECONDS = 600.0  # for all of a body
AT_ONCE = 4  # that a process takes: they lie on its disk, and are read in its memory

uploads = Bulkhead(AT_ONCE)


def takes_files(view: View) -> View:
    """Let a view be sent more than pages are."""
    view.takes_files = True  # type: ignore[attr-defined]
    return view


def start(app: Flask) -> None:
    """Raise the limits of such views; to be started before anything reads a form."""
    app.before_request(_allow)
    app.teardown_request(_leave)


def _allow() -> None:
    view = current_app.view_functions.get(request.endpoint or "")
    if view is None or not getattr(view, "takes_files", False):
        return
    if current_user.is_authenticated and rule_of(view) & visitor().roles:
        uploads.enter()
        g.uploads = True
        request.max_content_length = MOST_BYTES
        request.max_form_memory_size = MOST_TEXT
        if BODY in request.environ:
            request.environ[BODY].expect_more(SECONDS)


def _leave(_error: BaseException | None) -> None:
    if g.pop("uploads", False):
        uploads.leave()
