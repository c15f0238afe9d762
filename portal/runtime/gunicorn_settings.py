"""Gunicorn's settings: one process per core, with gevent for requests and sockets."""

import gc
import os
import resource
from pathlib import Path
from shutil import rmtree
from tempfile import mkdtemp
from threading import Event, Thread
from typing import Any

from gevent import monkey
from gunicorn.glogging import Logger
from psycogreen.gevent import gevent_wait_callback
from psycopg2 import OperationalError
from psycopg2.extensions import STATUS_SETUP, set_wait_callback

from portal.core import logs

# Seconds that PostgreSQL may stay silent. Workers wait as long as a statement may take
# (portal/core/db.py), visitors do not. PostgreSQL ends abandoned statements by its
# statement_timeout.
TIMEOUT = 5.0
COUNTS = "fairseat-metrics-"
AGAIN = 1.0  # for a new connection, after a timeout and until it answers again

wsgi_app = "portal.app:create_app()"
bind = os.environ.get("FAIRSEAT_BIND") or "{}:{}".format(
    os.environ.get("HOST", "127.0.0.1"), os.environ.get("PORT", "8000")
)
backlog = 4096
workers = int(os.environ.get("WEB_CONCURRENCY") or os.cpu_count() or 1)
worker_class = "portal.runtime.gunicorn_worker.Worker"
worker_connections = 10_000  # per process: requests and open websockets together
worker_tmp_dir = "/dev/shm" if Path("/dev/shm").is_dir() else None  # noqa: S108  heartbeats
keepalive = 15
timeout = 30
graceful_timeout = 5
# Only FAIRSEAT_PROXIES says which proxies to trust.
forwarded_allow_ips = ""
forwarder_headers = ""
limit_request_line = 4094
limit_request_fields = 64
limit_request_field_size = 8190
control_socket_disable = True
errorlog = "-"
accesslog = None

_silent = Event()


class Log(Logger):  # type: ignore[misc]
    """Gunicorn's log, in the same form as that of every other process."""

    def setup(self, cfg: Any) -> None:
        """Add no handlers of its own."""
        super().setup(cfg)
        self.error_log.handlers.clear()
        self.error_log.propagate = True
        logs.begin("web")


logger_class = Log


def on_starting(server: Any) -> None:  # noqa: ARG001  gunicorn's signature
    """Import the portal once for all web processes, before the port opens.

    Each process makes its own application after its fork: no connection and no thread is shared.
    The processes share a folder for metrics; make one if the environment names none.
    """
    if "PROMETHEUS_MULTIPROC_DIR" not in os.environ:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = mkdtemp(prefix=COUNTS)
    # Imported modules must find gevent's patches in place. Signals and forks stay gunicorn's own
    # until a process is forked (portal/runtime/gunicorn_worker.py).
    monkey.patch_all(os=False, signal=False)
    gc.disable()  # until all is imported: it would find nothing
    from sqlalchemy.orm import configure_mappers  # noqa: PLC0415

    import portal.web.api  # noqa: PLC0415
    import portal.web.blueprints  # noqa: PLC0415, F401

    configure_mappers()
    gc.collect()
    gc.freeze()  # shared memory stays shared
    gc.enable()
    _wait_until_prepared()


def _wait_until_prepared() -> None:
    """Wait for a process that migrates the database and fills the ledger, if there is one."""
    # gevent's version would start a loop before the fork
    sleep = monkey.get_original("time", "sleep")
    if prepared := os.environ.get("FAIRSEAT_PREPARED"):
        while not Path(prepared).exists():
            sleep(0.05)


def on_exit(server: Any) -> None:  # noqa: ARG001  gunicorn's signature
    """Remove our metrics folder."""
    folder = Path(os.environ["PROMETHEUS_MULTIPROC_DIR"])
    if folder.name.startswith(COUNTS):
        rmtree(folder, ignore_errors=True)


def post_fork(server: Any, worker: Any) -> None:  # noqa: ARG001  gunicorn's signature
    """Let other requests run while one waits for PostgreSQL."""
    set_wait_callback(_wait)


def post_worker_init(worker: Any) -> None:
    """Fill caches and start live updates before the first request; close sockets at the end."""
    from portal.backend import backend  # noqa: PLC0415
    from portal.core import flags, latency, metrics, redis_clients, resources  # noqa: PLC0415
    from portal.live.hub import close_pages_on_exit  # noqa: PLC0415
    from portal.web.http import request_log, slow_clients  # noqa: PLC0415
    from portal.windows import readiness  # noqa: PLC0415

    worker.log.error_log.addFilter(slow_clients.keep_record)
    worker.log.error_log.addFilter(request_log.worth_writing)
    metrics.begin("web")
    flags.begin()
    if hub := worker.wsgi.extensions.get("live"):  # an app under test may have none
        hub.start()
        resources.watch("web", backend().engine, backend().ledger.servers)
        close_pages_on_exit(worker, hub)
        # A connection of its own: in a rush, requests wait for those of the others.
        own = redis_clients.commands(backend().settings.queue_url, size=1)
        Thread(
            target=latency.send_forever, args=(own, Event()), daemon=True, name="answers"
        ).start()
    readiness.read_ahead()
    resources.collect_seldom()
    Thread(target=readiness.watch, args=(Event(),), daemon=True, name="warmth").start()
    if started := os.environ.get("FAIRSEAT_STARTED"):  # the supervisor waits for it
        Path(started).touch()


def _wait(connection: Any) -> None:
    # psycopg2's own timeouts do not work here: a silent server would block a request forever.
    connecting = connection.status == STATUS_SETUP
    try:
        gevent_wait_callback(
            connection, timeout=AGAIN if connecting and _silent.is_set() else TIMEOUT
        )
    except TimeoutError as error:
        _silent.set()
        raise OperationalError("PostgreSQL has been silent for too long") from error
    _silent.clear()


def _raise_file_limit() -> None:
    """Raise the limit of open files: every open page is one, and the usual limit is 1,024."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = workers * worker_connections + 1_000
    if hard != resource.RLIM_INFINITY:
        wanted = min(wanted, hard)
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))


_raise_file_limit()
