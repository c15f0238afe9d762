"""What a visitor reads when something goes wrong: pages, parts of pages, or problem details."""

import logging
from dataclasses import dataclass
from time import time
from typing import Any

from flask import Flask, jsonify, render_template, request
from flask.typing import ResponseReturnValue
from flask_limiter import RateLimitExceeded
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import HTTPException

from portal import cache
from portal.catalog.board import NoSuchTerm
from portal.extensions import limiter
from portal.ops.correlation import correlation
from portal.seats.errors import LedgerBehind, LedgerSilent, LedgerUnavailable

log = logging.getLogger(__name__)

RETRY_SECONDS = 5


@dataclass(frozen=True)
class Words:
    """What happened, and what to do about it."""

    title: str
    advice: str


WORDS = {
    400: Words(
        "This request can't be read", "Go back, reload the page and try again. Nothing was changed."
    ),
    401: Words("You are not logged in", "Log in, then try again."),
    403: Words(
        "This page is not yours to open",
        "You may be logged in with another account. If you should have access, ask the registrar.",
    ),
    404: Words(
        "There is no such page",
        "The address may be mistyped, or what it showed is no longer offered.",
    ),
    405: Words("This page can't be used that way", "Go back and use the buttons on the page."),
    413: Words(
        "That was too much at once", "Send less text or a smaller file. Nothing was changed."
    ),
    429: Words(
        "Too many tries in a short time",
        "Wait a moment, then try again. Waiting costs you neither a seat nor a place in line.",
    ),
    500: Words(
        "Something broke on our side",
        "Your seats are safe. Reload the page; if it happens again, tell the registrar the code.",
    ),
    503: Words(
        "The seat desk is taking a breath",
        "Your seats and places are safe and nothing was changed. Try again in a few seconds.",
    ),
}
EXPIRED = Words(
    "This form has been open for too long",
    "Go back, reload the page and send it again. Nothing was changed.",
)
UNSURE = Words(
    "We don’t know yet whether it went through",
    "Send the same form again: it can’t count twice.",
)
LATER = {"Retry-After": str(RETRY_SECONDS)}


def start(app: Flask) -> None:
    """Answer every kind of error in words."""
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(CSRFError, lambda _: answer(400, EXPIRED))
    app.register_error_handler(RateLimitExceeded, _limited)
    app.register_error_handler(NoSuchTerm, lambda _: answer(404, WORDS[404]))
    app.register_error_handler(LedgerUnavailable, away)
    app.register_error_handler(LedgerBehind, away)
    for lost in cache.AWAY:
        app.register_error_handler(lost, away)
    app.register_error_handler(Exception, _broken)


def answer(status: int, words: Words, headers: dict[str, Any] | None = None) -> ResponseReturnValue:
    """The error in the form that was asked for: JSON, a dialog or toast, or a page."""
    facts = {"status": status, "title": words.title, "advice": words.advice, "code": correlation()}
    sent = dict(headers or {})
    if request.path.startswith("/api/"):
        problem = jsonify(
            type="about:blank",
            title=words.title,
            status=status,
            detail=words.advice,
            instance=request.path,
            correlation=correlation(),
        )
        problem.mimetype = "application/problem+json"
        return problem, status, sent
    if request.headers.get("HX-Target") == "dialog":
        return render_template("errors/dialog.html", **facts), status, sent
    if request.headers.get("HX-Request"):
        sent |= {"HX-Retarget": "#toasts", "HX-Reswap": "beforeend"}
        return render_template("errors/toast.html", **facts), status, sent
    return render_template("errors/page.html", **facts), status, sent


def away(error: Exception) -> ResponseReturnValue:
    """A store can't be asked: that nothing was changed, unless that is not known."""
    log.warning("A store is away: %s", error)
    return answer(503, UNSURE if isinstance(error, LedgerSilent) else WORDS[503], LATER)


def _http(error: HTTPException) -> ResponseReturnValue:
    status = error.code or 500
    if status < 400 or error.response is not None:
        return error
    kept = {name: value for name, value in error.get_headers() if name in {"Allow", "Retry-After"}}
    return answer(status, WORDS.get(status, WORDS[400 if status < 500 else 500]), kept)


def _limited(_error: RateLimitExceeded) -> ResponseReturnValue:
    limit = limiter.current_limit
    wait = max(1, round(limit.reset_at - time())) if limit else 60
    return answer(429, WORDS[429], {"Retry-After": str(wait)})


def _broken(error: Exception) -> ResponseReturnValue:
    log.error("Unexpected error, correlation %s", correlation(), exc_info=error)
    return answer(500, WORDS[500])
