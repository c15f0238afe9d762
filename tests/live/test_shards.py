"""In a cluster, a process listens to the servers of the terms that its pages show, no others."""

import json
from collections.abc import Iterable, Iterator
from threading import enumerate as all_threads
from typing import Any

import pytest
from flask import Flask
from redis import Redis

from portal.backend import Backend
from portal.catalog.models import Section, Term
from portal.core import redis_clients
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.function_library import prefix
from portal.ledger.types import SeatCounts
from portal.live.hub import Hub
from portal.live.page import Page
from portal.live.publish import sessions_ended
from portal.live.sockets import SocketSession
from portal.people import visitors
from portal.people.visitors import Visitor
from tests import cast as builders
from tests.cast import Cast
from tests.live.hubs import end
from tests.recorder.processes import wait_for
from tests.web.visitors import browser_of

MADE_UP = 987_654


class Shards:
    """The clients that the hub asked for, by hash tag; here, one server has all terms."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.clients: dict[str, Redis] = {}

    def of(self, tag: str) -> Redis:
        self.clients[tag] = redis_clients.subscriber(self.url)
        return self.clients[tag]


class BriefSocket:
    """A socket over which a page sends one message and goes."""

    connected = True

    def __init__(self, message: dict[str, Any]) -> None:
        self.left = [json.dumps(message)]
        self.event = self

    def wait(self) -> None:
        self.connected = bool(self.left)

    def set(self) -> None: ...

    def clear(self) -> None: ...

    def receive(self, timeout: float) -> str | None:  # noqa: ARG002
        return self.left.pop() if self.left else None

    def send(self, frame: str) -> None: ...


class Away:
    """Reads the counts of terms, and knows which can't be read."""

    def __init__(self, backend: Backend) -> None:
        self.ledger = backend.ledger
        self.terms: set[int] = set()
        self.tried: list[int] = []

    def read(self, term: int) -> dict[int, SeatCounts]:
        self.tried.append(term)
        if term in self.terms:
            raise LedgerUnavailable("away")
        return self.ledger.seats(term)


@pytest.fixture
def away(backend: Backend) -> Away:
    return Away(backend)


@pytest.fixture
def shards(backend: Backend) -> Shards:
    return Shards(backend.settings.redis_url)


@pytest.fixture
def hub(backend: Backend, shards: Shards, away: Away) -> Iterator[Hub]:
    redis = redis_clients.subscriber(backend.settings.redis_url)
    hub = Hub(redis, away.read, lambda seats, _staff: f"{seats.taken}", shards.of)
    yield hub
    end(hub)


def visitor_of(account: int) -> Visitor:
    found = visitors.find(account)
    assert found
    return found


def threads_of(term: int) -> list[str]:
    return [each.name for each in all_threads() if each.name == f"hub-shard-{term}"]


def a_page(hub: Hub, visitor: Visitor, term: int, sections: Iterable[int] = ()) -> Page:
    page = Page(visitor, lambda: None)
    hub.add(page)
    page.term = term
    hub.subscribe(page, frozenset(sections), set())
    return page


def test_a_term_that_a_visitor_cannot_see_costs_no_thread(
    hub: Hub, shards: Shards, cast: Cast, app: Flask
) -> None:
    draft = builders.a_term("Draft", state="draft")
    for account, terms in {
        cast.ada.account_id: (MADE_UP, draft.id),
        cast.iris.account_id: (MADE_UP, draft.id),
        cast.max.id: (MADE_UP,),
    }.items():
        for term in terms:
            for more in ({}, {"room": 1}, {"sections": [1]}):
                message: Any = {"term": term, **more}
                with app.app_context():
                    SocketSession(stands_for(message), hub, visitor_of(account)).run()
    assert not shards.clients


def stands_for(message: dict[str, Any]) -> Any:
    """A socket that no browser has opened."""
    return BriefSocket(message)


@pytest.mark.parametrize("path", ["/live/room?room=1&", "/live/fragments?"])
def test_a_term_that_there_is_not_costs_no_connections(
    app: Flask, cast: Cast, backend: Backend, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    assert cast
    asked: list[str] = []
    servers = backend.ledger.servers

    def of(tag: str) -> Redis:
        asked.append(tag)
        return servers.any

    monkeypatch.setattr(servers, "of", of)
    for who in ("ada", "max"):
        answer = browser_of(app, who).get(f"{path}term={MADE_UP}")
        assert answer.status_code == (403 if "room" in path and who == "max" else 404)
    assert prefix(MADE_UP) not in asked


def test_listening_to_a_term_ends_with_its_last_page(
    hub: Hub, shards: Shards, cast: Cast, term: Term, backend: Backend
) -> None:
    ada = visitor_of(cast.ada.account_id)
    first, second = (a_page(hub, ada, term.id) for _ in range(2))
    channel = f"{prefix(term.id)}:live"

    def listeners() -> int:
        return int(backend.redis.pubsub_shardnumsub(channel)[0][1])

    wait_for(lambda: listeners() == 1)
    hub.remove(first)
    other = builders.a_term("Another")
    wait_for(lambda: bool(threads_of(term.id)))
    second.term = other.id
    hub.subscribe(second, frozenset(), set())
    wait_for(lambda: not threads_of(term.id), 20)
    assert listeners() == 0
    assert threads_of(other.id)
    a_page(hub, ada, term.id)
    wait_for(lambda: listeners() == 1)
    assert set(shards.clients) == {prefix(term.id), prefix(other.id)}


def test_one_term_that_is_away_does_not_stop_the_updates_of_others(
    hub: Hub, away: Away, cast: Cast, section: Section, backend: Backend
) -> None:
    gone = builders.a_section(builders.a_course("MAT-1000"), builders.a_term("Another"))
    first, second = visitor_of(cast.ben.account_id), visitor_of(cast.ada.account_id)
    earlier = a_page(hub, first, gone.term_id, [gone.id])
    later = a_page(hub, second, section.term_id, [section.id])
    wait_for(lambda: hears(earlier), 20)
    away.terms.add(gone.term_id)
    backend.redis.client_kill_filter(_type="pubsub")
    wait_for(lambda: hears(later), 20)


def hears(page: Page) -> bool:
    """Return whether a page has heard of the end of its session, by the hub's one subscription."""
    sessions_ended(page.visitor.id)
    return bool(page.closing)
