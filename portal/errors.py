"""What a visitor reads when something goes wrong: pages, parts of pages, or problem details."""

import logging
from dataclasses import dataclass
from time import time
from typing import Any

from flask import Flask, jsonify, render_template, request
from flask.typing import ResponseReturnValue
from flask_babel import LazyString
from flask_limiter import RateLimitExceeded
from flask_wtf.csrf import CSRFError
from werkzeug.exceptions import HTTPException

from portal import cache
from portal.catalog.board import NoSuchTerm
from portal.extensions import limiter
from portal.ops.correlation import correlation
from portal.seats.errors import LedgerBehind, LedgerSilent, LedgerUnavailable
from portal.words import _l

log = logging.getLogger(__name__)

RETRY_SECONDS = 5


@dataclass(frozen=True)
class Words:
    """What happened, and what to do about it."""

    title: LazyString | str
    advice: LazyString | str


WORDS = {
    400: Words(
        _l("This request can't be read"),
        _l("Go back, reload the page and try again. Nothing was changed."),
    ),
    401: Words(_l("You are not logged in"), _l("Log in, then try again.")),
    403: Words(
        _l("This page is not yours to open"),
        _l(
            "You may be logged in with another account."
            " If you should have access, ask the registrar."
        ),
    ),
    404: Words(
        _l("There is no such page"),
        _l("The address may be mistyped, or what it showed is no longer offered."),
    ),
    405: Words(
        _l("This page can't be used that way"), _l("Go back and use the buttons on the page.")
    ),
    413: Words(
        _l("That was too much at once"),
        _l("Send less text or a smaller file. Nothing was changed."),
    ),
    429: Words(
        _l("Too many tries in a short time"),
        _l("Wait a moment, then try again. Waiting costs you neither a seat nor a place in line."),
    ),
    500: Words(
        _l("Something broke on our side"),
        _l(
            "Your seats are safe."
            " Reload the page; if it happens again, tell the registrar the code."
        ),
    ),
    503: Words(
        _l("The seat desk is taking a breath"),
        _l("Your seats and places are safe and nothing was changed. Try again in a few seconds."),
    ),
}
EXPIRED = Words(
    _l("This form has been open for too long"),
    _l("Go back, reload the page and send it again. Nothing was changed."),
)
UNSURE = Words(
    _l("We don’t know yet whether it went through"),
    _l("Send the same form again: it can’t count twice."),
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
    title, advice = str(words.title), str(words.advice)
    facts = {"status": status, "title": title, "advice": advice, "code": correlation()}
    sent = dict(headers or {})
    if request.path.startswith("/api/"):
        problem = jsonify(
            type="about:blank",
            title=title,
            status=status,
            detail=advice,
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
