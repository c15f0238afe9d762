"""`fairseat restart`: every process is another one afterwards, and no visitor was turned away."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import pytest
import requests
from simple_websocket import Client

from portal import backend as connections
from portal.app import create_app
from portal.backend import Backend
from portal.core.settings import Settings
from portal.runtime.data_folder import DataFolder
from portal.runtime.listener import forget_started, has_started
from tests.cast import an_account
from tests.live.tabs import Tab, cookie
from tests.ports import free_port
from tests.runtime.cluster.replicated_ledger import until
from tests.runtime.test_up import Up

pytestmark = pytest.mark.slow
BROKEN = """
import os, sys
if "gunicorn" in sys.orig_argv and os.path.exists({!r}):
    sys.exit(3)
"""


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of what runs: `said` is what it says, and where `broken` is no web starts."""
    return tmp_path_factory.mktemp("restart")


@pytest.fixture(scope="module")
def up(place: Path) -> Iterator[Up]:
    """One with two web processes."""
    (place / "sitecustomize.py").write_text(BROKEN.format(str(place / "broken")))
    running = Up(place / "var", free_port(), said=place / "said")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("WEB_CONCURRENCY", "2")
        patch.setenv("PYTHONPATH", str(place))
        try:
            running.start()
            running.said = None  # what commands say is read from themselves
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
    """Asks again and again, and remembers whatever was no answer."""

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
            self.ended.wait(0.02)  # the restart needs the processor as well

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
    first, *names, last = said.splitlines()
    assert (first, last) == ("Restarting the processes one by one.", "Restarted.")
    after = folder.pids()
    mine = before.keys() - {"postgres", "valkey"}
    assert [name for name in mine if after[name] == before[name]] == []
    assert set(names) == mine
    assert page.closed(90) == 1012
    Tab(Client.connect(address, headers=headers)).close()
    visitors.end()
    assert visitors.wrong == []
    assert {name: after[name] for name in ("postgres", "valkey")} == {
        name: before[name] for name in ("postgres", "valkey")
    }


def test_nothing_is_replaced_if_the_new_web_server_does_not_start(up: Up, place: Path) -> None:
    before = DataFolder(up.var).pids()
    (place / "broken").touch()
    up.command("restart", "--no-wait").communicate(timeout=120)
    said = place / "said"
    until(lambda: "web does not start, so nothing is replaced" in said.read_text(), "no word")
    assert DataFolder(up.var).pids() == before
    assert requests.get(f"{up.address}/login", timeout=60).status_code == 200


def test_a_web_server_needs_no_space_to_say_that_it_serves(tmp_path: Path) -> None:
    started = tmp_path / "started"
    forget_started(started)
    assert started.exists()  # so that it is touched, and not made
    assert not has_started(started)
    started.touch()
    assert has_started(started)


def test_where_nothing_runs_it_says_so(tmp_path: Path) -> None:
    said, _ = Up(tmp_path / "var", free_port()).command("restart").communicate(timeout=120)
    assert "Nothing runs on" in said
