"""Error responses for visitors: pages, parts of pages, or problem details."""

import logging
from dataclasses import dataclass
from math import ceil
from time import time
from typing import Any

from flask import Flask, Response, jsonify, render_template, request
from flask.typing import ResponseReturnValue
from flask_limiter import RateLimitExceeded
from werkzeug.exceptions import HTTPException

from portal.catalog.term_catalog import NoSuchTerm
from portal.core import cache, logs
from portal.core.bulkheads import Full
from portal.core.correlation import correlation
from portal.core.db import crowded
from portal.core.i18n import _, _l, _n
from portal.ledger.errors import LedgerBehind, LedgerSilent, LedgerUnavailable, RateLimited
from portal.people.passwords import TooManyError
from portal.web.http import request_limits, resuming
from portal.web.http.extensions import limiter
from portal.web.http.request_limits import TooMany

log = logging.getLogger(__name__)

RETRY_SECONDS = 5


@dataclass(frozen=True)
class Message:
    """What happened, and what to do about it."""

    title: str
    advice: str
    onward: str = ""  # the page that says more, or the type of a problem


MESSAGES = {
    400: Message(
        _l("We can’t read this request"),
        _l("Go back, reload the page and try again. Nothing was changed."),
    ),
    401: Message(_l("You are not logged in"), _l("Log in, then try again.")),
    403: Message(
        _l("You don’t have access to this page"),
        _l(
            "You may be logged in to a different account. If you "
            "should have access, ask the registrar."
        ),
    ),
    404: Message(
        _l("Page not found"),
        _l("Check the address. The page may also no longer be available."),
    ),
    405: Message(
        _l("This action is not available here"), _l("Go back and use the buttons on the page.")
    ),
    408: Message(
        _l("The request took too long"),
        _l("Your connection may be slow. Nothing was changed. Send it again."),
    ),
    413: Message(
        _l("The request is too large"),
        _l("Nothing was changed. Send less text or a smaller file."),
    ),
    429: Message(
        _l("Too many attempts"),
        _l(
            "Wait a moment, then try again. You don’t lose a seat "
            "or a waitlist position by waiting."
        ),
    ),
    500: Message(
        _l("Something went wrong on our side"),
        _l(
            "Your seats are safe. Reload the page. If it happens "
            "again, send the registrar the code."
        ),
    ),
    503: Message(
        _l("Registration is not available right now"),
        _l(
            "Your seats and waitlist positions are safe. Nothing was "
            "changed. Try again in a few seconds."
        ),
    ),
}
# The texts for API clients, which have no pages to reload.
FOR_CLIENTS = {
    400: Message(_l("We can’t read this request"), _l("Nothing was changed.")),
    401: Message(
        _l("You are not logged in"),
        _l("Send a valid access token, or log in, and try again."),
    ),
    403: Message(_l("You don’t have permission"), _l("Use an account or a token that has it.")),
    404: Message(
        _l("Not found"),
        _l("Check the address. It may not exist, or you may not have access."),
    ),
    405: Message(_l("Method not allowed"), _l("The Allow header lists the allowed methods.")),
    413: Message(_l("The request body is too large"), _l("Nothing was changed. Send less data.")),
    415: Message(
        _l("This is not valid JSON"), _l("Send JSON with the content type application/json.")
    ),
}
UNSURE = Message(
    _l("We don’t know yet if your request was processed"),
    _l("Send the same form again. It counts only once."),
)
CROWDED = Message(
    _l("Too many of these requests are running"),
    _l("Nothing was changed. Try again in a minute."),
)
BUSY_SECONDS = 10
LATER = {"Retry-After": str(RETRY_SECONDS)}


def start(app: Flask) -> None:
    """Register a handler with a text for every kind of error."""
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(TooMany, lambda error: _limited(error.seconds))
    app.register_error_handler(RateLimited, lambda error: _limited(request_limits.refused(error)))
    app.register_error_handler(RateLimitExceeded, lambda _: _limited(_until()))
    app.register_error_handler(NoSuchTerm, lambda _: answer(404, MESSAGES[404]))
    app.register_error_handler(TooManyError, lambda _: answer(503, MESSAGES[503], LATER))
    app.register_error_handler(Full, lambda _: answer(503, CROWDED, {"Retry-After": "60"}))
    app.register_error_handler(LedgerUnavailable, away)
    app.register_error_handler(LedgerBehind, away)
    for lost in cache.AWAY:
        app.register_error_handler(lost, away)
    app.register_error_handler(Exception, _broken)


def answer(
    status: int, message: Message, headers: dict[str, Any] | None = None, *, again: bool = False
) -> ResponseReturnValue:
    """Return the error in the requested form: JSON, a dialog or toast, or a page.

    With `again`, the page includes the submitted form to send again. A client with too many
    refusals gets a brief answer.
    """
    if status < 500 and (brief := refused_often()):
        return brief
    sent = dict(headers or {})
    if request.path.startswith("/api/"):
        return problem(status, message, sent)
    title, advice = str(message.title), str(message.advice)
    facts: dict[str, Any] = {"status": status, "title": title, "advice": advice}
    facts |= {
        "code": correlation(),
        "again": again and resuming.shown_fields(),
        "onward": message.onward,
    }
    if request.headers.get("HX-Target") == "dialog":
        return render_template("errors/dialog.html", **facts), status, sent
    if request.headers.get("HX-Request"):
        sent |= {"HX-Retarget": "#toasts", "HX-Reswap": "beforeend"}
        return render_template("errors/toast.html", **facts), status, sent
    return render_template("errors/page.html", **facts), status, sent


def problem(
    status: int, message: Message, headers: dict[str, Any] | None = None, **more: Any
) -> ResponseReturnValue:
    """Return the error as problem details (RFC 9457); `more` are additional members."""
    if message in MESSAGES.values():
        message = FOR_CLIENTS.get(status, message)
    facts = {
        "type": message.onward or "about:blank",
        "title": str(message.title),
        "status": status,
        "detail": str(message.advice),
        "instance": request.path,
        "correlation": correlation(),
        "success": False,  # this and the message: for clients that read every response the same way
        "message": str(message.advice),
    }
    response = jsonify(facts | more)
    response.mimetype = "application/problem+json"
    challenge = {"WWW-Authenticate": "Bearer"} if status == 401 else {}
    return response, status, challenge | (headers or {})


def away(error: Exception) -> ResponseReturnValue:
    """Answer that a store is unavailable, and that nothing was changed if that is certain."""
    if crowded(error):
        return _busy(error)
    logs.warn(log, f"A store is away ({type(error).__name__})", error)
    return answer(503, UNSURE if isinstance(error, LedgerSilent) else MESSAGES[503], LATER)


def _busy(error: Exception) -> ResponseReturnValue:
    """Answer that the PostgreSQL connection pool is exhausted."""
    logs.warn(log, "All connections to PostgreSQL are in use", error)
    advice = _(
        "Your seats and waitlist positions are safe. Nothing was "
        "changed. Try again in %(num)s seconds.",
        num=BUSY_SECONDS,
    )
    return answer(
        503, Message(_("Too many requests at once"), advice), {"Retry-After": str(BUSY_SECONDS)}
    )


def _http(error: HTTPException) -> ResponseReturnValue:
    status = error.code or 500
    if status < 400 or error.response is not None:
        return error
    headers = {
        name: value for name, value in error.get_headers() if name in {"Allow", "Retry-After"}
    }
    return answer(status, MESSAGES.get(status, MESSAGES[400 if status < 500 else 500]), headers)


def _limited(seconds: int) -> ResponseReturnValue:
    message, later = _slower(seconds)
    return answer(429, message, later, again=request_limits.decides())


def _until() -> int:
    """Return the seconds until the view's rate limit allows the next request."""
    met = limiter.current_limit
    return max(1, ceil(met.reset_at - time())) if met else 60


def _slower(seconds: int) -> tuple[Message, dict[str, str]]:
    minutes = ceil(seconds / 60)
    wait = (
        _n("Wait a second, then try again.", "Wait %(num)s seconds, then try again.", seconds)
        if seconds < 100
        else _n("Wait a minute, then try again.", "Wait %(num)s minutes, then try again.", minutes)
    )
    advice = _(
        "Nothing was changed. Your seats and waitlist positions are safe. %(wait)s", wait=wait
    )
    return Message(MESSAGES[429].title, advice), {"Retry-After": str(seconds)}


def refused_often() -> ResponseReturnValue | None:
    """Count a refusal; return a brief answer for a client with too many refusals, else None."""
    wait = request_limits.refusal_wait()
    return _briefly(wait) if wait else None


def _briefly(seconds: int) -> ResponseReturnValue:
    """Return a refusal that costs almost nothing to make."""
    message, later = _slower(seconds)
    if request.path.startswith("/api/"):
        return problem(429, message, later)
    later["HX-Reswap"] = "none"
    return Response(f"{message.title}. {message.advice}\n", 429, later, mimetype="text/plain")


def _broken(error: Exception) -> ResponseReturnValue:
    log.error("Unexpected error, correlation %s", correlation(), exc_info=error)
    return answer(500, MESSAGES[500])
