"""Metrics of this process; /metrics adds those of all processes of the node.

If PROMETHEUS_MULTIPROC_DIR names a folder, each process counts in its own files there.
"""

import os
from collections.abc import Iterable
from functools import partial
from hmac import compare_digest
from pathlib import Path
from socketserver import ThreadingMixIn
from threading import Thread
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    REGISTRY,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment


SOON = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
LATER = (0.05, 0.1, 0.25, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 300.0)

PROCESSES = Gauge(
    "fairseat_processes", "Processes that live, by kind", ["kind"], multiprocess_mode="livesum"
)
REQUESTS = Counter("fairseat_requests", "Requests answered", ["route", "method", "status"])
REQUEST_TIME = Histogram(
    "fairseat_request_seconds", "Time to answer a request", ["route", "method"], buckets=SOON
)
DROPPED = Counter(
    "fairseat_requests_dropped", "Requests not worked on, as their clients had hung up"
)
DECISIONS = Counter("fairseat_decisions", "Decisions about students' requests", ["act", "outcome"])
REFUSALS = Counter("fairseat_refusals", "Reasons of refusals", ["reason"])
DECISION_TIME = Histogram(
    "fairseat_decision_seconds", "Time until the ledger has decided", ["act"], buckets=SOON
)
SOCKETS = Gauge("fairseat_sockets", "Pages with an open socket", multiprocess_mode="livesum")
FRAMES = Counter("fairseat_frames", "Frames sent to pages")
JOBS = Counter("fairseat_jobs", "Jobs done or failed", ["queue", "outcome"])
JOB_TIME = Histogram("fairseat_job_seconds", "Time that a job takes", ["queue"], buckets=LATER)
EVENT_LAG = Histogram(
    "fairseat_event_lag_seconds",
    "Time from a decision about a student until it is recorded",
    buckets=LATER,
)
CONNECTIONS = Gauge(
    "fairseat_pool_connections",
    "Connections in use",
    ["kind", "store"],
    multiprocess_mode="livesum",
)
CONNECTIONS_LIMIT = Gauge(
    "fairseat_pool_limit",
    "Connections that may be in use",
    ["kind", "store"],
    multiprocess_mode="livesum",
)
MEMORY = Gauge(
    "fairseat_memory_bytes", "Resident memory of processes", ["kind"], multiprocess_mode="livesum"
)
WEBHOOKS = Counter("fairseat_webhooks", "Tries to tell receivers of events", ["outcome"])
DOCUMENTS = Counter("fairseat_documents", "Checks of documents", ["outcome"])
CHARGES = Counter("fairseat_charges", "Calls to the payment provider", ["outcome"])
MAILS = Counter("fairseat_mails", "Mails sent, put off or given up", ["outcome"])


def begin(kind: str) -> None:
    """Count this process as running.

    A process that shares no folder with a web server serves its metrics at
    FAIRSEAT_METRICS_PORT. Clients need the token, as with the web's `/metrics`. Without a token,
    only this machine may read them.
    """
    PROCESSES.labels(kind).set(1)
    port = os.environ.get("FAIRSEAT_METRICS_PORT")
    if port and kind != "web":
        at(int(port), os.environ.get("FAIRSEAT_METRICS_TOKEN", ""))


# The processes' metrics for Prometheus; processes without a web server open a port.

SILENCE = 10  # seconds for a client to send its request


def counted() -> bytes:
    """Return the metrics of this process, or of every process that shares its folder."""
    folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    return _added_up(folder) if folder else generate_latest(REGISTRY)


def admits(header: str, token: str) -> bool:
    """Return whether a request's `Authorization` header has the token."""
    return compare_digest(header.encode(), f"Bearer {token}".encode())


def at(port: int, token: str) -> None:
    """Serve the metrics at the port to clients with the token; without one, to this machine."""
    host = "0.0.0.0" if token else "127.0.0.1"  # noqa: S104  whoever comes needs the token
    server = make_server(host, port, partial(_answer, token), _Server, _Handler)
    Thread(target=server.serve_forever, daemon=True, name="shows").start()


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Handler(WSGIRequestHandler):
    timeout = SILENCE

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  its signature
        """Do nothing: it would fill the log."""


def _answer(token: str, environ: "WSGIEnvironment", begin: "StartResponse") -> Iterable[bytes]:
    path, header = environ["PATH_INFO"], environ.get("HTTP_AUTHORIZATION", "")
    status, content = "404 Not Found", b""
    if path == "/live":
        status, content = "200 OK", b"alive\n"
    elif path == "/metrics" and token and not admits(header, token):
        status = "403 Forbidden"
    elif path == "/metrics":
        status, content = "200 OK", counted()
    begin(status, [("Content-Type", CONTENT_TYPE_LATEST)])
    return [content]


def _added_up(folder: str) -> bytes:
    for file in Path(folder).glob("gauge_live*_*.db"):
        process = int(file.stem.rpartition("_")[2])
        if not Path(f"/proc/{process}").exists():
            mark_process_dead(process, folder)  # type: ignore[no-untyped-call]
    registry = CollectorRegistry()
    _Counts(registry, folder)  # type: ignore[no-untyped-call]
    return generate_latest(registry)


class _Counts(MultiProcessCollector):
    """The counts of all processes, apart from files that a process has just created."""

    def collect(self) -> Any:
        files = [str(file) for file in Path(self._path).glob("*.db") if _is_filled(file)]
        return self.merge(files)  # type: ignore[no-untyped-call]


def _is_filled(file: Path) -> bool:
    try:
        return file.stat().st_size > 0
    except FileNotFoundError:  # its process has ended
        return False
