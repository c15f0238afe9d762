"""The portal that one benchmark process measures: data servers, workers, and one web server.

A web server runs only while it is measured, because each one gets every live update. In a quick
run, whose values do not matter, each web server is started once and stays.
"""

import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager, nullcontext, suppress
from functools import cache
from typing import TYPE_CHECKING, TypeVar

import psutil

from bench import load, stage
from bench.stage import cli, patiently, started
from portal.app import create_app
from portal.core.checkpoints import checkpoint
from portal.core.settings import Settings
from portal.recorder.journal import last_seq
from portal.runtime.child_process import Child

if TYPE_CHECKING:
    from flask import Flask

    from portal.runtime.data_folder import DataFolder

Found = TypeVar("Found")
HELLO = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
CONNECTIONS = 64
TIMEOUT = 120.0  # seconds until everything must be recorded


class Site:
    """A portal with its workers and scheduler.

    In a quick run web servers with equal settings are shared, and one worker is enough.
    """

    def __init__(self, stack: ExitStack, *, quick: bool = False) -> None:
        self.folder: DataFolder = stage.servers(stack, quick=quick)
        self.quick = quick
        self.staying: dict[object, int] = {}
        self.stack = stack
        self.app: Flask = create_app(Settings.read())
        for queue in ("record",) if quick else ("record", "promote", "maintain"):
            started(stack, Child(queue, cli("worker", queue), self.folder.log(queue)))
        started(stack, Child("scheduler", cli("scheduler"), self.folder.log("scheduler")))

    def web(
        self, name: str = "portal", app: str = "wsgi:app", **settings: str
    ) -> AbstractContextManager[int]:
        """Run a web server with the portal's own settings of gunicorn; yield its port."""
        if not self.quick:
            return self._web(name, app, **settings)
        key = (app, *settings.items())
        if key not in self.staying:
            self.staying[key] = self.stack.enter_context(self._web(name, app, **settings))
        return nullcontext(self.staying[key])

    @contextmanager
    def _web(self, name: str, app: str, **settings: str) -> Iterator[int]:
        port = stage.free_port()
        counts = self.folder.path / f"metrics-{port}"
        counts.mkdir()
        settings["PROMETHEUS_MULTIPROC_DIR"] = str(counts)
        child = stage.web(self.folder, name, port, app, **settings)
        warm = 20 if self.quick else 500
        child.start()
        try:
            patiently(child, lambda: load.run(port, [HELLO] * warm, CONNECTIONS))
            yield port
        finally:
            child.kill()  # a graceful stop takes seconds, and no client is connected

    def hello(self) -> AbstractContextManager[int]:
        """Run a bare Flask application with the same settings; yield its port."""
        return self.web("hello", "bench.baselines.hello:app")

    def hellos(self, requests: int) -> tuple[load.Report, Counter[str]]:
        """Return the report of this many hellos, and the processor time by kind of process."""
        with self.hello() as port:
            before = self.spent()
            return load.run(port, [HELLO] * requests, CONNECTIONS), self.spent() - before

    def spent(self) -> Counter[str]:
        """Return processor seconds so far of web, workers, ledger, postgres and bench."""
        found: Counter[str] = Counter()
        for process in [psutil.Process(), *psutil.Process().children(recursive=True)]:
            with suppress(psutil.NoSuchProcess):
                times = process.cpu_times()
                found[kind(process)] += times.user + times.system
        return found


def kind(process: psutil.Process) -> str:
    """Return the kind of one of our processes."""
    if process.pid == os.getpid():
        return "bench"
    if "valkey" in process.name():
        return "ledger"
    if "postgres" in process.name():
        return "postgres"
    return "web" if "gunicorn" in process.cmdline() else "workers"


def each_took(name: str, report: load.Report, spent: Counter[str], *kinds: str) -> dict[str, float]:
    """Return the processor time per request (µs) in all processes and in some kinds of them."""
    times = {f"{name}_took_{kind}_us": spent[kind] for kind in kinds}
    times[f"{name}_took_us"] = spent.total()
    return {each: time * 1e6 / len(report.latencies) for each, time in times.items()}


def by_turns(run: int, *sides: Callable[[], Found]) -> list[Found]:
    """Measure each side and return the results in order; odd runs measure in reverse order."""
    if run % 2:
        return [side() for side in reversed(sides)][::-1]
    return [side() for side in sides]


def caught_up(term: int) -> None:
    """Wait until everything in a term is recorded; raise SystemExit after TIMEOUT seconds."""
    deadline = time.monotonic() + TIMEOUT
    while checkpoint(term) < last_seq(term):
        if time.monotonic() > deadline:
            raise SystemExit("The workers have not recorded everything.")
        time.sleep(0.05)


@cache
def site(*, quick: bool = False) -> Site:
    """Return this process's site, which stops when the process ends."""
    return Site(stage.lasting(), quick=quick)
