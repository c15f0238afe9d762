"""A pretix installation that a run measures: its data servers, web server and task worker.

The data servers are the portal's embedded ones. Valkey keeps its defaults for pretix: it writes
nothing to disk before it answers.
"""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import psutil
from redis import Redis

from bench import load
from bench.peers.installation import HERE, VENV, Step, kept, once, program
from bench.portal_on_trial import get
from bench.stage import free_port, patiently
from portal.runtime.child_process import Child
from portal.runtime.data_folder import DataFolder
from portal.runtime.embedded_servers import Servers

WEB_PROCESSES = 2
CONFIG = """\
[pretix]
instance_name=Comparison
url=http://127.0.0.1
datadir={data}
[database]
backend=postgresql
name={name}
user={user}
password={password}
host={host}
[redis]
location=redis://127.0.0.1:{port}/0
sessions=true
"""
CELERY = """\
[celery]
broker=redis://127.0.0.1:{port}/1
backend=redis://127.0.0.1:{port}/2
"""


@dataclass(frozen=True)
class Mode:
    """How pretix carries out the task that adds to a cart."""

    name: str
    celery: bool


WITH_CELERY, EAGER = Mode("celery", celery=True), Mode("eager", celery=False)


class Pretix:
    """A migrated pretix with running data servers; `steps` are those of its set-up.

    Its database stays beside its environment, because migrating takes minutes.
    """

    def __init__(self, stack: ExitStack) -> None:
        self.folder = DataFolder(VENV / "var")
        self.folder.own()
        stack.callback(self.folder.release)
        self.servers = Servers(self.folder)
        stack.callback(self.servers.stop)
        self.running: list[Child] = []
        self.start: Step | None = None  # of its web server and task worker
        began = time.monotonic()
        self.servers.start()
        self.steps = [kept(Step("initdb; postgres; valkey-server", time.monotonic() - began))]
        self._configure()
        migrate = [program("python"), "-m", "pretix", "migrate"]
        self.steps.append(once("python -m pretix migrate", migrate, self._env(WITH_CELERY)))

    def _configure(self) -> None:
        """Write pretix's configuration, with a task worker and without."""
        port, redis = free_port(), Redis.from_url(self.servers.redis_url)
        redis.flushall()  # of what an earlier comparison left
        redis.config_set("appendonly", "no")
        redis.config_set("bind", "127.0.0.1")
        redis.config_set("port", port)
        redis.close()
        database = urlsplit(self.servers.owner_url)
        common = CONFIG.format(
            data=self.folder.path / "pretix",
            name=database.path.lstrip("/"),
            user=database.username,
            password=database.password,
            host=parse_qs(database.query)["host"][0],
            port=port,
        )
        for mode in (WITH_CELERY, EAGER):
            text = common + (CELERY.format(port=port) if mode.celery else "")
            self._config(mode).write_text(text, encoding="utf-8")

    def _config(self, mode: Mode) -> Path:
        return self.folder.path / f"{mode.name}.cfg"

    def _env(self, mode: Mode) -> dict[str, str]:
        settings = {"DJANGO_SETTINGS_MODULE": "pretix.settings"}
        return {**os.environ, **settings, "PRETIX_CONFIG_FILE": str(self._config(mode))}

    def shop(self, *arguments: str | int) -> Any:
        """Return what bench/peers/shop.py prints."""
        command = [program("python"), str(HERE / "shop.py"), *map(str, arguments)]
        done = subprocess.run(
            command, check=False, capture_output=True, text=True, env=self._env(EAGER)
        )
        if done.returncode:
            raise SystemExit(f"The shops could not be made: {done.stderr[-2000:]}")
        return json.loads(done.stdout.splitlines()[-1])

    @contextmanager
    def web(self, mode: Mode, page: str) -> Iterator[int]:
        """Run gunicorn, and a Celery worker if the mode has one; yield the port."""
        port = free_port()
        gunicorn = [program("gunicorn"), "pretix.wsgi", "--workers", str(WEB_PROCESSES)]
        gunicorn += ["--bind", f"127.0.0.1:{port}", "--log-level", "info", "--timeout", "120"]
        wanted = [self._child("web", gunicorn, mode)]
        if mode.celery:
            worker = [program("celery"), "-A", "pretix.celery_app", "worker", "-l", "info"]
            wanted.append(self._child("workers", worker, mode))
        try:
            began = time.monotonic()
            for child in wanted:
                child.start()
                self.running.append(child)
            patiently(wanted[0], lambda: warm(port, page), seconds=300)
            if mode.celery:
                self._until_ready(wanted[1])
                self.start = kept(Step("gunicorn; celery worker", time.monotonic() - began))
            yield port
        finally:
            for child in wanted:
                child.kill()
            self.running.clear()

    def _child(self, name: str, command: list[str], mode: Mode) -> Child:
        return Child(name, command, self.folder.log(name), self._env(mode))

    def _until_ready(self, worker: Child) -> None:
        deadline = time.monotonic() + 300
        while " ready." not in worker.last_output(lines=50):
            if not worker.alive or time.monotonic() > deadline:
                raise SystemExit(f"Celery did not start: {worker.last_output()}")
            time.sleep(0.2)

    def spent(self) -> float:
        """Return the processor seconds so far of all its processes."""
        total = 0.0
        children = [*self.running, *self.servers.children]
        for process in (each.process for each in children if each.process):
            with suppress(psutil.NoSuchProcess):
                top = psutil.Process(process.pid)
                for each in [top, *top.children(recursive=True)]:
                    with suppress(psutil.NoSuchProcess):
                        times = each.cpu_times()
                        total += times.user + times.system
        return total


def warm(port: int, page: str) -> None:
    """Request a page a few times; raise ConnectionError while the server does not answer."""
    load.run(port, [get(page)] * 20, WEB_PROCESSES)
