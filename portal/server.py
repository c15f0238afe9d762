"""Gunicorn's settings: one process a core, each with gevent for its requests and sockets."""

import os
import resource
from pathlib import Path
from typing import Any

from psycogreen.gevent import gevent_wait_callback
from psycopg2 import OperationalError
from psycopg2.extensions import set_wait_callback

PATIENCE = 20.0  # seconds that PostgreSQL may stay silent: longer than a statement may take

wsgi_app = "wsgi:app"
chdir = str(Path(__file__).resolve().parent.parent)
bind = os.environ.get("FAIRSEAT_BIND") or "{}:{}".format(
    os.environ.get("HOST", "127.0.0.1"), os.environ.get("PORT", "8000")
)
backlog = 4096
workers = int(os.environ.get("WEB_CONCURRENCY") or os.cpu_count() or 1)
worker_class = "gevent"
worker_connections = 10_000  # of a process: requests and open websockets together
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108  heartbeats
keepalive = 15
timeout = 30
graceful_timeout = 5
forwarded_allow_ips = "127.0.0.1,::1"
control_socket_disable = True
errorlog = "-"
accesslog = None


def post_fork(server: Any, worker: Any) -> None:  # noqa: ARG001  gunicorn's signature
    """Let other requests run while one waits for PostgreSQL."""
    set_wait_callback(_wait)


def post_worker_init(worker: Any) -> None:
    """Read what is offered before the first visitor comes, and see open pages off at the end."""
    from portal.catalog import board  # noqa: PLC0415  only after gevent has patched
    from portal.live import leaving  # noqa: PLC0415

    leaving.watch(worker, worker.wsgi)
    board.preload()


def _wait(connection: Any) -> None:
    # psycopg2's own limits don't hold here: a silent server would keep a request for ever.
    try:
        gevent_wait_callback(connection, timeout=PATIENCE)
    except TimeoutError as error:
        raise OperationalError("PostgreSQL has been silent for too long") from error


def _raise_file_limit() -> None:
    """Every open page is a file to the system, whose usual limit is 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = workers * worker_connections + 1_000
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


_raise_file_limit()
