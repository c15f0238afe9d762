"""Insiders, who may see the portal's status: this machine, monitors with the token, and admins."""

from contextlib import suppress
from ipaddress import ip_address

from flask import current_app, g, request
from flask_login import current_user

from portal.core import metrics
from portal.core.cache import AWAY

FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-Ip")


def from_this_machine() -> bool:
    """Return whether the request comes from this machine without a proxy."""
    forwarded = any(name in request.headers for name in FORWARDED)
    try:
        return ip_address(request.remote_addr or "").is_loopback and not forwarded
    except ValueError:
        return False


def has_token() -> bool:
    """Return whether the request has the token of FAIRSEAT_METRICS_TOKEN, if one is set."""
    token = current_app.config["SETTINGS"].metrics_token
    return bool(token) and metrics.admits(request.headers.get("Authorization", ""), token)


def is_admin() -> bool:
    """Return whether an admin asks, with a session or with an access token that may read."""
    with suppress(*AWAY):  # while PostgreSQL is unavailable the account is unknown
        roles: frozenset[str] = getattr(current_user, "roles", frozenset())
        return "admin" in roles and "read" in g.get("scopes", {"read"})
    return False
