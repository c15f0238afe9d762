"""Liveness, readiness and health checks, for operators and load balancers."""

from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version
from typing import Any

from flask import Blueprint, current_app, jsonify
from flask.typing import ResponseReturnValue
from redis import RedisError

from portal.backend import backend
from portal.core.settings import Settings
from portal.operations import dead_letters
from portal.operations.health_checks import PROMISED, Checks
from portal.web.http import insiders
from portal.web.http.access import public

bp = Blueprint("health", __name__)


@bp.get("/live")
@public
def live() -> ResponseReturnValue:
    """Return 200 while this process responds at all."""
    return jsonify(status="alive")


@bp.get("/ready")
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


@bp.get("/health")
@public
def health() -> ResponseReturnValue:
    """Return the health in one word; insiders see the state of each service and the version."""
    results = checks(backend().settings)
    missing = results.missing()
    content: dict[str, Any] = {"status": _word(not missing)}
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
        "services": {name: _word(well) for name, well in services.items()},
        "dead_letters": _dead_letters() if services["cache"] else None,
    }


def _insider() -> bool:
    """Return whether the client may see more than a load balancer needs."""
    return insiders.from_this_machine() or insiders.has_token() or insiders.is_admin()


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


def _word(well: bool) -> str:  # noqa: FBT001  what it puts into words
    return "healthy" if well else "unhealthy"


@cache
def checks(settings: Settings) -> Checks:
    """Return the checks of this process."""
    return Checks(settings.database_url, settings.redis_url, settings.replicas)
