"""One code for a request and all that follows from it: log lines, events, jobs and mails."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from secrets import token_hex

from flask import Flask, Response, current_app, g, has_request_context, request

from portal.core import traces

HEADER = "X-Correlation-Id"
# No colon, by which codes of our own making name an import.
FORM = re.compile(r"[0-9A-Za-z-]{8,64}", re.ASCII)

_cause: ContextVar[str] = ContextVar("cause", default="")


def start(app: Flask) -> None:
    """Send the code back with every answer."""
    app.after_request(_send)


def correlation() -> str:
    """The code of this request, or of what this process works at; "" where nothing has one."""
    if not has_request_context():
        return _cause.get()
    if "correlation" not in g:
        g.correlation = _brought() or token_hex(8)
    return str(g.correlation)


@contextmanager
def following(code: str) -> Iterator[None]:
    """A block outside of requests that follows from what has this code."""
    before = _cause.set(code)
    try:
        yield
    finally:
        _cause.reset(before)


def cause() -> dict[str, str]:
    """What a job has to carry so that it is done under the code of whoever called it."""
    return {"correlation": correlation(), **traces.carried()}


def _brought() -> str:
    """The code that a proxy of ours has given the request; nobody else may choose one."""
    if not current_app.config["SETTINGS"].proxies:
        return ""
    found = request.headers.get(HEADER, "")
    return found if FORM.fullmatch(found) else ""


def _send(response: Response) -> Response:
    response.headers[HEADER] = correlation()
    return response
