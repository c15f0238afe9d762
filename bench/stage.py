"""Temporary data servers, the portal's processes, and waiting for them, for benchmarks."""

import atexit
import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from functools import cache
from pathlib import Path

from portal.core import schema
from portal.runtime.child_process import Child
from portal.runtime.data_folder import DataFolder
from portal.runtime.embedded_servers import Servers

ROOT = Path(__file__).resolve().parent.parent


@cache
def lasting() -> ExitStack:
    """Return the stack that closes when this process ends."""
    stack = ExitStack()
    atexit.register(stack.close)
    return stack


def servers(stack: ExitStack, *, quick: bool = False) -> DataFolder:
    """Start an empty PostgreSQL and ledger; return their data folder.

    In a quick run nothing is flushed to disk, and the subjects of a process share the servers.
    """
    return _quick_servers() if quick else _servers(stack, durable=True)


@cache
def _quick_servers() -> DataFolder:
    return _servers(lasting(), durable=False)


def _servers(stack: ExitStack, *, durable: bool) -> DataFolder:
    folder = DataFolder(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "var")
    folder.own()
    found = Servers(folder, durable=durable)
    found.start()
    stack.callback(folder.release)
    stack.callback(found.stop)
    # Connect as the owner of the tables, because some baselines create tables.
    owner = {"DATABASE_URL": found.owner_url}
    os.environ.update(found.all_urls() | owner, SECRET_KEY="for the bench alone")
    os.environ["FAIRSEAT_CAPTCHA_COST"] = "1000"  # easy, because one machine solves it for all
    schema.upgrade(found.owner_url)
    return folder


def cli(*arguments: str) -> list[str]:
    """Return the command line of a `fairseat` command."""
    return [sys.executable, "-m", "portal.runtime.cli", *arguments]


def web(folder: DataFolder, name: str, port: int, app: str, **settings: str) -> Child:
    """Return a web server with the portal's own gunicorn settings, not started."""
    command = [
        sys.executable,
        "-m",
        "gunicorn",
        "-c",
        "python:portal.runtime.gunicorn_settings",
        app,
    ]
    counts = folder.path / "counts" / name
    counts.mkdir(parents=True, exist_ok=True)
    env = {"FAIRSEAT_BIND": f"127.0.0.1:{port}", "PYTHONPATH": str(ROOT)}
    env |= {"PROMETHEUS_MULTIPROC_DIR": str(counts), **settings}
    return Child(name, command, folder.log(name), env)


def started(stack: ExitStack, child: Child) -> Child:
    """Start a process that the stack kills; return it."""
    child.start()
    stack.callback(child.kill)  # a graceful stop takes seconds
    return child


def free_port() -> int:
    """Return a free port; on a port in use, another server would be measured."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def patiently(child: Child, action: Callable[[], object], seconds: float = 30) -> None:
    """Retry an action until the server accepts connections.

    Raise SystemExit if the server has ended or takes too long.
    """
    deadline = time.monotonic() + seconds
    while child.alive and time.monotonic() < deadline:
        with suppress(ConnectionError):
            action()
            return
        time.sleep(0.2)
    raise SystemExit(f"{child.name} did not come up: {child.last_output()}")
