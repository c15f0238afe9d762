"""`GET /metrics`: one scrape returns every process of this node, and the ledger's state."""

from functools import cache

from flask import Blueprint, Response, abort, current_app
from flask.typing import ResponseReturnValue
from gevent.monkey import is_module_patched
from gevent.threadpool import ThreadPool
from prometheus_client import CONTENT_TYPE_LATEST, generate_latest

from portal.core import metrics
from portal.operations import prometheus
from portal.web.http import insiders
from portal.web.http.access import public

bp = Blueprint("metrics", __name__)


@bp.get("/metrics")
@public
def scrape() -> ResponseReturnValue:
    """Return all metrics in Prometheus' text format, to token holders or to this machine."""
    if not _admitted():
        abort(403)
    text = _counted() + generate_latest(prometheus.registry)
    return Response(text, content_type=CONTENT_TYPE_LATEST, headers={"Cache-Control": "no-store"})


def _admitted() -> bool:
    """Return whether the token is valid if one is set; else whether this machine asks directly."""
    if current_app.config["SETTINGS"].metrics_token:
        return insiders.has_token()
    return insiders.from_this_machine()


def _counted() -> bytes:
    """Return the counts of all processes, added up in a thread if there is an event loop."""
    if not is_module_patched("threading"):
        return metrics.counted()
    text: bytes = _pool().apply(metrics.counted)
    return text


@cache
def _pool() -> ThreadPool:
    return ThreadPool(1)
