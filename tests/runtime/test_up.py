"""`fairseat up`: one command runs the whole portal, and nothing of it outlives it."""

import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import psycopg2
import pytest
from redis import Redis

from portal.runtime.child_process import prctl
from portal.runtime.data_folder import DataFolder, Run
from portal.runtime.listener import not_ready
from tests.ports import free_port

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("up")]
FAIRSEAT = [sys.executable, "-m", "portal.runtime.cli"]
CLUSTER = [sys.executable, "-m", "tests.demo_cluster"]
FEW = "record=1-2@50 background=1-2@10"  # each process takes a second of a core to start


@dataclass
class Up:
    """A `fairseat up` of a test, or the demo cluster, in a data folder and at a port of its own."""

    var: Path
    port: int
    what: str = "up"
    demo: bool = False
    workers: str = FEW
    given: dict[str, str] = field(default_factory=dict)  # more of its environment
    said: Path | None = None  # a file for what it says, which else must be read before it is much
    processes: list[subprocess.Popen[str]] = field(default_factory=list)

    def start(self) -> None:
        self.processes.append(self.command(self.what))
        deadline = time.monotonic() + 180
        self.serves(deadline)
        while not self._noted():
            assert time.monotonic() < deadline, "its processes are not noted"
            time.sleep(0.05)

    def serves(self, deadline: float) -> None:
        """Wait until it says that it can serve."""
        while missing := not_ready(self.address):
            assert self.process.poll() is None, self.process.communicate()
            assert time.monotonic() < deadline, missing
            time.sleep(0.1)

    def _noted(self) -> bool:
        """Whether it has started all its processes, and told which they are."""
        own = {each.pid for each in psutil.Process(self.process.pid).children()}
        folder = DataFolder(self.var / "cluster" if self.what == "cluster" else self.var)
        with suppress(OSError):
            known = folder.pids()
            return any(known.get(name) in own for name in ("scheduler", "scheduler-1"))
        return False

    def command(self, *arguments: str) -> subprocess.Popen[str]:
        env = {name: value for name, value in os.environ.items() if name not in GIVEN}
        env |= {
            "FAIRSEAT_VAR": str(self.var),
            "PORT": str(self.port),
            "FAIRSEAT_DEMO": str(int(self.demo)),
            "FAIRSEAT_WORKERS": self.workers,
            **self.given,
        }
        with ExitStack() as files:
            said = files.enter_context(self.said.open("a")) if self.said else subprocess.PIPE
            return subprocess.Popen(
                CLUSTER if arguments == ("cluster",) else [*FAIRSEAT, *arguments],
                env=env,
                text=True,
                stdout=said,
                stderr=subprocess.STDOUT,
            )

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def process(self) -> subprocess.Popen[str]:
        return self.processes[-1]

    def run(self) -> Run:
        """What it has announced to other terminals."""
        run = DataFolder(self.var).own()
        assert run
        return run

    def family(self) -> list[psutil.Process]:
        return psutil.Process(self.process.pid).children(recursive=True)

    def child(self, name: str) -> psutil.Process | None:
        """The supervisor's own child of that name or argument; `record` finds record-1."""
        for each in psutil.Process(self.process.pid).children():
            with suppress(psutil.NoSuchProcess):  # it may end while it is looked at
                known = (each.name().partition("-")[0], each.name(), *each.cmdline())
                if each.status() != psutil.STATUS_ZOMBIE and name in known:
                    return each
        return None

    def end(self) -> None:
        for process in self.processes:
            process.terminate()
            process.communicate(timeout=120)


GIVEN = {"DATABASE_URL", "REDIS_URL", "QUEUE_REDIS_URL", "SECRET_KEY"}


@pytest.fixture(scope="module")
def up(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Up]:
    """One that runs; a test that stops it starts it again."""
    running = Up(tmp_path_factory.mktemp("up") / "var", free_port())
    running.start()
    yield running
    running.end()


def test_it_serves_when_it_says_so(up: Up) -> None:
    assert not not_ready(up.address)


@pytest.mark.skipif(not prctl(), reason="only Linux leaves a process to its grandparent")
def test_workers_and_the_scheduler_are_forked_from_the_start(up: Up) -> None:
    pids = DataFolder(up.var).pids()
    for name in ("record-1", "scheduler"):
        assert psutil.Process(pids[name]).name() == name


def test_its_secrets_are_for_its_user_alone(up: Up) -> None:
    assert (up.var / "secret").stat().st_mode & 0o077 == 0
    assert (up.var / "run.json").stat().st_mode & 0o077 == 0


def test_a_second_one_on_the_same_folder_is_refused(up: Up) -> None:
    second = up.command("up")
    said, _ = second.communicate(timeout=120)
    assert second.returncode == 1
    assert f"already runs on {up.var}" in said


def test_a_port_in_use_is_named(up: Up, tmp_path: Path) -> None:
    second = Up(tmp_path / "var", up.port).command("up")
    said, _ = second.communicate(timeout=120)
    assert second.returncode == 1
    assert f"Port {up.port} of 127.0.0.1 can't be opened" in said
    assert "Traceback" not in said


def test_commands_in_another_terminal_use_its_servers(up: Up) -> None:
    said, _ = up.command("token", "nobody").communicate(timeout=120)
    assert said == "Error: There is no account named 'nobody'.\n"


@pytest.mark.parametrize("name", ["gunicorn", "record", "postgres", "valkey-server"])
def test_a_process_that_dies_comes_back(up: Up, name: str) -> None:
    victim = up.child(name)
    assert victim
    victim.kill()
    deadline = time.monotonic() + 120
    while up.child(name) in {None, victim}:
        assert time.monotonic() < deadline, f"{name} stays away"
        time.sleep(0.1)
    time.sleep(1)  # an earlier answer of /ready may be given again
    up.serves(deadline)


def test_workers_outlive_the_process_that_they_are_forked_from(up: Up) -> None:
    known = DataFolder(up.var).pids()
    psutil.Process(known["fork-server"]).kill()
    worker = psutil.Process(known["record-1"])
    worker.kill()
    deadline = time.monotonic() + 120
    while not {"fork-server", "record-1"} <= changed(up, known):
        assert time.monotonic() < deadline, "nobody comes back"
        time.sleep(0.1)
    assert changed(up, known) == {"fork-server", "record-1"}
    up.serves(deadline)  # once the new worker has registered


def changed(up: Up, known: dict[str, int]) -> set[str]:
    """The names of the processes that are others by now."""
    now = DataFolder(up.var).pids()
    return {name for name, pid in known.items() if now.get(name) != pid}


def test_all_data_is_there_after_a_stop_and_a_start(up: Up) -> None:
    remember(up.run())
    family = up.family()
    up.process.send_signal(signal.SIGINT)
    said, _ = up.process.communicate(timeout=120)
    assert up.process.returncode == 0, said
    assert not [each for each in family if each.is_running()]
    up.start()
    assert remembered(up.run())


def test_a_killed_one_leaves_no_one_behind_and_its_folder_usable(up: Up) -> None:
    remember(up.run())
    family = up.family()
    assert len(family) > 10
    sockets = Path(up.run().sockets)
    up.process.kill()
    _, left = psutil.wait_procs(family, timeout=120)
    assert left == []
    up.start()
    assert not sockets.exists()
    assert remembered(up.run())


def remember(run: Run) -> None:
    with psycopg2.connect(run.database_url) as connection, connection.cursor() as cursor:
        cursor.execute("INSERT INTO rooms (name) VALUES ('Hall of memory') ON CONFLICT DO NOTHING")
    connection.close()
    with Redis.from_url(run.redis_url) as redis:
        redis.set("memory", "kept")


def remembered(run: Run) -> bool:
    with psycopg2.connect(run.database_url) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT count(*) FROM rooms WHERE name = 'Hall of memory'")
        (rooms,) = cursor.fetchone() or (0,)
    connection.close()
    with Redis.from_url(run.redis_url) as redis:
        return rooms == 1 and redis.get("memory") == b"kept"
