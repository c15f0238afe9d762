"""`GET /metrics`: one scrape tells of every process of this node, and of the ledger's state."""

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
    """All figures in Prometheus' text, for whoever has the token or asks from this machine."""
    if not _admitted():
        abort(403)
    text = _counted() + generate_latest(prometheus.registry())
    return Response(text, content_type=CONTENT_TYPE_LATEST, headers={"Cache-Control": "no-store"})


def _admitted() -> bool:
    """By the token where one is set; else from this machine, with no proxy between."""
    if current_app.config["SETTINGS"].metrics_token:
        return insiders.has_token()
    return insiders.from_this_machine()


def _counted() -> bytes:
    """What the processes have counted; added up beside the event loop, where there is one."""
    if not is_module_patched("threading"):
        return metrics.counted()
    text: bytes = _pool().apply(metrics.counted)
    return text


@cache
def _pool() -> ThreadPool:
    return ThreadPool(1)
