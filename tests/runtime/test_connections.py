"""The web server accepts connections faster than it answers them, and begins them in order."""

import socket
from collections.abc import Iterator
from contextlib import ExitStack
from threading import Event, Thread

import gevent
import pytest
from gevent.pool import Pool

from portal.runtime.gunicorn_worker import Server

COUNT, AT_MOST = 600, 40  # connections in all, and how many of them are answered at once


class Answers:
    """A server whose answers are the requests; it notes their order, and how many run at once."""

    def __init__(self) -> None:
        self.begun: list[bytes] = []
        self.running = self.most = 0
        self.listening = socket.create_server(("127.0.0.1", 0), backlog=COUNT)
        self.address = self.listening.getsockname()
        self.go, self.ended = Event(), False

    def run(self) -> None:
        """Serve until `ended`."""
        self.go.wait()
        self.listening.setblocking(False)  # noqa: FBT003  its only parameter
        server = Server(self.listening, handle=self.answer, spawn=Pool(AT_MOST))
        server.start()
        while not self.ended:
            gevent.sleep(0.01)
        server.stop()

    def answer(self, connection: socket.socket, _address: object) -> None:
        """Answer one request."""
        self.running += 1
        self.most = max(self.most, self.running)
        request = connection.recv(100)
        self.begun.append(request)
        gevent.sleep(0.001)  # others run meanwhile
        self.running -= 1
        connection.sendall(request)


@pytest.fixture
def answers() -> Iterator[Answers]:
    made = Answers()
    thread = Thread(target=made.run)
    thread.start()
    yield made
    made.ended = True
    made.go.set()
    thread.join()


def test_all_are_answered_in_their_order_and_no_more_at_once_than_allowed(
    answers: Answers,
) -> None:
    with ExitStack() as stack:
        asked = [
            stack.enter_context(socket.create_connection(answers.address, timeout=30))
            for _ in range(COUNT)
        ]
        for number, each in enumerate(asked):
            each.sendall(b"%d" % number)
        answers.go.set()
        assert [each.recv(100) for each in asked] == [b"%d" % number for number in range(COUNT)]
    assert answers.begun == [b"%d" % number for number in range(COUNT)]
    assert answers.most <= AT_MOST
