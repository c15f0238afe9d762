"""Every process of a portal on one machine: started in order, kept alive, stopped in order."""

import compileall
import os
import signal
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from portal.core import logs
from portal.core.settings import ROOT
from portal.embedded import Servers
from portal.embedded.folder import Folder, Run
from portal.ops import scaling
from portal.running import renewal
from portal.running.children import Child
from portal.running.door import UpError
from portal.running.kept import LONGEST_WAIT_OF_SERVERS, Kept, say
from portal.running.pools import Pools
from portal.running.progress import Progress

PATIENCE = 20.0
QUIET = 30.0  # seconds between two lines that say the same
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(Exception):  # noqa: N818  asked for, not an error
    """Someone asked the supervisor to stop."""


@contextmanager
def owned(folder: Folder) -> Iterator[None]:
    """A block in which the data folder is this process's; raises UpError, FolderError.

    SettingsError where the bounds of the workers make no sense.
    """
    scaling.pools(os.environ.get("FAIRSEAT_WORKERS", ""))
    run = folder.own()
    if run:
        raise UpError(f"Fairseat already runs on {folder.path}: {run.address}")
    try:
        yield
    finally:
        folder.release()


class Supervisor(ABC):
    """The processes of one data folder: which there are is said by those who stand on this."""

    address = ""  # that it gives to others who look at the folder
    aloud = False  # whether its children speak where it does itself, not into logs of their own

    def __init__(self, folder: Folder, servers: Servers) -> None:
        self.folder = folder
        self.servers = servers
        self.pids: dict[str, int] = {}
        self.quiet_until = 0.0  # after it has told of a trouble
        self.kept: list[Kept] = []
        self.pools = Pools(self.kept, self.child, lambda: self.servers.redis_url)
        self.stopping_since: float | None = None
        self.hurry = False
        self.restart = False  # whether one is asked for
        self.restarting = False
        self.metrics = folder.emptied("metrics")  # where each child counts what it does
        self.nodes: Sequence[str] = ()  # of several, each adds up what its own processes count

    @abstractmethod
    def crew(self) -> Sequence[Sequence[Child]]:
        """The portal's own processes in groups, each of which starts once the one before serves."""

    @abstractmethod
    def prepare(self) -> None:
        """Do what has to be done before they serve."""

    @abstractmethod
    def greet(self) -> None:
        """Say that they are there, once they are."""

    @abstractmethod
    def missing(self) -> str:
        """What can't serve yet, in words; "" when all can."""

    @abstractmethod
    def shut(self) -> None:
        """Let nobody in any more."""

    def run(self) -> None:
        """Start everything and keep it alive until a signal; raises UpError or StartError."""
        logs.begin("supervisor")
        for each in SIGNALS:
            signal.signal(each, self._on_signal)
        signal.signal(signal.SIGUSR1, self._on_restart)
        try:
            self._start()
            self.greet()
            while True:
                self._go_on()
                if self.restart:
                    self._restart()
        except Stopped:
            pass
        finally:
            self._stop()

    def _restart(self) -> None:
        self.restart, self.restarting = False, True
        _compile()
        own = [kept for kept in self.kept if kept.child not in self.servers.children]
        progress = Progress(self.folder.path)
        failure = renewal.renew(own, self._go_on, progress.tell)
        self.restarting = False
        if not failure and (missing := self._wait_until_ready()):
            failure = f"All processes were restarted, but this is missing: {missing}."
        progress.end(failure)

    def _wait_until_ready(self) -> str:
        """What is still missing after a while; "" when all can serve."""
        deadline = time.monotonic() + renewal.PATIENCE
        while (missing := self.missing()) and time.monotonic() < deadline:
            self._go_on()
        return missing

    def _start(self) -> None:
        _compile()
        self.servers.start()
        names = ", ".join(child.name for child in self.servers.children)
        say(f"Servers: {names}." if names else "Servers: those of DATABASE_URL and REDIS_URL.")
        sockets = str(self.servers.sockets or "")
        urls = self.servers.database_url, self.servers.redis_url
        run = Run(os.getpid(), self.address, *urls, sockets, self.servers.owner_url)
        self.folder.announce(run)
        self.kept += [
            Kept(child, time.monotonic(), longest_wait=LONGEST_WAIT_OF_SERVERS)
            for child in self.servers.children
        ]
        first, *others = self.crew()
        self._start_group(first)
        self.prepare()
        for group in others:
            renewal.until_started(self.kept, self._wait)
            self._start_group(group)
        self._try(self._note)

    def _start_group(self, children: Sequence[Child]) -> None:
        for child in children:
            self.kept.append(Kept(child))
            self.kept[-1].start()

    def child(self, name: str, *arguments: str) -> Child:
        """A process that runs a command of the portal, connected to the servers."""
        env = {
            **self.servers.urls(),
            "DATABASE_OWNER_URL": "",  # of no use to a process that serves
            "SECRET_KEY": os.environ.get("SECRET_KEY") or self.folder.secret("secret"),
            "PYTHONUNBUFFERED": "1",
            "PROMETHEUS_MULTIPROC_DIR": str(self._counts(name)),
            "FAIRSEAT_METRICS_PORT": "",  # which only one of them could open
        }
        command = [sys.executable, "-m", "portal.cli", *arguments]
        return Child(name, command, self.folder.log(name), env, aloud=self.aloud)

    def _counts(self, name: str) -> Path:
        """Where a child counts; as a child of one of the nodes, by the number in its name."""
        number = name.rpartition("-")[2]
        if not self.nodes or not number.isdecimal():
            return self.metrics
        below = self.metrics / self.nodes[(int(number) - 1) % len(self.nodes)]
        below.mkdir(mode=0o700, exist_ok=True)
        return below

    def _wait(self) -> None:
        self.pause(0.2)
        self.look_after()

    def _go_on(self) -> None:
        self._wait()
        self._try(self.pools.look_after)

    def look_after(self) -> None:
        """Start again what has ended."""
        for kept in self.kept:
            kept.look_after()
        self._try(self._note)

    def _note(self) -> None:
        """Say which process is which wherever that has changed."""
        pids = {kept.child.name: kept.child.process.pid for kept in self.kept if kept.child.process}
        if pids != self.pids:
            self.folder.note(pids)
            self.pids = pids

    def _try(self, act: Callable[[], None]) -> None:
        """Do what is done again soon; where the disk is full, say it instead of ending."""
        try:
            act()
        except OSError as error:
            if time.monotonic() > self.quiet_until:
                self.quiet_until = time.monotonic() + QUIET
                say(
                    f"ALARM {self.folder.path} can't be written to: {error.strerror}. Trying again."
                )

    def pause(self, seconds: float) -> None:
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
        self.shut()
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


def _compile() -> None:
    """Compile the code once, rather than in each process; where it can't be kept, do without."""
    for name in ("portal", "jobs", "migrations"):
        compileall.compile_dir(ROOT / name, quiet=2)
