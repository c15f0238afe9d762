"""A real web server beside the tests' servers, and tabs that are open on it."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from flask import Flask
from simple_websocket import Client

from portal.backend import Backend
from portal.catalog.models import Section, Term
from portal.core import redis_clients
from portal.ledger.types import Decision
from portal.live.hub import Hub
from tests import cast as builders
from tests.ledger_claims import send_claim
from tests.live.hubs import end
from tests.live.nodes import Node, a_node
from tests.live.tabs import Tab, cookie

Open = Callable[..., Tab]
Claim = Callable[..., Decision]


@pytest.fixture(scope="package")
def logs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("nodes")


@pytest.fixture(scope="package")
def node(connected: Backend, logs: Path) -> Iterator[Node]:  # noqa: ARG001
    """A web server on the tests' database and ledger."""
    with a_node(logs) as node:
        yield node


@pytest.fixture
def term(backend: Backend) -> Term:  # noqa: ARG001
    term = builders.a_term()
    builders.an_open_window(term)
    return term


@pytest.fixture
def section(term: Term) -> Section:
    return builders.a_section(builders.a_course(), term, capacity=2, waitlist=5)


@pytest.fixture
def hub(backend: Backend) -> Iterator[Hub]:
    """A hub in the process of the tests."""
    redis = redis_clients.subscriber(backend.settings.redis_url)
    hub = Hub(redis, backend.ledger.seats, lambda seats, _staff: str(seats))
    hub.start()
    yield hub
    end(hub)


@pytest.fixture
def open_tab(application: Flask, node: Node) -> Iterator[Open]:
    """Opens a page of an account on a node; all are closed after the test."""
    opened: list[Tab] = []

    def open_one(account: int | None, at: Node = node, **headers: str) -> Tab:
        # This client's Host header has no port.
        sent = {"Origin": "http://127.0.0.1", **headers}
        if account:
            sent["Cookie"] = cookie(application, account)
        tab = Tab(Client.connect(f"ws://{at.host}/ws", headers=sent))
        opened.append(tab)
        return tab

    yield open_one
    for tab in opened:
        tab.close()


@pytest.fixture
def claim(backend: Backend, term: Term) -> Claim:
    """Claims a seat, or a place in line, straight at the ledger."""
    windows = [window.id for window in backend.ledger.windows(term.id)]

    def claim_one(student: int, section: int) -> Decision:
        return send_claim(
            backend.ledger,
            term.id,
            student=student,
            section=section,
            credits=400,
            credit_limit=99_900,
            windows=windows,
            wait=True,
        )

    return claim_one
