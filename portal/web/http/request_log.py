"""Log lines for refused requests and for the result of each login."""

import logging

from flask import Flask, Response, g, request, session

from portal.core import logs
from portal.core.correlation import correlation
from portal.web.http.request_info import READS, client_address, subscriber_network
from portal.web.http.request_metrics import METHODS, took

log = logging.getLogger(__name__)

NO_HTTP = "Invalid request from ip="
BROKEN = "Error handling request"
TURNED_AWAY = {400, 401, 403, 408, 413, 429}
LOGIN_EVENTS = {
    ("login.log_in", 302): "logged in",
    ("login.log_in", 422): "failed to log in",
    ("login.log_out", 302): "logged out",
    ("oidc.come_back", 302): "logged in",
    ("oidc.come_back", 403): "failed to log in",
}


def start(app: Flask) -> None:
    """Log responses that need it."""
    app.after_request(_note)


def _note(response: Response) -> Response:
    status = response.status_code
    event = LOGIN_EVENTS.get((request.endpoint or "", status))
    if event and (event != "logged out" or _account() or _is_new(status)):
        _log_text(event)
    elif status in TURNED_AWAY and _is_new(status):
        _log_text(f"turned away with {status}")
    elif _may_change(status) and (_account() or _is_new(status)):
        _answered(response)
    return response


def _may_change(status: int) -> bool:
    return request.method not in READS and status not in TURNED_AWAY


def _log_text(what: str) -> None:
    log.info(
        "%s %s %s, account %s, from %s, code %s",
        what,
        _method(),
        _route(),
        _account() or "unknown",
        request.remote_addr,
        correlation(),
    )


def _answered(response: Response) -> None:
    """Log a request that may have changed something, without the values in its address."""
    ms = round(took() * 1000, 1)
    route = _route()
    facts = {"route": route, "status": response.status_code, "ms": ms, "account": _account()}
    log.info("%s %s: %d", _method(), route, response.status_code, extra=facts)


def _route() -> str:
    """Return the route's pattern, never the address: a calendar's address is a secret."""
    return str(request.url_rule or "nowhere")


def _method() -> str:
    return request.method if request.method in METHODS else "other"


def _account() -> str:
    """Return the account that asks, or the name of a login attempt, if it is known by now."""
    visitor = g.get("_login_user")  # Flask-Login's; asking it again could cost a query
    known = g.get("tried") or getattr(visitor, "actor", None) or session.get("_user_id", "")
    return str(known).partition(".")[0]


def _is_new(status: int) -> bool:
    return logs.is_new(status, request.endpoint, _account(), client_address())


def worth_writing(record: logging.LogRecord) -> bool:
    """Filter gunicorn's log: leave out request contents, which may be secret, and repetitions."""
    text = str(record.msg)
    if text.startswith(NO_HTTP):
        address = text.removeprefix(NO_HTTP).partition(": ")[0]
        record.msg, record.args = "Refused a request that is not HTTP, from %s", (address,)
        return logs.is_new("not HTTP", subscriber_network(address))
    if text.startswith(BROKEN):
        record.msg, record.args = "Error handling a request", ()
    return True
