"""Every process of a portal on one machine: started in order, kept alive, stopped in order."""

import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from types import FrameType

from portal.embedded import Servers
from portal.embedded.folder import Folder, Run
from portal.ops import logs, scaling
from portal.running import renewal
from portal.running.children import Child
from portal.running.door import UpError, address, not_ready, open_door
from portal.running.kept import Kept, greet, say
from portal.running.pools import Pools

PATIENCE = 20.0
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

Crew = Callable[["Supervisor"], Sequence[Child]]


class Stopped(Exception):  # noqa: N818  asked for, not an error
    """Someone asked the supervisor to stop."""


def supervise(folder: Folder, servers: Servers, crew: Crew) -> None:
    """Run all of it until a signal comes.

    Raises UpError, FolderError or StartError; SettingsError before anything is begun.
    """
    scaling.pools(os.environ.get("FAIRSEAT_WORKERS", ""))
    run = folder.own()
    if run:
        raise UpError(f"Fairseat already runs on {folder.path}: {run.address}")
    try:
        # The web server of an owner that was killed needs a moment to leave the port.
        patience = 15.0 if folder.abandoned else 0.0
        door = open_door(os.environ.get("HOST") or "127.0.0.1", _port(), patience)
        Supervisor(folder, door, servers, crew).run()
    finally:
        folder.release()


def _port() -> int:
    given = os.environ.get("PORT") or "8000"
    if not given.isdecimal() or not 0 < int(given) < 65536:
        raise UpError(f"PORT={given} is not a port: choose one between 1 and 65535.")
    return int(given)


class Supervisor:
    """The portal on one machine, in one data folder, at one address."""

    def __init__(self, folder: Folder, door: socket.socket, servers: Servers, crew: Crew) -> None:
        self.folder = folder
        self.door = door
        self.address = address(door)
        self.servers = servers
        self.crew = crew
        self.pids: dict[str, int] = {}
        self.kept: list[Kept] = []
        self.pools = Pools(self.kept, self.child, lambda: self.servers.redis_url)
        self.stopping_since: float | None = None
        self.hurry = False
        self.restart = False
        self.metrics = folder.emptied("metrics")  # where each child counts what it does
        self.nodes: Sequence[str] = ()  # of several, each adds up what its own processes count

    def run(self) -> None:
        """Start everything and keep it alive until a signal; raises UpError or StartError."""
        logs.begin("supervisor")
        for each in SIGNALS:
            signal.signal(each, self._on_signal)
        signal.signal(signal.SIGUSR1, self._on_restart)
        try:
            self._start()
            self._greet()
            while True:
                self._go_on()
                if self.restart:
                    self.restart = False
                    own = [kept for kept in self.kept if kept.child not in self.servers.children]
                    renewal.renew(own, self._go_on)
        except Stopped:
            pass
        finally:
            self._stop()

    def _start(self) -> None:
        self.servers.start()
        names = ", ".join(child.name for child in self.servers.children)
        say(f"Servers: {names}." if names else "Servers: those of DATABASE_URL and REDIS_URL.")
        sockets = str(self.servers.sockets or "")
        urls = self.servers.database_url, self.servers.redis_url
        self.folder.announce(Run(os.getpid(), self.address, *urls, sockets))
        self._prepare()
        self.kept += [Kept(child, time.monotonic()) for child in self.servers.children]
        for child in self.crew(self):
            self.kept.append(Kept(child))
            self.kept[-1].start()
        self._note()

    def _prepare(self) -> None:
        """Migrate, make the demo and warm up, in a process of its own."""
        child = self.child("prepare", "prepare")
        child.start()
        try:
            while child.alive:
                self._pause(0.1)
        finally:
            child.stop(patience=2)
        if child.process and child.process.returncode:
            raise UpError(f"The database could not be prepared:\n{child.last_words(30)}")

    def child(self, name: str, *arguments: str) -> Child:
        """A process that runs a command of the portal, connected to the servers."""
        env = {
            **self.servers.urls(),
            "SECRET_KEY": os.environ.get("SECRET_KEY") or self.folder.secret("secret"),
            "PYTHONUNBUFFERED": "1",
            "PROMETHEUS_MULTIPROC_DIR": str(self._counts(name)),
        }
        command = [sys.executable, "-m", "portal.cli", *arguments]
        return Child(name, command, self.folder.log(name), env)

    def _counts(self, name: str) -> Path:
        """Where a child counts; as a child of one of the nodes, by the number in its name."""
        number = name.rpartition("-")[2]
        if not self.nodes or not number.isdecimal():
            return self.metrics
        below = self.metrics / self.nodes[(int(number) - 1) % len(self.nodes)]
        below.mkdir(mode=0o700, exist_ok=True)
        return below

    def _greet(self) -> None:
        """Wait until the portal is ready, then print where it is and who may log in."""
        nagged = time.monotonic()
        while missing := not_ready(self.address):
            self._pause(0.2)
            self._look_after()
            if time.monotonic() - nagged > PATIENCE:
                nagged = time.monotonic()
                say(f"Not ready yet: {missing}.")
        say(f"Ready: {self.address}")
        if os.environ.get("FAIRSEAT_LOG") == "json":
            return  # whoever reads that is not to read a password
        if logs.in_json():
            greet(f"Ready: {self.address}")
        password = self.folder.path / "demo-password"
        if password.exists():
            greet("  Demo accounts: student0001 to student2000, instructor01 and on, admin")
            greet(f"  Their password: {password.read_text()}")
        greet("  Ctrl-C stops everything; the data stays.")

    def _go_on(self) -> None:
        self._pause(0.2)
        self._look_after()

    def _look_after(self) -> None:
        for kept in self.kept:
            kept.look_after()
        self.pools.look_after()
        self._note()

    def _note(self) -> None:
        """Say which process is which wherever that has changed."""
        pids = {kept.child.name: kept.child.process.pid for kept in self.kept if kept.child.process}
        if pids != self.pids:
            self.pids = pids
            self.folder.note(pids)

    def _pause(self, seconds: float) -> None:
        """Sleep; raises Stopped where a signal came."""
        if self.stopping_since is None:
            time.sleep(seconds)
        if self.stopping_since is not None:
            raise Stopped

    def _on_signal(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        now = time.monotonic()
        if self.stopping_since is None:
            self.stopping_since = now
        elif now - self.stopping_since > 0.5:  # make and a terminal may both have sent the first
            self.hurry = True

    def _on_restart(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        self.restart = True

    def _stop(self) -> None:
        """The web first, so that nothing new comes in; the servers last."""
        say("Stopping; Ctrl-C again to hurry.")
        self.stopping_since = self.stopping_since or time.monotonic()
        self.door.close()
        own = [kept.child for kept in self.kept if kept.child not in self.servers.children]
        own += self.pools.leaving
        web = [child for child in own if child.name.startswith("web")]
        for group in (web, [child for child in own if child not in web]):
            self._stop_together(group)
        self.servers.stop()
        say("Stopped.")

    def _stop_together(self, children: Sequence[Child]) -> None:
        for child in children:
            child.ask_to_stop()
        deadline = time.monotonic() + PATIENCE
        while any(child.alive for child in children):
            if self.hurry or time.monotonic() > deadline:
                break
            time.sleep(0.05)
        for child in children:
            if child.alive:
                child.kill()
