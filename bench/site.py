"""One portal for all that is measured in a process: servers, workers, and web servers by name."""

import atexit
from contextlib import ExitStack
from functools import cache
from itertools import count
from typing import TYPE_CHECKING

from bench import load, stage
from bench.stage import cli, patiently, started
from portal import create_app
from portal.config import Settings
from portal.running.children import Child

if TYPE_CHECKING:
    from flask import Flask

    from portal.embedded.folder import Folder

HELLO = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
CONNECTIONS = 64
PORTS = count(8801)


class Site:
    """The portal whose workers record what is claimed; its web servers start when asked for."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self.folder: Folder = stage.servers(stack)
        self.app: Flask = create_app(Settings.read())
        for queue in ("record", "promote", "maintain"):
            started(stack, Child(queue, cli("worker", queue), self.folder.log(queue)))
        started(stack, Child("clock", cli("clock"), self.folder.log("clock")))
        self._ports: dict[str, int] = {}

    def web(self, name: str = "portal", app: str = "wsgi:app", **settings: str) -> int:
        """The port of a web server, all of which have the portal's own settings of gunicorn."""
        if name not in self._ports:
            port = self._ports[name] = next(PORTS)
            started(self._stack, stage.web(self.folder, name, port, app, **settings))
            patiently(lambda: load.run(port, [HELLO] * 500, CONNECTIONS))
        return self._ports[name]

    def hello(self) -> int:
        """The port of a bare Flask app under the same server."""
        return self.web("hello", "bench.baselines.hello:app")

    def hellos(self, requests: int) -> load.Report:
        """So many hellos, as fast as they are answered."""
        return load.run(self.hello(), [HELLO] * requests, CONNECTIONS)


@cache
def site() -> Site:
    """The site of this process, which goes with it."""
    stack = ExitStack()
    atexit.register(stack.close)
    return Site(stack)
