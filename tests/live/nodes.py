"""Web servers as in production: gunicorn with gevent, each a process of its own."""

import socket
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

from portal.runtime.child_process import Child


@dataclass
class Node:
    """A running web server."""

    port: int
    child: Child

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    @property
    def origin(self) -> str:
        return f"http://{self.host}"


@contextmanager
def a_node(
    folder: Path, env: dict[str, str] | None = None, app: str = "wsgi:app", port: int = 0
) -> Iterator[Node]:
    """A web server that answers until the block ends."""
    port = port or free_port()
    command = [
        sys.executable,
        "-m",
        "gunicorn",
        "--config",
        "python:portal.runtime.gunicorn_settings",
        app,
    ]
    settings = {"FAIRSEAT_BIND": f"127.0.0.1:{port}", "WEB_CONCURRENCY": "1", **(env or {})}
    child = Child(f"web-{port}", command, folder / f"web-{port}.log", settings)
    child.start()
    node = Node(port, child)
    try:
        _wait(node)
        yield node
    finally:
        child.stop()  # in its own time, as what it leaves behind is looked at


def _wait(node: Node) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        line = HTTPConnection("127.0.0.1", node.port, timeout=30)
        try:
            line.request("GET", "/clock")
            line.getresponse().read()
        except OSError:
            assert node.child.alive, node.child.last_output(40)
            time.sleep(0.1)
        else:
            return
        finally:
            line.close()
    raise AssertionError(node.child.last_output(40))


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
