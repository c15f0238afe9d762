"""Who was turned away, and what came of each login: a line each in the log."""

import logging
from threading import Lock
from urllib.parse import quote

from cachetools import TTLCache
from flask import Flask, Response, g, request, session

from portal.edge.addresses import client
from portal.edge.counted import took
from portal.ops.correlation import correlation

log = logging.getLogger(__name__)

READS = {"GET", "HEAD", "OPTIONS"}
TURNED_AWAY = {400, 401, 403, 408, 413, 429}
DEEDS = {
    ("login.log_in", 302): "logged in",
    ("login.log_in", 422): "failed to log in",
    ("login.log_out", 302): "logged out",
    ("oidc.come_back", 302): "logged in",
    ("oidc.come_back", 403): "failed to log in",
}
# The same again within these seconds is not said again: no flood drowns what else there is to read.
SAID_SECONDS = 10


def start(app: Flask) -> None:
    """Look at every answer."""
    app.after_request(_note)


def forget() -> None:
    """Say again what has been said."""
    with _lock:
        _said.clear()


def _note(response: Response) -> Response:
    deed = DEEDS.get((request.endpoint or "", response.status_code))
    if deed or (response.status_code in TURNED_AWAY and _is_new(response.status_code)):
        log.info(
            "%s %s %s, account %s, from %s, code %s",
            deed or f"turned away with {response.status_code}",
            request.method,
            quote(request.path),  # which may hold line breaks
            _account() or "unknown",
            request.remote_addr,
            correlation(),
        )
    elif request.method not in READS and response.status_code not in TURNED_AWAY:
        _answered(response)
    return response


def _answered(response: Response) -> None:
    """A line for whatever may have changed something, without what the address names."""
    ms = round(took() * 1000, 1)
    route = str(request.url_rule or "nowhere")
    facts = {"route": route, "status": response.status_code, "ms": ms, "account": _account()}
    log.info("%s %s: %d", request.method, route, response.status_code, extra=facts)


def _account() -> str:
    """The account whose name was tried, or that asks, as far as that is known by now."""
    visitor = g.get("_login_user")  # Flask-Login's; to ask it anew could take a query
    known = g.get("tried") or getattr(visitor, "id", None) or session.get("_user_id", "")
    return str(known).partition(".")[0]


def _is_new(status: int) -> bool:
    key = status, request.endpoint, _account(), client()
    with _lock:
        new = key not in _said
        _said[key] = True
    return new


_said: TTLCache[tuple[int, str | None, str, str], bool] = TTLCache(10_000, SAID_SECONDS)
_lock = Lock()
