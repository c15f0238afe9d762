"""What measurements run against: servers of their own, the portal's processes, and patience."""

import os
import socket
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path

from portal.core import schema
from portal.runtime.child_process import Child
from portal.runtime.data_folder import DataFolder
from portal.runtime.embedded_servers import Servers

ROOT = Path(__file__).resolve().parent.parent


def servers(stack: ExitStack, *, durable: bool = True) -> DataFolder:
    """Start PostgreSQL and the ledger, empty; gives their folder."""
    folder = DataFolder(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "var")
    folder.own()
    found = Servers(folder, durable=durable)
    found.start()
    stack.callback(folder.release)
    stack.callback(found.stop)
    # As the owner of the tables: some that are compared with make tables of their own.
    owner = {"DATABASE_URL": found.owner_url}
    os.environ.update(found.all_urls() | owner, SECRET_KEY="for the bench alone")
    schema.upgrade(found.owner_url)
    return folder


def cli(*arguments: str) -> list[str]:
    """The command line of a `fairseat` command."""
    return [sys.executable, "-m", "portal.runtime.cli", *arguments]


def web(folder: DataFolder, name: str, port: int, app: str, **settings: str) -> Child:
    """A web server with the portal's own gunicorn settings."""
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
    """Start a child that the stack stops."""
    child.start()
    stack.callback(child.stop)
    return child


def free_port() -> int:
    """A port that nobody listens on: another's server would be measured in place of ours."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def patiently(child: Child, action: Callable[[], object], seconds: float = 30) -> None:
    """Try until the child, a server, answers; stops where it has ended or takes too long."""
    deadline = time.monotonic() + seconds
    while child.alive and time.monotonic() < deadline:
        with suppress(ConnectionError):
            action()
            return
        time.sleep(0.2)
    raise SystemExit(f"{child.name} did not come up: {child.last_output()}")
