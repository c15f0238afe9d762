"""Web servers as in production: gunicorn with gevent, each a process of its own.

Each is forked from a process that has imported the portal already. A test of the start itself, or
of what a web server imports, must start Python instead.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path

from portal.runtime.child_process import Child
from tests.forked import ForkedChild, Template
from tests.ports import free_port

TEMPLATE = Template("tests.preloaded_nodes")


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
    """Yield a web server that runs until the block ends.

    A fixture that starts one has at most the scope of a package: a web process reports to the
    ledger regularly. That would disturb later tests of the same pytest process.
    """
    port = port or free_port()
    command = ["--config", "python:portal.runtime.gunicorn_settings", app]
    settings = {"FAIRSEAT_BIND": f"127.0.0.1:{port}", "WEB_CONCURRENCY": "1", **(env or {})}
    log = folder / f"web-{port}.log"
    child = ForkedChild(f"web-{port}", command, log, settings, template=TEMPLATE)
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
