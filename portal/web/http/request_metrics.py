"""Metrics of requests: number, outcome and duration by kind."""

from time import perf_counter

from flask import Flask, Response, g, request

from portal.core import latency
from portal.core.metrics import REQUEST_TIME, REQUESTS
from portal.web.http.slow_clients import BODY

METHODS = {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"}
LONG = {"live.socket"}  # these last as long as a page is open
STUDENTS = "student"  # the blueprint whose times the opening page shows


def start(app: Flask) -> None:
    """Count every request; start this before everything that may answer one."""
    app.before_request(_begin)
    app.after_request(_count)


def took() -> float:
    """Return the seconds since this request began."""
    return perf_counter() - float(g.get("began", perf_counter()))


def _begin() -> None:
    g.began = perf_counter()


def _count(response: Response) -> Response:
    sent, rule = request.method, request.url_rule
    # Routes instead of addresses, and only known methods, keep the number of labels bounded.
    route, method = rule.rule if rule else "none", sent if sent in METHODS else "other"
    REQUESTS.labels(route, method, response.status_code).inc()
    if rule is None or rule.endpoint not in LONG:
        REQUEST_TIME.labels(route, method).observe(took())
    if request.blueprint == STUDENTS:
        body = request.environ.get(BODY)
        latency.count(took() - (body.waited if body else 0.0))  # a slow client is no slow page
    return response
