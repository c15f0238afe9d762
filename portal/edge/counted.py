"""How many requests there are of each kind, what came of them, and how long they took."""

from time import perf_counter

from flask import Flask, Response, g, request

from portal.ops.metrics import REQUEST_TIME, REQUESTS

METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
LONG = {"live.socket"}  # that last as long as a page is open


def start(app: Flask) -> None:
    """Count every request; to be started before all that may answer one."""
    app.before_request(_begin)
    app.after_request(_count)


def took() -> float:
    """Seconds since this request began."""
    return perf_counter() - float(g.get("began", perf_counter()))


def _begin() -> None:
    g.began = perf_counter()


def _count(response: Response) -> Response:
    # Routes, not addresses, and no methods of somebody's making: their number is bounded.
    route = str(request.url_rule) if request.url_rule else "none"
    method = request.method if request.method in METHODS else "other"
    REQUESTS.labels(route, method, response.status_code).inc()
    if request.endpoint not in LONG:
        REQUEST_TIME.labels(route, method).observe(took())
    return response
