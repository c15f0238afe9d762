"""Every process of a portal on one machine: started in order, kept alive, stopped in order."""

import compileall
import os
import signal
import socket
import sys
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from portal.core import logs
from portal.core.settings import ROOT
from portal.ops import scaling
from portal.runtime import demo_cluster, restart
from portal.runtime.child_process import LONGEST_WAIT_OF_SERVERS, Child, SupervisedChild, greet, say
from portal.runtime.data_folder import DataFolder, Run
from portal.runtime.embedded_servers import Servers
from portal.runtime.listener import StartingPage, UpError, address, not_ready, open_door
from portal.runtime.restart import Progress
from portal.runtime.worker_pools import WorkerPools

PATIENCE = 20.0
QUIET = 30.0  # seconds between two lines that say the same
SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(Exception):  # noqa: N818  asked for, not an error
    """Someone asked the supervisor to stop."""


@contextmanager
def owned(folder: DataFolder) -> Iterator[None]:
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

    def __init__(self, folder: DataFolder, servers: Servers) -> None:
        self.folder = folder
        self.servers = servers
        self.pids: dict[str, int] = {}
        self.quiet_until = 0.0  # after it has told of a trouble
        self.kept: list[SupervisedChild] = []
        self.pools = WorkerPools(self.kept, self.child, lambda: self.servers.redis_url)
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
        failure = restart.renew(own, self._go_on, progress.tell)
        self.restarting = False
        if not failure and (missing := self._wait_until_ready()):
            failure = f"All processes were restarted, but this is missing: {missing}."
        progress.end(failure)

    def _wait_until_ready(self) -> str:
        """What is still missing after a while; "" when all can serve."""
        deadline = time.monotonic() + restart.PATIENCE
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
            SupervisedChild(child, time.monotonic(), longest_wait=LONGEST_WAIT_OF_SERVERS)
            for child in self.servers.children
        ]
        first, *others = self.crew()
        self._start_group(first)
        self.prepare()
        for group in others:
            restart.until_started(self.kept, self._wait)
            self._start_group(group)
        self._try(self._note)

    def _start_group(self, children: Sequence[Child]) -> None:
        for child in children:
            self.kept.append(SupervisedChild(child))
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
        command = [sys.executable, "-m", "portal.runtime.cli", *arguments]
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


# The whole portal on one machine, at one address.

Crew = Callable[
    ["PortalSupervisor"], Sequence[Sequence[Child]]
]  # groups, in the order of their start


def supervise(folder: DataFolder, servers: Servers, crew: Crew) -> None:
    """Run all of it until a signal comes.

    Raises UpError, FolderError or StartError; SettingsError before anything is begun.
    """
    with owned(folder):
        # The web server of an owner that was killed needs a moment to leave the port.
        patience = 15.0 if folder.abandoned else 0.0
        door = open_door(os.environ.get("HOST") or "127.0.0.1", _port(), patience)
        PortalSupervisor(folder, servers, door, crew).run()


def _port() -> int:
    given = os.environ.get("PORT") or "8000"
    if not given.isdecimal() or not 0 < int(given) < 65536:
        raise UpError(f"PORT={given} is not a port: choose one between 1 and 65535.")
    return int(given)


class PortalSupervisor(Supervisor):
    """A web server or several, workers, clocks, and the servers that are not given."""

    def __init__(
        self, folder: DataFolder, servers: Servers, door: socket.socket, crew: Crew
    ) -> None:
        super().__init__(folder, servers)
        self.door = door
        self.address = address(door)
        self.prepared = folder.path / "prepared"  # the file that web servers wait for
        self.prepared.unlink(missing_ok=True)
        self._crew = crew
        self._starting_page = StartingPage(door, folder.log("starting-page"))

    def run(self) -> None:
        """Answer whoever comes from the first moment on: with 503 until the web serves."""
        self._starting_page.begin()
        try:
            super().run()
        finally:
            self._starting_page.end()

    def crew(self) -> Sequence[Sequence[Child]]:
        """Those that were asked for."""
        return self._crew(self)

    def look_after(self) -> None:
        """Do so, and answer at the door while no web server does."""
        if not self.restarting:  # then old web servers serve until new ones do
            self._try(lambda: self._starting_page.look_after(self.kept))
        super().look_after()

    def prepare(self) -> None:
        """Migrate, make the demo and warm up, in a process of its own; then let the web serve."""
        child = self.child("prepare", "prepare")
        child.env = {**child.env, **self.servers.all_urls()}
        child.start()
        try:
            while child.alive:
                self.pause(0.1)
        finally:
            child.stop(patience=2)
        if child.process and child.process.returncode:
            raise UpError(f"The database could not be prepared:\n{child.last_words(30)}")
        self.prepared.touch()

    def greet(self) -> None:
        """Wait until the portal is ready, then print where it is and who may log in."""
        nagged = time.monotonic()
        while missing := self.missing():
            self.pause(0.2)
            self.look_after()
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

    def missing(self) -> str:
        """What `/ready` says is missing."""
        return not_ready(self.address, os.environ.get("FAIRSEAT_METRICS_TOKEN", ""))

    def shut(self) -> None:
        """Close the door."""
        self._starting_page.end()
        self.door.close()


# The portal's own processes, beside the servers that they need: which there are, and how many.

# Those of which a cluster has two, so that one that is killed is not missed; of recorders and
# workers for errands there are always two, as an import keeps one of these busy for long.
TWICE = ("promote", "notify")
NODES = ("web-1", "web-2")
GUNICORN = (sys.executable, "-m", "gunicorn", "-c", "python:portal.runtime.gunicorn_settings")


def alone(supervisor: "PortalSupervisor") -> list[list[Child]]:
    """The web at the open door itself, then one of each other that must be there."""
    door = supervisor.door.fileno()
    web = supervisor.child("web")
    web.command = GUNICORN
    web.env = {**web.env, "FAIRSEAT_BIND": f"fd://{door}", **_started(supervisor, web)}
    # The door stays open here too, so that callers wait while the web is started again.
    web.keep_open = (door,)
    return [[web], [*workers(supervisor), supervisor.child("clock", "clock")]]


def clustered(supervisor: "PortalSupervisor") -> list[list[Child]]:
    """Two web nodes, the balancer before them, then two of each that must never be missing."""
    supervisor.nodes = NODES
    clocks = [supervisor.child(f"clock-{number}", "clock") for number in (1, 2)]
    sockets = {name: Path(supervisor.servers.sockets or "", f"{name}.sock") for name in NODES}
    nodes = [_node(supervisor, name, socket) for name, socket in sockets.items()]
    folder = supervisor.folder
    door = supervisor.door.fileno()
    front = demo_cluster.haproxy(folder.path, door, sockets, folder.log("haproxy"))
    return [nodes, [front], [*workers(supervisor, TWICE), *clocks]]


def workers(supervisor: Supervisor, twice: Collection[str] = ()) -> list[Child]:
    """The least of each queue, by the bounds of this machine; two of those that must be `twice`."""
    pools = scaling.pools(os.environ.get("FAIRSEAT_WORKERS", ""))
    return [
        supervisor.child(f"{queue}-{number}", "worker", queue)
        for queue, pool in pools.items()
        for number in range(1, max(pool.least, 2 if queue in twice else 1) + 1)
    ]


def _node(supervisor: "PortalSupervisor", name: str, socket: Path) -> Child:
    node = supervisor.child(name)
    node.command = GUNICORN
    processes = os.environ.get("WEB_CONCURRENCY") or max(1, (os.cpu_count() or 1) // len(NODES))
    node.env = {
        **node.env,
        **_started(supervisor, node),
        "FAIRSEAT_BIND": f"unix:{socket}",
        "FAIRSEAT_PROXIES": "1",
        "WEB_CONCURRENCY": str(processes),
    }
    return node


def _started(supervisor: "PortalSupervisor", child: Child) -> dict[str, str]:
    """Where a web server says that it serves, and what it waits for before it does."""
    started = supervisor.folder.path / f"{child.name}.started"
    restart.reset(started)
    return {restart.STARTED: str(started), restart.PREPARED: str(supervisor.prepared)}
