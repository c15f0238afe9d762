"""Supervise the processes of a portal on one machine: start, restart and stop them."""

import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import FrameType

from portal.core import logs, scaling
from portal.runtime.child_process import (
    LONGEST_WAIT_OF_SERVERS,
    Child,
    Process,
    SupervisedChild,
    greet,
    say,
)
from portal.runtime.data_folder import DataFolder, Run, StartupError
from portal.runtime.embedded_servers import Servers
from portal.runtime.forked_child import IMPORT_TIMEOUT, ForkedChild, ForkServer, reap_orphans
from portal.runtime.listener import (
    PREPARED,
    STARTED,
    StartingPage,
    address_of,
    forget_started,
    has_started,
    not_ready,
    open_listener,
)
from portal.runtime.worker_pools import WorkerPools

STOP_TIMEOUT = 20.0  # seconds before a process is killed
WEB_TIMEOUT = 60.0  # seconds for a web server to start, or to stop
REMIND = 20.0  # seconds between two lines about parts that are not ready
SAME_ALARM = 30.0  # seconds before an alarm is repeated
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
GUNICORN = (sys.executable, "-m", "gunicorn", "-c", "python:portal.runtime.gunicorn_settings")

# groups of processes; each starts when the web of the previous one serves
Groups = Sequence[Sequence[Child]]


class Stopped(Exception):
    """A signal asked the supervisor to stop."""


@contextmanager
def owned(folder: DataFolder) -> Iterator[None]:
    """Own the data folder in a block.

    Raise StartupError if another process owns it, and SettingsError for invalid worker limits.
    """
    scaling.pools(os.environ.get("FAIRSEAT_WORKERS", ""))
    if run := folder.own():
        raise StartupError(f"Fairseat already runs on {folder.path}: {run.address}")
    try:
        yield
    finally:
        folder.release()


class Supervisor:
    """Supervise workers and a scheduler, for a portal whose web and servers are elsewhere."""

    address = "workers alone"  # as the data folder tells other processes
    to_logs = False  # whether processes have their own logs: a container keeps their output

    def __init__(self, folder: DataFolder, servers: Servers) -> None:
        self.folder = folder
        self.servers = servers
        self.supervised: list[SupervisedChild] = []
        self.pools = WorkerPools(self.supervised, self.child, lambda: self.servers.queue_url)
        self.metrics = folder.emptied("metrics")  # each process counts here
        log = folder.log("fork-server")
        self.fork_server = ForkServer(log, {"DATABASE_OWNER_URL": "", "PYTHONUNBUFFERED": "1"})
        self._started = False
        self._restart_requested = False
        self._stopping_since: float | None = None
        self._hurry = False
        self._pids: dict[str, int] = {}
        self._next_alarm = 0.0

    def process_groups(self) -> Groups:
        """Return the portal's own processes: first the web servers, which are not forked."""
        scheduler = self.child("scheduler", "scheduler")
        # It serves the metrics of all of them.
        port = os.environ.get("FAIRSEAT_METRICS_PORT", "")
        scheduler.env = {**scheduler.env, "FAIRSEAT_METRICS_PORT": port}
        return [[], [*self.workers(), scheduler]]

    def prepare(self) -> None:
        """Do what must be done once the first group has started."""

    def greet(self) -> None:
        """Say that all processes have started."""
        say("Workers and a scheduler are started.")

    def close(self) -> None:
        """Accept no new visitors."""

    def run(self) -> None:
        """Start all processes and keep them alive until a signal; raise StartupError."""
        logs.begin("supervisor")
        for each in SIGNALS:
            signal.signal(each, self._on_stop)
        signal.signal(signal.SIGUSR1, self._on_restart)
        try:
            self._start()
            self.greet()
            while True:
                self._go_on()
                if self._restart_requested:
                    self._restart()
        except Stopped:
            pass
        finally:
            self._stop()

    def child(self, name: str, *arguments: str) -> Child:
        """Return a process that runs a command of the portal, connected to the servers."""
        command = [sys.executable, "-m", "portal.runtime.cli", *arguments]
        return ForkedChild(
            name,
            command,
            self.folder.log(name),
            self.env(name),
            to_log=self.to_logs,
            fork_server=self.fork_server,
        )

    def env(self, name: str) -> dict[str, str]:
        """Return the variables to add to the environment of a process of that name."""
        return {
            **self.servers.urls(),
            "DATABASE_OWNER_URL": "",  # a process that serves does not need it
            "SECRET_KEY": os.environ.get("SECRET_KEY") or self.folder.secret("secret"),
            "PYTHONUNBUFFERED": "1",
            "PROMETHEUS_MULTIPROC_DIR": str(self.metrics_folder(name)),
            "FAIRSEAT_METRICS_PORT": "",  # only one process could open it
        }

    def metrics_folder(self, name: str) -> Path:  # noqa: ARG002  of a process
        """Return the folder in which a process counts."""
        return self.metrics

    def workers(self, least: Callable[[str], int] = lambda _queue: 1) -> list[Child]:
        """Return the minimum of workers for each queue, and at least `least`."""
        pools = scaling.pools(os.environ.get("FAIRSEAT_WORKERS", ""))
        return [
            self.child(f"{queue}-{number}", "worker", queue)
            for queue, pool in pools.items()
            for number in range(1, max(pool.least, least(queue)) + 1)
        ]

    def pause(self, seconds: float) -> None:
        """Sleep; raise Stopped after a signal to stop."""
        if self._stopping_since is None:
            time.sleep(seconds)
        if self._stopping_since is not None:
            raise Stopped

    def check(self) -> None:
        """Restart processes that have exited."""
        for each in self.supervised:
            each.check()
        reap_orphans()
        self.attempt(self._note_pids)

    def attempt(self, act: Callable[[], None]) -> None:
        """Call `act`, which is repeated soon; report a full disk instead of exiting."""
        try:
            act()
        except OSError as error:
            if time.monotonic() > self._next_alarm:
                self._next_alarm = time.monotonic() + SAME_ALARM
                say(
                    f"ALARM {self.folder.path} can't be written to: {error.strerror}. Trying again."
                )

    def _start(self) -> None:
        self.fork_server.start()  # it imports the portal while the servers start
        self.servers.start()
        names = ", ".join(child.name for child in self.servers.children)
        say(f"Servers: {names}." if names else "Servers: those of DATABASE_URL and REDIS_URL.")
        sockets = str(self.servers.sockets or "")
        urls = self.servers.database_url, self.servers.redis_url
        more = self.servers.owner_url, self.servers.queue_redis_url
        self.folder.announce(Run(os.getpid(), self.address, *urls, sockets, *more))
        self.supervised += [
            SupervisedChild(child, time.monotonic(), longest_wait=LONGEST_WAIT_OF_SERVERS)
            for child in self.servers.children
        ]
        first, *others = self.process_groups()
        self._start_group(first)
        self._wait_for_imports()
        self.prepare()
        for group in others:
            for each in self._web():
                self._wait_for(partial(_serves, each.child), WEB_TIMEOUT)
            self._start_group(group)
        self._started = True
        self.attempt(self._note_pids)

    def _start_group(self, children: Sequence[Child]) -> None:
        for child in children:
            self.supervised.append(SupervisedChild(child))
            self.supervised[-1].start()

    def _go_on(self) -> None:
        self.pause(0.2)
        self.check()
        if self._started:  # until then the web has the machine
            self.attempt(self.pools.check)

    def _note_pids(self) -> None:
        """Announce the process ids by name, if they have changed."""
        children = [*self.fork_server.children, *self._children()]
        pids = {each.name: each.process.pid for each in children if each.process}
        if pids != self._pids:
            self.folder.note(pids)
            self._pids = pids

    def _children(self) -> list[Child]:
        return [each.child for each in self.supervised]

    def _on_stop(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        now = time.monotonic()
        if self._stopping_since is None:
            self._stopping_since = now
        elif now - self._stopping_since > 0.5:  # make and a terminal may both have sent the first
            self._hurry = True

    def _on_restart(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        self._restart_requested = True

    def _restart(self) -> None:
        """Replace our own processes one by one; none if a new web server does not start."""
        self._restart_requested = False
        web = self._web()
        if not all(self._replace_web(each) for each in web):
            return
        self.fork_server.start()  # again, as it must import the new code
        self._wait_for_imports()
        for each in self.supervised[:]:
            old = each.child.process
            if each not in web and each.child not in self.servers.children:
                each.child.ask_to_stop()
                self._wait_for(partial(_replaced, each, old), STOP_TIMEOUT)
        say("Restarted.")

    def _replace_web(self, web: SupervisedChild) -> bool:
        """Start a new web server at the same listener; then stop the old one."""
        old, new = web.child, replace(web.child, process=None)
        started = Path(new.env[STARTED])
        forget_started(started)
        with suppress(OSError):  # such as a full disk
            new.start()
        self._wait_for(lambda: _serves(new) or not new.alive, WEB_TIMEOUT)
        if not _serves(new):
            new.kill()
            with suppress(OSError):
                started.touch()  # the old one serves
            say(f"{new.name} does not start, so nothing is replaced. Its log is {new.log}")
            return False
        web.child, web.started = new, time.monotonic()
        old.ask_to_stop()
        self._wait_for(lambda: not old.alive, WEB_TIMEOUT)
        old.kill()
        return True

    def _web(self) -> list[SupervisedChild]:
        return [each for each in self.supervised if STARTED in each.child.env]

    def _wait_for_imports(self) -> None:
        """Supervise until processes can be forked; after some time Python starts them."""
        self._wait_for(lambda: not self.fork_server.is_importing, IMPORT_TIMEOUT)

    def _wait_for(self, holds: Callable[[], bool], timeout: float) -> None:
        """Supervise until `holds` is true, or for `timeout` seconds."""
        deadline = time.monotonic() + timeout
        while not holds() and time.monotonic() < deadline:
            self._go_on()

    def _stop(self) -> None:
        """Stop the web first, so that no new request comes, and the servers last."""
        say("Stopping; Ctrl-C again to hurry.")
        self._stopping_since = self._stopping_since or time.monotonic()
        self.close()
        own = [each for each in self._children() if each not in self.servers.children]
        own += self.pools.leaving
        web = [each for each in own if each.name.startswith("web")]
        for group in (web, [each for each in own if each not in web]):
            self._stop_together(group)
        self.fork_server.stop()
        self.servers.stop()
        say("Stopped.")

    def _stop_together(self, children: Sequence[Child]) -> None:
        for child in children:
            child.ask_to_stop()
        deadline = time.monotonic() + STOP_TIMEOUT
        while any(child.alive for child in children):
            if self._hurry or time.monotonic() > deadline:
                break
            time.sleep(0.05)
        for child in children:
            if child.alive:
                child.kill()


class PortalSupervisor(Supervisor):
    """The whole portal at one address, with the servers that are not given."""

    to_logs = True

    def __init__(self, folder: DataFolder, servers: Servers, listener: socket.socket) -> None:
        super().__init__(folder, servers)
        self.listener = listener
        self.address = address_of(listener)
        self.prepared = folder.path / "prepared"  # the web servers wait for this file
        self.prepared.unlink(missing_ok=True)
        self._starting_page = StartingPage(listener, folder.log("starting-page"))

    def run(self) -> None:
        """Run the portal; answer with 503 from the first moment until the web serves."""
        self._starting_page.start()
        try:
            super().run()
        finally:
            self._starting_page.stop()

    def process_groups(self) -> Groups:
        """Return the web at the listener, then one of each other process."""
        # The listener stays open here too: clients wait while the web server restarts.
        web = self.web("web", f"fd://{self.listener.fileno()}")
        web.keep_open = (self.listener.fileno(),)
        return [[web], [*self.workers(), self.child("scheduler", "scheduler")]]

    def web(self, name: str, bind: str, **env: str) -> Child:
        """Return a web server that binds to the address, and waits until all is prepared."""
        started = self.folder.path / f"{name}.started"
        forget_started(started)
        waits = {STARTED: str(started), PREPARED: str(self.prepared)}
        whole = {**self.env(name), **waits, "FAIRSEAT_BIND": bind, **env}
        return Child(name, GUNICORN, self.folder.log(name), whole, to_log=self.to_logs)

    def check(self) -> None:
        """Restart processes that have exited; show the starting page while no web server serves."""
        self.attempt(lambda: self._starting_page.check(self.supervised))
        super().check()

    def prepare(self) -> None:
        """Run `fairseat prepare`, then let the web serve."""
        child = self.child("prepare", "prepare")
        child.env = {**child.env, **self.servers.all_urls()}
        child.start()
        try:
            while child.alive:
                self.pause(0.1)
        finally:
            child.stop(timeout=2)
        if child.process and child.process.returncode:
            raise StartupError(f"The database could not be prepared:\n{child.last_output(30)}")
        self.prepared.touch()

    def greet(self) -> None:
        """Wait until the portal is ready, then print its address and the demo's accounts."""
        reminded = time.monotonic()
        token = os.environ.get("FAIRSEAT_METRICS_TOKEN", "")
        while missing := not_ready(self.address, token):
            self.pause(0.2)
            self.check()
            if time.monotonic() - reminded > REMIND:
                reminded = time.monotonic()
                say(f"Not ready yet: {missing}.")
        say(f"Ready: {self.address}")
        if os.environ.get("FAIRSEAT_LOG") == "json":
            return  # log readers must not see a password
        if logs.in_json():
            greet(f"Ready: {self.address}")
        password = self.folder.path / "demo-password"
        if password.exists():
            greet("  Demo accounts: student0001 to student2000, instructor01 and on, admin,")
            greet("  auditor (sees everything), helpdesk (sees a part), scheduler (History),")
            greet("  adviser (of those who need a talk before they register),")
            greet("  instructor29 (decides for History), vera@fairseat.example (visiting)")
            greet(f"  Their password: {password.read_text()}")
        greet("  Ctrl-C stops everything; the data stays.")

    def close(self) -> None:
        """Close the listener."""
        self._starting_page.stop()
        self.listener.close()


def supervise(
    folder: DataFolder, servers: Servers, supervisor: type[PortalSupervisor] = PortalSupervisor
) -> None:
    """Run a portal until a signal comes; raise StartupError or SettingsError."""
    with owned(folder):
        # The web server of a killed owner needs a moment to leave the port.
        timeout = 15.0 if folder.abandoned else 0.0
        listener = open_listener(os.environ.get("HOST") or "127.0.0.1", _port(), timeout)
        supervisor(folder, servers, listener).run()


def _port() -> int:
    given = os.environ.get("PORT") or "8000"
    if not given.isdecimal() or not 0 < int(given) < 65536:
        raise StartupError(f"PORT={given} is not a port: choose one between 1 and 65535.")
    return int(given)


def _serves(web: Child) -> bool:
    return has_started(Path(web.env[STARTED]))


def _replaced(one: SupervisedChild, old: Process | None) -> bool:
    return one.child.process is not old
