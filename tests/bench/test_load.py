"""The load generator, against a server that ends connections which have been idle."""

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from socket import create_server, socket

import pytest

from bench import load
from bench.load import Script

ASKED = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"


@pytest.fixture
def port() -> Iterator[int]:
    """One answer in two parts to a connection, which is then ended; three connections in all."""

    def serve() -> None:
        for _ in range(3):
            line, _ = listening.accept()
            with line:
                if line.recv(4096):
                    line.sendall(ANSWER[:50])
                    line.sendall(ANSWER[50:])

    with create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(1) as pool:
        pool.submit(serve)
        yield port_of(listening)


@pytest.fixture
def deaf_port() -> Iterator[int]:
    """Three connections, each ended once something has been asked and nothing answered."""

    def serve() -> None:
        for _ in range(3):
            line, _ = listening.accept()
            with line:
                line.recv(4096)

    with create_server(("127.0.0.1", 0)) as listening, ThreadPoolExecutor(1) as pool:
        pool.submit(serve)
        yield port_of(listening)


def port_of(listening: socket) -> int:
    return int(listening.getsockname()[1])


def test_someone_asks_again_over_another_connection(port: int) -> None:
    bodies = []

    def script() -> Script:
        for _ in range(3):
            answer = yield ASKED
            assert answer
            bodies.append(answer.body)
            yield time.perf_counter() + 0.01

    report = load.play(port, [script()])
    assert bodies == [b"hello"] * 3
    assert report.statuses == {200: 3}


def test_each_request_is_sent_once_by_one_of_many(port: int) -> None:
    report = load.run(port, [ASKED] * 3, 3)
    assert report.statuses == {200: 3}
    assert len(report.latencies) == 3


def test_what_is_never_answered_is_counted_and_not_asked_again(deaf_port: int) -> None:
    report = load.run(deaf_port, [ASKED] * 3, 1)
    assert report.statuses == {0: 3}
    assert not report.latencies
