"""Whether the portal lives, is well, and can serve: for operators and load balancers."""

from datetime import UTC, datetime
from functools import cache
from importlib.metadata import version

from flask import Blueprint, jsonify
from flask.typing import ResponseReturnValue
from redis import RedisError

from portal.access import public
from portal.backend import backend
from portal.config import Settings
from portal.ops import dead
from portal.ops.checks import PROMISED, Checks

bp = Blueprint("health", __name__)


@bp.get("/live")
@public
def live() -> ResponseReturnValue:
    """200 while this process answers at all."""
    return jsonify(status="alive")


@bp.get("/ready")
@public
def ready() -> ResponseReturnValue:
    """200 when ledger, database and workers can serve; else 503 and what is missing."""
    missing = checks(backend().settings).missing()
    return jsonify(ready=not missing, missing=missing), 503 if missing else 200


@bp.get("/health")
@public
def health() -> ResponseReturnValue:
    """The state of each service in words."""
    missing = checks(backend().settings).missing()
    services = {
        "database": "database" not in missing,
        "cache": "ledger" not in missing,
        "queue": not any(f"{queue} worker" in missing for queue in PROMISED),
    }
    body = jsonify(
        status=_word(not missing),
        timestamp=datetime.now(UTC).isoformat(timespec="seconds"),
        version=version("fairseat"),
        services={name: _word(well) for name, well in services.items()},
        dead_letters=_dead_letters() if services["cache"] else None,
    )
    return body, 503 if missing else 200


def _dead_letters() -> dict[str, int] | None:
    """How many jobs of each queue were given up; None where nobody can say."""
    try:
        return dead.counts(checks(backend().settings).redis)
    except RedisError:
        return None


def _word(well: bool) -> str:  # noqa: FBT001  what it puts into words
    return "healthy" if well else "unhealthy"


@cache
def checks(settings: Settings) -> Checks:
    """The checks of this process."""
    return Checks(settings.database_url, settings.redis_url)
