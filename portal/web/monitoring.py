"""Health checks and metrics, for load balancers, monitors and operators.

Insiders see more: this machine, monitors with the token of FAIRSEAT_METRICS_TOKEN, and admins.
"""

from contextlib import suppress
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from ipaddress import ip_address
from typing import Any

from flask import Blueprint, Response, abort, current_app, g, jsonify, request
from flask.typing import ResponseReturnValue
from flask_login import current_user
from gevent.monkey import is_module_patched
from gevent.threadpool import ThreadPool
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest
from redis import RedisError

from portal.backend import backend
from portal.core import metrics
from portal.core.cache import AWAY
from portal.core.settings import Settings
from portal.operations import dead_letters, prometheus
from portal.operations.health_checks import PROMISED, Checks
from portal.people.roles import Right, rights_of
from portal.web.http.access import public

FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-Ip")

health_bp = Blueprint("health", __name__)
metrics_bp = Blueprint("metrics", __name__)


@health_bp.get("/live")
@public
def live() -> ResponseReturnValue:
    """Return 200 while this process responds at all."""
    return jsonify(status="alive")


@health_bp.get("/ready")
@public
def ready() -> ResponseReturnValue:
    """Return 200 if ledger, database and workers can serve, else 503.

    Insiders also see the missing parts, and how many replicas have the ledger's decisions.
    """
    results = checks(backend().settings)
    missing = [*results.missing(), *_ending()]
    content: dict[str, Any] = {"ready": not missing}
    if _insider():
        content |= {"missing": missing, "replicas": results.replicas}
    return jsonify(content), 503 if missing else 200


@health_bp.get("/health")
@public
def health() -> ResponseReturnValue:
    """Return the health in one word; insiders see the state of each service and the version."""
    results = checks(backend().settings)
    missing = results.missing()
    content: dict[str, Any] = {"status": _state(not missing)}
    if _insider():
        content |= _inside(missing) | {"replicas": results.replicas}
    return jsonify(content), 503 if missing else 200


def _inside(missing: list[str]) -> dict[str, Any]:
    services = {
        "database": "database" not in missing,
        "cache": "ledger" not in missing,
        "queue": not any(f"{queue} worker" in missing for queue in PROMISED),
    }
    return {
        "timestamp": datetime.now(UTC).isoformat(timespec="seconds"),
        "version": version("fairseat"),
        "services": {name: _state(well) for name, well in services.items()},
        "dead_letters": _dead_letters() if services["cache"] else None,
    }


def _insider() -> bool:
    """Return whether the client may see more than a load balancer needs."""
    return from_this_machine() or has_token() or sees_operations()


def _ending() -> list[str]:
    """Return the problems that a stopping process reports, over connections it still has."""
    hub = current_app.extensions.get("live")
    return ["this process, which is ending"] if hub and hub.leaving else []


def _dead_letters() -> dict[str, int] | None:
    """Return how many jobs of each queue are dead; None if this is unknown."""
    try:
        return dead_letters.counts(checks(backend().settings).redis)
    except RedisError:
        return None


def _state(well: bool) -> str:  # noqa: FBT001  the state itself
    return "healthy" if well else "unhealthy"


@cache
def checks(settings: Settings) -> Checks:
    return Checks(settings)


# Metrics: one scrape returns every process of this node, and the ledger's state


@metrics_bp.get("/metrics")
@public
def scrape() -> ResponseReturnValue:
    """Return all metrics in Prometheus' text format, to token holders or to this machine."""
    if not _admitted():
        abort(403)
    text = _counted() + generate_latest(prometheus.registry)
    return Response(text, content_type=CONTENT_TYPE_LATEST)


def _admitted() -> bool:
    """Return whether the token is valid if one is set; else whether this machine asks directly."""
    if current_app.config["SETTINGS"].metrics_token:
        return has_token()
    return from_this_machine()


def _counted() -> bytes:
    """Return the counts of all processes, added up in a thread if there is an event loop."""
    if not is_module_patched("threading"):
        return metrics.counted()
    text: bytes = _pool().apply(metrics.counted)
    return text


@cache
def _pool() -> ThreadPool:
    return ThreadPool(1)


# Insiders


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


def sees_operations() -> bool:
    """Return whether one who may see operations asks, with a session or a token that may read."""
    with suppress(*AWAY):  # while PostgreSQL is unavailable the account is unknown
        roles: frozenset[str] = getattr(current_user, "roles", frozenset())
        return Right.SEE_OPERATIONS in rights_of(roles) and "read" in g.get("scopes", {"read"})
    return False
