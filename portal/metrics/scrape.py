"""`GET /metrics`: one scrape tells of every process of this node, and of the ledger's state."""

import os
from functools import cache
from hmac import compare_digest
from ipaddress import ip_address
from pathlib import Path

from flask import Blueprint, Response, abort, current_app, request
from flask.typing import ResponseReturnValue
from gevent.monkey import is_module_patched
from gevent.threadpool import ThreadPool
from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

from portal.access import public
from portal.metrics import gathered

FORWARDED = ("Forwarded", "X-Forwarded-For", "X-Real-Ip")

bp = Blueprint("metrics", __name__)


@bp.get("/metrics")
@public
def scrape() -> ResponseReturnValue:
    """All figures in Prometheus' text, for whoever has the token or asks from this machine."""
    if not _admitted():
        abort(403)
    text = _counted() + generate_latest(gathered.registry())
    return Response(text, content_type=CONTENT_TYPE_LATEST, headers={"Cache-Control": "no-store"})


def _admitted() -> bool:
    """By the token where one is set; else from this machine, with no proxy between."""
    token = current_app.config["SETTINGS"].metrics_token
    if token:
        brought = request.headers.get("Authorization", "")
        return compare_digest(brought.encode(), f"Bearer {token}".encode())
    forwarded = any(name in request.headers for name in FORWARDED)
    try:
        return ip_address(request.remote_addr or "").is_loopback and not forwarded
    except ValueError:
        return False


def _counted() -> bytes:
    """What the processes have counted; added up beside the event loop, where there is one."""
    folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    if not folder:
        return generate_latest(REGISTRY)
    if not is_module_patched("threading"):
        return _added_up(folder)
    text: bytes = _pool().apply(_added_up, (folder,))
    return text


def _added_up(folder: str) -> bytes:
    for file in Path(folder).glob("gauge_live*_*.db"):
        process = int(file.stem.rpartition("_")[2])
        if not Path(f"/proc/{process}").exists():
            mark_process_dead(process, folder)  # type: ignore[no-untyped-call]
    registry = CollectorRegistry()
    MultiProcessCollector(registry, folder)  # type: ignore[no-untyped-call]
    return generate_latest(registry)


@cache
def _pool() -> ThreadPool:
    return ThreadPool(1)
