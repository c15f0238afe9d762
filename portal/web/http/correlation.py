"""The correlation code of each request: from a trusted proxy, else a new one."""

from secrets import token_hex

from flask import Flask, Response, current_app, g, has_request_context, request

from portal.core.correlation import FORM, HEADER, correlation, find_by


def start(app: Flask) -> None:
    """Give each request a code, and send it with every response."""
    find_by(_of_request, _route)
    app.after_request(_send)


def _of_request() -> str:
    if not has_request_context():
        return ""
    if "correlation" not in g:
        g.correlation = _from_proxy() or token_hex(8)
    return str(g.correlation)


def _route() -> str:
    rule = request.url_rule if has_request_context() else None
    return rule.rule if rule else ""


def _from_proxy() -> str:
    """Return the code that our own proxy has set; other clients can't choose one."""
    if not current_app.config["SETTINGS"].proxies:
        return ""
    found = request.headers.get(HEADER, "")
    return found if FORM.fullmatch(found) else ""


def _send(response: Response) -> Response:
    response.headers[HEADER] = correlation()
    return response
