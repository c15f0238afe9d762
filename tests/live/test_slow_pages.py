"""A page that takes nothing harms no other, and a ledger that was away is heard again."""

import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Thread

import pytest
from simple_websocket import Server

from portal.backend import Backend
from portal.catalog.models import Section
from portal.core import redis_clients
from portal.core.ledger_servers import OneServer
from portal.ledger.client import Ledger
from portal.ledger.types import SeatCounts, SectionSpec
from portal.live import frames
from portal.live.hub import Hub
from portal.live.page import Page
from portal.live.sockets import SocketSession
from portal.people import visitors
from portal.people.visitors import Visitor
from portal.runtime import embedded_valkey
from tests.cast import Cast
from tests.live.conftest import Open
from tests.live.hubs import end
from tests.live.nodes import Node, a_node
from tests.live.tabs import HANDSHAKE

PAUSE = 5.0  # seconds between two updates, as if very many pages were open


def drawn(seats: SeatCounts, _staff: bool) -> str:  # noqa: FBT001 - as the cache calls it
    """A fragment that is larger than a narrow pipe."""
    return f"{seats.open} open {'x' * 50_000}"


@pytest.fixture
def hub(backend: Backend) -> Iterator[Hub]:
    redis = redis_clients.subscriber(backend.settings.redis_url)
    hub = Hub(redis, backend.ledger.seats, drawn)
    yield hub
    end(hub)


@pytest.fixture
def ada(cast: Cast) -> Visitor:
    found = visitors.find(cast.ada.account_id)
    assert found
    return found


def a_page_that_takes_nothing(
    hub: Hub, visitor: Visitor
) -> tuple[Thread, SocketSession, socket.socket]:
    """A page whose browser never reads, over a narrow pipe."""
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
    headers = {f"HTTP_{name.upper().replace('-', '_')}": each for name, each in HANDSHAKE.items()}
    environ = {"werkzeug.socket": ours, "HTTP_HOST": "tests", **headers}
    frames.prepare(environ)
    talk = SocketSession(Server.accept(environ), hub, visitor)
    thread = Thread(target=talk.run, daemon=True)
    thread.start()
    return thread, talk, theirs


def until(holds: Callable[[], bool], seconds: float = 60) -> None:
    """Wait for something to hold."""
    deadline = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_a_page_that_takes_nothing_is_dropped_and_holds_up_no_one(
    hub: Hub, ada: Visitor, backend: Backend, section: Section, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(frames, "SEND_SECONDS", 12.0)
    thread, talk, browser = a_page_that_takes_nothing(hub, ada)
    reader = Page(ada, lambda: None)
    hub.add(reader)
    until(lambda: talk.page in hub.pages)
    for page in (talk.page, reader):
        page.term = section.term_id
        hub.subscribe(page, frozenset({section.id}), set())
    for version in range(2, 8):
        put(backend.ledger, section, version)
        until(lambda: f"{version} open" in reader.take_update().html)  # noqa: B023
    assert talk.page in hub.pages  # the others have not waited until it was dropped
    until(lambda: talk.page not in hub.pages)
    thread.join(60)
    assert not thread.is_alive()
    browser.close()


def test_counts_for_very_many_pages_leave_time_for_claims(
    hub: Hub, ada: Visitor, backend: Backend, section: Section, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("portal.live.hub.PAGES_A_SECOND", 0.1)
    monkeypatch.setattr("portal.live.hub.LONGEST_SECONDS", PAUSE)
    page = Page(ada, lambda: None)
    hub.add(page)
    page.term = section.term_id
    hub.subscribe(page, frozenset({section.id}), set())
    put(backend.ledger, section, 3)
    until(lambda: "3 open" in page.take_update().html)
    began, updates = time.monotonic(), 0
    for version in range(4, 44):
        put(backend.ledger, section, version)
        time.sleep(0.02)
        updates += bool(page.take_update().html)
    until(lambda: "43 open" in page.take_update().html)
    assert updates <= (time.monotonic() - began) / PAUSE + 1


def put(ledger: Ledger, section: Section, capacity: int) -> None:
    """Give the section another capacity, which is its version too."""
    spec = SectionSpec(section.id, capacity, 5, 0, "OPEN", 1, 400, 400, (), capacity)
    ledger.put_section(section.term_id, spec)


@dataclass
class Lonely:
    """A web server with a ledger of its own; `restart` stops and starts that ledger."""

    node: Node
    redis_url: str
    restart: Callable[[], None]


@pytest.fixture
def lonely(tmp_path: Path, logs: Path) -> Iterator[Lonely]:
    with (
        TemporaryDirectory(prefix="fairseat-", dir="/tmp") as name,
        (tmp_path / "lock").open("w") as lock,
    ):
        sockets = Path(name)
        server = embedded_valkey.child(
            tmp_path / "valkey", sockets, tmp_path / "log", durable=True, lock=lock.fileno()
        )

        def restart() -> None:
            server.stop()
            server.start()
            until(lambda: embedded_valkey.answers(sockets))

        restart()
        redis_url = embedded_valkey.url(sockets)
        with a_node(logs, {"REDIS_URL": redis_url}) as node:
            yield Lonely(node, redis_url, restart)
        server.stop()


def test_a_ledger_that_was_away_is_followed_again(
    cast: Cast, section: Section, open_tab: Open, lonely: Lonely
) -> None:
    redis = redis_clients.commands(lonely.redis_url)
    put(Ledger(OneServer(redis)), section, 2)
    tab = open_tab(cast.ada.account_id, lonely.node)
    tab.ask(section.term_id, [section.id])
    tab.shows(section.id, 2)
    lonely.restart()
    redis.connection_pool.disconnect()
    put(Ledger(OneServer(redis)), section, 3)
    tab.shows(section.id, 3)
    put(Ledger(OneServer(redis)), section, 4)
    tab.shows(section.id, 4)
    redis.close()
