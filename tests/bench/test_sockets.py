"""Open pages without a browser, at a server that sends what it is told to."""

from collections.abc import Iterator
from socket import create_server, socket
from threading import Thread

import pytest

from bench.sockets import TEXT, Pages
from tests.recorder.processes import wait_for

ACCEPTED = b"HTTP/1.1 101 Switching Protocols\r\n\r\n"


@pytest.fixture
def pages() -> Iterator[tuple[Pages, list[socket]]]:
    """Two open pages, and the server's ends of their lines."""
    with create_server(("127.0.0.1", 0)) as listening:
        ends: list[socket] = []

        def serve() -> None:
            while len(ends) < 2:
                line, _ = listening.accept()
                line.recv(4096)
                line.sendall(ACCEPTED)
                ends.append(line)

        server = Thread(target=serve)
        server.start()
        found = Pages(listening.getsockname()[1])
        found.open(["a", "b"], {})
        server.join()
        yield found, ends
        found.close()
        for each in ends:
            each.close()


def fragment(text: bytes) -> bytes:
    return bytes([0x80 | TEXT, len(text)]) + text


def test_pages_are_counted_once_however_often_they_are_sent_to(
    pages: tuple[Pages, list[socket]],
) -> None:
    opened, (one, other) = pages
    with opened.burst():
        one.sendall(fragment(b"<div>1</div>") + fragment(b"<div>2</div>"))
        wait_for(lambda: opened.arrived == 1)
        assert opened.shown == 0
    wait_for(lambda: opened.shown == 1)
    other.sendall(fragment(b"<div>2</div>"))
    wait_for(lambda: opened.shown == opened.count == 2)
    assert 0 < opened.first_at <= opened.shown_at
    assert opened.text == b"<div>2</div>"


def test_a_burst_forgets_what_was_shown_before(pages: tuple[Pages, list[socket]]) -> None:
    opened, (one, _) = pages
    one.sendall(fragment(b"<div>1</div>"))
    wait_for(lambda: opened.shown == 1)
    with opened.burst():
        assert opened.shown == opened.arrived == 0
