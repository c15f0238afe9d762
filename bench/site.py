"""One portal for all that is measured in a process: servers, workers, and web servers by name."""

import atexit
import os
import socket
from collections import Counter
from contextlib import ExitStack, suppress
from functools import cache
from typing import TYPE_CHECKING

import psutil

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
            port = self._ports[name] = free_port()
            started(self._stack, stage.web(self.folder, name, port, app, **settings))
            patiently(lambda: load.run(port, [HELLO] * 500, CONNECTIONS))
        return self._ports[name]

    def spent(self) -> Counter[str]:
        """Seconds of processor time so far, of web, workers, ledger, postgres and bench."""
        found: Counter[str] = Counter()
        for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                found[kind(process)] += times.user + times.system
        return found

    def hello(self) -> int:
        """The port of a bare Flask app under the same server."""
        return self.web("hello", "bench.baselines.hello:app")

    def hellos(self, requests: int) -> load.Report:
        """So many hellos, as fast as they are answered."""
        return load.run(self.hello(), [HELLO] * requests, CONNECTIONS)


def free_port() -> int:
    """A port that nobody listens on: another's server would be measured in place of ours."""
    with socket.create_server(("127.0.0.1", 0)) as found:
        return int(found.getsockname()[1])


def kind(process: psutil.Process) -> str:
    """What sort of process of ours it is."""
    if process.pid == os.getpid():
        return "bench"
    if "valkey" in process.name():
        return "ledger"
    if "postgres" in process.name():
        return "postgres"
    return "web" if "gunicorn" in process.cmdline() else "workers"


@cache
def site() -> Site:
    """The site of this process, which goes with it."""
    stack = ExitStack()
    atexit.register(stack.close)
    return Site(stack)
