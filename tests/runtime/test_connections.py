"""The web server answers connections in order, and begins with more while many wait."""

import socket
import time
from collections.abc import Iterator
from contextlib import ExitStack
from threading import Event, Thread

import gevent
import pytest
from gevent.pool import Pool

from portal.runtime.gunicorn_worker import AT_ONCE, Server

COUNT = 600  # connections that wait when the server starts
NUMBERS = [b"%d" % number for number in range(COUNT)]


class Answers:
    """A server whose answers are the requests; it notes their order and how many run at once."""

    def __init__(self) -> None:
        self.begun: list[bytes] = []
        self.running = self.most = 0
        self.listening = socket.create_server(("127.0.0.1", 0), backlog=COUNT)
        self.address = self.listening.getsockname()
        self.go = Event()
        self.at_most, self.closes_after = COUNT, COUNT

    def run(self) -> None:
        """Serve; close the server after so many answers have begun."""
        self.go.wait()
        self.listening.setblocking(False)  # noqa: FBT003  its only parameter
        pool = Pool(self.at_most)
        server = Server(self.listening, handle=self.answer, spawn=pool)
        server.start()
        while len(self.begun) < self.closes_after:
            gevent.sleep(0)
        server.close()
        pool.join()

    def answer(self, connection: socket.socket, _address: object) -> None:
        self.running += 1
        self.most = max(self.most, self.running)
        request = connection.recv(100)
        self.begun.append(request)
        time.sleep(0.0005)  # as a processor is busy: no other greenlet runs
        gevent.sleep(0)
        self.running -= 1
        connection.sendall(request)

    def to_all(self) -> list[bytes]:
        """Return the answers to COUNT connections, in their order; empty for one that was reset."""
        with ExitStack() as stack:
            asked = [
                stack.enter_context(socket.create_connection(self.address, timeout=30))
                for _ in range(COUNT)
            ]
            for number, each in zip(NUMBERS, asked, strict=True):
                each.sendall(number)
            self.go.set()
            return [_received(each) for each in asked]


def _received(connection: socket.socket) -> bytes:
    try:
        return connection.recv(100)
    except ConnectionResetError:
        return b""


@pytest.fixture
def answers() -> Iterator[Answers]:
    made = Answers()
    thread = Thread(target=made.run)
    thread.start()
    yield made
    thread.join()


def test_all_are_answered_in_their_order_and_no_more_at_once_than_allowed(
    answers: Answers,
) -> None:
    answers.at_most = 40
    assert answers.to_all() == answers.begun == NUMBERS
    assert answers.most <= answers.at_most


def test_many_begin_at_once_while_many_wait(answers: Answers) -> None:
    assert answers.to_all() == NUMBERS
    assert answers.most > 5 * AT_ONCE


def test_all_that_began_are_answered_when_the_server_closes(answers: Answers) -> None:
    answers.closes_after = COUNT // 2
    received = [each for each in answers.to_all() if each]
    assert received == answers.begun
    assert len(received) >= COUNT // 2
