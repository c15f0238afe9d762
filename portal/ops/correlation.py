"""One code per request, which its log lines, events and error page share."""

from uuid import uuid4

from flask import Flask, Response, g


def start(app: Flask) -> None:
    """Send the code back with every answer."""
    app.after_request(_send)


def correlation() -> str:
    """The code of this request."""
    if "correlation" not in g:
        g.correlation = uuid4().hex[:16]
    return str(g.correlation)


def _send(response: Response) -> Response:
    response.headers["X-Correlation-Id"] = correlation()
    return response
