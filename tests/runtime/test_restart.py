"""`fairseat restart`: every process is another one afterwards, and no visitor was turned away."""

import os
import signal
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread
from time import sleep

import pytest
import requests
from simple_websocket import Client

from portal import backend as connections
from portal.app import create_app
from portal.backend import Backend
from portal.core.settings import Settings
from portal.runtime import restart as restarts
from portal.runtime.child_process import Child, SupervisedChild
from portal.runtime.data_folder import DataFolder, Run
from portal.runtime.restart import STARTED, RestartLog, has_started
from tests.cast import an_account
from tests.live.tabs import Tab, cookie
from tests.runtime.cluster.replicated_ledger import until
from tests.runtime.test_up import Up, free_port

pytestmark = pytest.mark.slow


@pytest.fixture
def up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Up]:
    """One with two web processes."""
    monkeypatch.setenv("WEB_CONCURRENCY", "2")
    running = Up(tmp_path / "var", free_port())
    try:
        running.start()
        yield running
    finally:
        running.end()


@pytest.fixture
def at_home(up: Up, connected: Backend, settings: Settings) -> Iterator[Backend]:
    """The process of the tests, connected to the servers of that one."""
    run = up.run()
    key = (up.var / "secret").read_text()
    yield connections.connect(
        replace(settings, database_url=run.database_url, redis_url=run.redis_url, secret_key=key)
    )
    connections.connect(connected.settings)


class Visitors:
    """Asks all the time, and remembers whatever was no answer."""

    def __init__(self, address: str) -> None:
        self.address, self.wrong, self.answers = address, list[str](), 0
        self.ended = Event()
        self.thread = Thread(target=self._ask, daemon=True)
        self.thread.start()

    def _ask(self) -> None:
        while not self.ended.is_set():
            try:
                # On a connection of its own: what is sent on one that is being closed is the
                # browser's to send again.
                answer = requests.get(f"{self.address}/login", timeout=60)
                if answer.status_code != 200:
                    self.wrong.append(f"{answer.status_code}: {answer.text[:200]}")
            except requests.RequestException as error:
                self.wrong.append(repr(error))
            self.answers += 1

    def end(self) -> None:
        self.ended.set()
        self.thread.join(90)


def test_no_request_fails_and_pages_come_back_while_every_process_is_replaced(
    up: Up, at_home: Backend
) -> None:
    app = create_app(at_home.settings)
    session = cookie(app, an_account("ada").id)
    headers = {"Origin": "http://127.0.0.1", "Cookie": session}
    address = f"ws://127.0.0.1:{up.port}/ws"
    page = Tab(Client.connect(address, headers=headers))
    folder = DataFolder(up.var)
    before, visitors = folder.pids(), Visitors(up.address)
    until(lambda: visitors.answers > 3, "nobody is answered")
    restart = up.command("restart")
    said, _ = restart.communicate(timeout=300)
    assert restart.returncode == 0, said
    first, *lines, last = said.splitlines()
    assert (first, last) == ("Restarting the processes one by one.", "Restarted.")
    after = folder.pids()
    mine = before.keys() - {"postgres", "valkey"}
    assert [name for name in mine if after[name] == before[name]] == []
    assert {line.split(" (")[0] for line in lines} == mine
    assert page.closed(90) == 1012
    Tab(Client.connect(address, headers=headers)).close()
    visitors.end()
    assert visitors.wrong == []
    assert {name: after[name] for name in ("postgres", "valkey")} == {
        name: before[name] for name in ("postgres", "valkey")
    }


@pytest.fixture
def supervised(tmp_path: Path) -> Iterator[Up]:
    """A data folder whose supervisor is the process of the tests."""
    up = Up(tmp_path / "var", free_port())
    folder = DataFolder(up.var)
    folder.own()
    folder.announce(Run(os.getpid(), up.address, "", "", ""))
    yield up
    folder.release()


@pytest.fixture
def on_restart() -> Iterator[Callable[[Callable[[], None]], None]]:
    """What the supervisor does when it is asked to restart."""
    before = signal.getsignal(signal.SIGUSR1)
    yield lambda act: signal.signal(signal.SIGUSR1, lambda *_: act()) and None
    signal.signal(signal.SIGUSR1, before)


def test_a_restart_that_fails_is_told_with_its_reason_and_a_status(
    supervised: Up, on_restart: Callable[[Callable[[], None]], None]
) -> None:
    def fail() -> None:
        told = RestartLog(supervised.var)
        told.write("web (1 of 2)")
        told.end("web does not start")

    RestartLog(supervised.var).end()  # an earlier one, which went well
    on_restart(fail)
    restart = supervised.command("restart")
    said, _ = restart.communicate(timeout=120)
    assert restart.returncode == 1
    assert said.splitlines()[1:] == ["web (1 of 2)", "Error: web does not start"]


def test_a_portal_that_stops_meanwhile_is_told(
    supervised: Up, on_restart: Callable[[Callable[[], None]], None]
) -> None:
    def stop() -> None:
        RestartLog(supervised.var).write("web (1 of 2)")
        (supervised.var / "run.json").unlink()

    on_restart(stop)
    restart = supervised.command("restart")
    said, _ = restart.communicate(timeout=120)
    assert restart.returncode == 1
    assert "The portal was stopped meanwhile" in said


def test_who_does_not_wait_is_told_nothing_more(
    supervised: Up, on_restart: Callable[[Callable[[], None]], None]
) -> None:
    asked: list[int] = []
    on_restart(lambda: asked.append(1))
    restart = supervised.command("restart", "--no-wait")
    said, _ = restart.communicate(timeout=120)
    assert (restart.returncode, said) == (0, "Restart requested.\n")
    assert asked == [1]


IDLE = [sys.executable, "-Sc", "import time; time.sleep(600)"]  # it never says that it serves


def test_the_old_web_server_goes_on_where_the_new_one_does_not_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restarts, "TIMEOUT", 1.0)
    started = tmp_path / "started"
    web = SupervisedChild(
        Child("web", IDLE, tmp_path / "log", {STARTED: str(started)}, keep_open=(0,))
    )
    worker = SupervisedChild(Child("record-1", IDLE, tmp_path / "log"))
    for each in (web, worker):
        each.start()
    started.touch()
    old = web.child.process, worker.child.process
    said: list[str] = []
    failure = restarts.replace_all([web, worker], lambda: sleep(0.01), said.append)
    assert failure.startswith("web does not start")
    assert said == ["web (1 of 2)"]
    assert (web.child.process, worker.child.process) == old
    assert web.child.alive
    assert has_started(started)
    for each in (web, worker):
        each.child.kill()


def test_the_old_web_server_goes_on_where_no_process_can_be_started(tmp_path: Path) -> None:
    started = tmp_path / "started"
    child = Child("web", IDLE, tmp_path / "log", {STARTED: str(started)}, keep_open=(0,))
    web = SupervisedChild(child)
    web.start()
    started.touch()
    old = child.process
    child.log = tmp_path  # a log that nobody can write, as on a full disk
    assert restarts.replace_all([web], lambda: None, lambda _: None).startswith(
        "web does not start"
    )
    assert (child.process, child.alive, has_started(started)) == (old, True, True)
    child.kill()


def test_a_full_disk_ends_no_portal_whose_web_server_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(restarts, "TIMEOUT", 0.2)
    started = tmp_path / "full" / "started"  # where nothing can be made
    child = Child("web", IDLE, tmp_path / "log", {STARTED: str(started)}, keep_open=(0,))
    web = SupervisedChild(child)
    web.start()
    old = child.process
    failure = restarts.replace_all([web], lambda: sleep(0.01), lambda _: None)
    assert failure.startswith("web does not start")
    assert (child.process, child.alive) == (old, True)
    child.kill()


def test_a_web_server_needs_no_space_to_say_that_it_serves(tmp_path: Path) -> None:
    started = tmp_path / "started"
    restarts.forget_started(started)
    assert started.exists()  # so that it is touched, and not made
    assert not has_started(started)
    started.touch()
    assert has_started(started)
    restarts.forget_started(started)
    assert not has_started(started)


def test_a_restart_that_can_not_be_told_of_changes_nothing_of_the_one_before(
    tmp_path: Path,
) -> None:
    RestartLog(tmp_path).end()
    before = (tmp_path / "restart.json").read_text()
    (tmp_path / "restart.new").mkdir()  # no file can be made there, as on a full disk
    untold = RestartLog(tmp_path)
    untold.write("web (1 of 1)")
    untold.end("web does not start")
    assert (tmp_path / "restart.json").read_text() == before


def test_where_nothing_runs_it_says_so(tmp_path: Path) -> None:
    said, _ = Up(tmp_path / "var", free_port()).command("restart").communicate(timeout=120)
    assert "Nothing runs on" in said
