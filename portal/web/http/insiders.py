"""Who may see how the portal runs: this machine, monitors with the token, and admins."""

from contextlib import suppress
from ipaddress import ip_address

from flask import current_app, g, request
from flask_login import current_user

from portal.core import metrics
from portal.core.cache import AWAY

FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-Ip")


def from_this_machine() -> bool:
    """Whether the request comes from this machine, with no proxy between."""
    forwarded = any(name in request.headers for name in FORWARDED)
    try:
        return ip_address(request.remote_addr or "").is_loopback and not forwarded
    except ValueError:
        return False


def has_token() -> bool:
    """Whether it brings the token of FAIRSEAT_METRICS_TOKEN, where one is set."""
    token = current_app.config["SETTINGS"].metrics_token
    return bool(token) and metrics.admits(request.headers.get("Authorization", ""), token)


def is_admin() -> bool:
    """Whether an admin asks, by a session or by an access token that may read."""
    with suppress(*AWAY):  # nobody knows who asks while PostgreSQL is away
        roles: frozenset[str] = getattr(current_user, "roles", frozenset())
        return "admin" in roles and "read" in g.get("scopes", {"read"})
    return False
