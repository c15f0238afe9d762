"""Whether the browser is still there is asked of it now and then, over its socket."""

import socket
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from threading import Thread
from time import time

import pytest
from simple_websocket import ConnectionClosed, Server
from sqlalchemy import update

from portal.backend import Backend
from portal.core import redis_clients
from portal.core.db import transaction
from portal.live import frames
from portal.live.hub import Hub
from portal.live.page import REFUSED, RESTART
from portal.live.sockets import SocketSession
from portal.people import visitors
from portal.people.models import Account
from portal.registration import limits
from tests import cast as builders
from tests.cast import Cast
from tests.live.hubs import end
from tests.live.tabs import HANDSHAKE
from tests.recorder.processes import wait_for
from tests.web.pages import seat

PING, PONG, GOODBYE = 0x89, 0x8A, 0x88
NO_MASK = b"\0\0\0\0"


@dataclass
class Line:
    """A talk, and the browser's end of it."""

    talk: SocketSession
    browser: socket.socket

    def look(self) -> None:
        """Have it be time to look whether the browser is there."""
        self.talk.page.ask_to_check()

    def heard(self) -> tuple[int, bytes]:
        """The next frame: what it is and what it holds."""
        kind, size = self.browser.recv(2, socket.MSG_WAITALL)
        return kind, self.browser.recv(size, socket.MSG_WAITALL) if size else b""


@pytest.fixture
def line(backend: Backend, cast: Cast) -> Iterator[Line]:
    """A line over which the handshake has gone."""
    redis = redis_clients.subscriber(backend.settings.redis_url)
    hub = Hub(redis, backend.ledger.seats, lambda seats, _staff: str(seats))
    ours, theirs = socket.socketpair()
    headers = {f"HTTP_{name.upper().replace('-', '_')}": each for name, each in HANDSHAKE.items()}
    environ = {"werkzeug.socket": ours, "HTTP_HOST": "tests", **headers}
    frames.prepare(environ)
    ada = visitors.find(cast.ada.account_id)
    assert ada
    talk = SocketSession(Server.accept(environ), hub, ada)
    thread = Thread(target=run, args=(talk,), daemon=True)
    thread.start()
    theirs.settimeout(60)
    while not theirs.recv(1024).endswith(b"\r\n\r\n"):
        pass
    yield Line(talk, theirs)
    theirs.close()
    thread.join(60)
    end(hub)


def run(talk: SocketSession) -> None:
    """Talk until the browser has gone; anything else that ends it fails the test."""
    with suppress(ConnectionClosed):
        talk.run()


def test_counts_of_sections_that_are_no_longer_shown_end_with_selection(
    line: Line, backend: Backend, cast: Cast
) -> None:
    """Even for a client that stays connected and asks for nothing anew."""
    term, course = builders.a_term(), builders.a_course()
    window = builders.an_open_window(term)
    mine, other = (builders.a_section(course, term) for _ in range(2))
    seat(cast.ada, mine)
    talk = line.talk
    wanted = frozenset({mine.id, other.id})
    talk.page.term = term.id
    wait_for(lambda: talk.page in talk.hub.pages)
    talk.hub.subscribe(talk.page, wanted, set())
    line.look()
    assert line.heard()
    assert talk.page.sections == wanted
    backend.ledger.close_window(term.id, window.id, "tests")
    limits.forget_windows()
    line.browser.sendall(bytes([PONG, 0x80]) + NO_MASK)

    def only_mine() -> bool:
        return talk.page.sections == {mine.id}

    # The hub's own look, once a minute, may come first.
    wait_for(lambda: talk.socket.pong_received or only_mine())
    if not only_mine():
        line.look()
    wait_for(only_mine)


def test_one_that_answers_is_asked_again_and_again(line: Line) -> None:
    for _ in range(3):
        line.look()
        assert line.heard() == (PING, b"")
        line.browser.sendall(bytes([PONG, 0x80]) + NO_MASK)
        wait_for(lambda: line.talk.socket.pong_received)


def test_one_that_does_not_is_asked_to_come_back(line: Line) -> None:
    line.look()
    assert line.heard() == (PING, b"")
    line.look()
    kind, why = line.heard()
    assert (kind, int.from_bytes(why[:2])) == (GOODBYE, RESTART)


def test_one_that_has_just_closed_is_not_asked(line: Line) -> None:
    line.talk.page.check_due = True
    line.browser.sendall(bytes([GOODBYE, 0x80]) + NO_MASK)
    while line.heard()[0] != GOODBYE:  # a ping may have come before
        pass
    line.talk.socket.event.set()


def test_one_whose_session_is_over_is_sent_away(line: Line) -> None:
    line.talk.ends = time() - 1
    line.look()
    kind, why = line.heard()
    assert (kind, int.from_bytes(why[:2])) == (GOODBYE, REFUSED)


def test_one_whose_sessions_were_all_ended_is_sent_away(line: Line, cast: Cast) -> None:
    with transaction() as session:
        mine = update(Account).where(Account.id == cast.ada.account_id)
        session.execute(mine.values(session_epoch=Account.session_epoch + 1))
    visitors.doubt(cast.ada.account_id or 0)
    line.look()
    kind, why = line.heard()
    assert (kind, int.from_bytes(why[:2])) == (GOODBYE, REFUSED)
