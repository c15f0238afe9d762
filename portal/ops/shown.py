"""What processes have counted, shown to Prometheus; by those without a web server at a port."""

import os
from collections.abc import Iterable
from functools import partial
from hmac import compare_digest
from pathlib import Path
from socketserver import ThreadingMixIn
from threading import Thread
from typing import TYPE_CHECKING, Any
from wsgiref.simple_server import WSGIRequestHandler, WSGIServer, make_server

from prometheus_client import CONTENT_TYPE_LATEST, REGISTRY, CollectorRegistry, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector, mark_process_dead

if TYPE_CHECKING:
    from wsgiref.types import StartResponse, WSGIEnvironment

SILENCE = 10  # seconds that a caller may take to say what it wants


def counted() -> bytes:
    """What this process has counted, or all that share a folder of counts with it."""
    folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
    return _added_up(folder) if folder else generate_latest(REGISTRY)


def admits(brought: str, token: str) -> bool:
    """Whether what a request brought as its `Authorization` has the token."""
    return compare_digest(brought.encode(), f"Bearer {token}".encode())


def at(port: int, token: str) -> None:
    """Show it from now on to whoever has the token; without one, to this machine alone."""
    host = "0.0.0.0" if token else "127.0.0.1"  # noqa: S104  whoever comes needs the token
    server = make_server(host, port, partial(_answer, token), _Server, _Caller)
    Thread(target=server.serve_forever, daemon=True, name="shows").start()


class _Server(ThreadingMixIn, WSGIServer):
    daemon_threads = True


class _Caller(WSGIRequestHandler):
    timeout = SILENCE

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002  its signature
        """Say nothing: it would fill the log."""


def _answer(token: str, asked: "WSGIEnvironment", begin: "StartResponse") -> Iterable[bytes]:
    path, brought = asked["PATH_INFO"], asked.get("HTTP_AUTHORIZATION", "")
    status, said = "404 Not Found", b""
    if path == "/live":
        status, said = "200 OK", b"alive\n"
    elif path == "/metrics" and token and not admits(brought, token):
        status = "403 Forbidden"
    elif path == "/metrics":
        status, said = "200 OK", counted()
    begin(status, [("Content-Type", CONTENT_TYPE_LATEST)])
    return [said]


def _added_up(folder: str) -> bytes:
    for file in Path(folder).glob("gauge_live*_*.db"):
        process = int(file.stem.rpartition("_")[2])
        if not Path(f"/proc/{process}").exists():
            mark_process_dead(process, folder)  # type: ignore[no-untyped-call]
    registry = CollectorRegistry()
    MultiProcessCollector(registry, folder)  # type: ignore[no-untyped-call]
    return generate_latest(registry)
