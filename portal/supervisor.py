"""`fairseat up`: every process of the portal, started in order, kept alive, stopped in order."""

import os
import signal
import socket
import sys
import time
from collections.abc import Sequence
from types import FrameType

from portal.children import Child
from portal.door import UpError, address, not_ready
from portal.embedded import Servers
from portal.embedded.folder import Folder, Run
from portal.kept import Kept, say

PATIENCE = 20.0
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(Exception):  # noqa: N818  asked for, not an error
    """Someone asked the supervisor to stop."""


class Supervisor:
    """The portal on one machine, in one data folder, at one address."""

    def __init__(self, folder: Folder, door: socket.socket) -> None:
        self.folder = folder
        self.door = door
        self.address = address(door)
        self.servers = Servers(
            folder,
            database_url=os.environ.get("DATABASE_URL", ""),
            redis_url=os.environ.get("REDIS_URL", ""),
        )
        self.kept: list[Kept] = []
        self.stopping_since: float | None = None
        self.hurry = False

    def run(self) -> None:
        """Start everything and keep it alive until a signal; raises UpError or StartError."""
        for each in SIGNALS:
            signal.signal(each, self._on_signal)
        try:
            self._start()
            self._greet()
            while True:
                self._pause(0.2)
                self._look_after()
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
        self.kept = [Kept(child, time.monotonic()) for child in self.servers.children]
        for child in (*self._workers(), self._web()):
            self.kept.append(Kept(child))
            self.kept[-1].start()

    def _prepare(self) -> None:
        """Migrate, make the demo and warm up, in a process of its own."""
        child = self._child("prepare", "prepare")
        child.start()
        try:
            while child.alive:
                self._pause(0.1)
        finally:
            child.stop(patience=2)
        if child.process and child.process.returncode:
            raise UpError(f"The database could not be prepared:\n{child.last_words(30)}")

    def _workers(self) -> list[Child]:
        # A second recorder stands by, so that one that is killed is not missed.
        queues = ("record", "record", "promote", "maintain", "notify")
        return [self._child(queue, "worker", queue) for queue in queues] + [
            self._child("clock", "clock")
        ]

    def _web(self) -> Child:
        door = self.door.fileno()
        web = self._child("web")
        web.command = [sys.executable, "-m", "gunicorn", "-c", "python:portal.server"]
        web.env = {**web.env, "FAIRSEAT_BIND": f"fd://{door}"}
        # The door stays open here too, so that callers wait while the web is started again.
        web.keep_open = (door,)
        return web

    def _child(self, name: str, *arguments: str) -> Child:
        env = {
            **self.servers.urls(),
            "SECRET_KEY": os.environ.get("SECRET_KEY") or self.folder.secret("secret"),
            "PYTHONUNBUFFERED": "1",
        }
        command = [sys.executable, "-m", "portal.cli", *arguments]
        return Child(name, command, self.folder.log(name), env)

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
        password = self.folder.path / "demo-password"
        if password.exists():
            say("  Demo accounts: student0001 to student2000, instructor01 and on, admin")
            say(f"  Their password: {password.read_text()}")
        say("  Ctrl-C stops everything; the data stays.")

    def _look_after(self) -> None:
        for kept in self.kept:
            kept.look_after()

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

    def _stop(self) -> None:
        """The web first, so that nothing new comes in; the servers last."""
        say("Stopping; Ctrl-C again to hurry.")
        self.stopping_since = self.stopping_since or time.monotonic()
        self.door.close()
        own = [kept.child for kept in self.kept if kept.child not in self.servers.children]
        web = [child for child in own if child.name == "web"]
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
