"""Accepted host names: links are never built from a forged Host header."""

import re
from collections.abc import Collection
from ipaddress import ip_address
from socket import gethostname
from urllib.parse import urlsplit

from flask import Flask, Response, abort, current_app, g, request

from portal.core.i18n import _
from portal.core.settings import Settings

LOOPBACK = frozenset({"localhost", "127.0.0.1", "[::1]"})
PORT = re.compile(r":\d+$")


def start(app: Flask) -> None:
    """Refuse requests to any other host. Call this before code that reads the host."""
    app.before_request(_check)


def ours(host: str, settings: Settings) -> bool:
    """Return whether a Host header names us; Werkzeug gives "" for an invalid one."""
    return _ours(host, settings.hosts, settings.url)


def _check() -> None:
    # Accept requests without a Host header: load balancer health checks send none.
    if "Host" not in request.headers or ours(request.host, current_app.config["SETTINGS"]):
        return
    # Send plain text: a page needs addresses, which can't be built for an unknown host.
    g.skips_account = True  # the response's language needs no lookup of the account
    text = _("The portal does not accept this host name.")
    abort(Response(f"{text}\n", 400, mimetype="text/plain"))


def _ours(host: str, hosts: Collection[str], url: str) -> bool:
    name = PORT.sub("", host.lower())
    if name in LOOPBACK:
        return True
    if hosts:
        return name in hosts
    # Refuse a name that an attacker's DNS points here (DNS rebinding).
    return _is_address(name) or name in _own(url)


def _is_address(name: str) -> bool:
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return True


def _own(url: str) -> Collection[str]:
    machine = gethostname().lower()
    return {urlsplit(url).hostname or machine, machine, f"{machine}.local"}
