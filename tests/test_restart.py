"""`fairseat restart`: every process is another one afterwards, and no visitor was turned away."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from threading import Event, Thread

import pytest
import requests
from simple_websocket import Client

from portal import backend as connections
from portal import create_app
from portal.backend import Backend
from portal.config import Settings
from portal.embedded.folder import Folder
from tests.cast import an_account
from tests.cluster.stage import until
from tests.live.tabs import Tab, cookie
from tests.test_up import Up, free_port


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
    folder = Folder(up.var)
    before, visitors = folder.pids(), Visitors(up.address)
    until(lambda: visitors.answers > 3, "nobody is answered")
    said, _ = up.command("restart").communicate(timeout=120)
    assert said == "Restarting.\n"
    assert page.closed(90) == 1012
    Tab(Client.connect(address, headers=headers)).close()
    mine = before.keys() - {"postgres", "valkey"}
    until(lambda: all(folder.pids()[name] != before[name] for name in mine), "some are old")
    visitors.end()
    assert visitors.wrong == []
    after = folder.pids()
    assert {name: after[name] for name in ("postgres", "valkey")} == {
        name: before[name] for name in ("postgres", "valkey")
    }


def test_where_nothing_runs_it_says_so(tmp_path: Path) -> None:
    said, _ = Up(tmp_path / "var", free_port()).command("restart").communicate(timeout=120)
    assert "Nothing runs on" in said
