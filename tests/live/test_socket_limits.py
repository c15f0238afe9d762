"""How many sockets one account may have open on one web process."""

import socket
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from flask import Flask

from portal.backend import Backend
from portal.live.hub import MOST_PAGES
from tests.cast import Cast
from tests.live.nodes import Node, a_node
from tests.live.tabs import HANDSHAKE, cookie
from tests.recorder.processes import wait_for

pytestmark = pytest.mark.slow

MANY = 400
SECONDS = 120.0  # for an answer


@pytest.fixture
def node(connected: Backend, tmp_path: Path) -> Iterator[Node]:  # noqa: ARG001
    """A web process that counts no requests, so that only the sockets are counted."""
    with a_node(tmp_path, {"FAIRSEAT_GATE": "0"}) as node:
        yield node


@pytest.fixture
def ada(cast: Cast, application: Flask, node: Node) -> dict[str, str]:
    """The headers of a handshake of hers."""
    session = cookie(application, cast.ada.account_id)
    return {**HANDSHAKE, "Host": node.host, "Origin": node.origin, "Cookie": session}


def asked(node: Node, headers: dict[str, str]) -> socket.socket:
    """A connection on which a handshake was sent."""
    line = socket.create_connection(("127.0.0.1", node.port), timeout=SECONDS)
    head = "".join(f"{name}: {value}\r\n" for name, value in headers.items())
    line.sendall(f"GET /ws HTTP/1.1\r\n{head}\r\n".encode())
    return line


def status(line: socket.socket) -> int:
    return int(line.recv(12).split(b" ")[1])


@contextmanager
def opened(node: Node, headers: dict[str, str], number: int) -> Iterator[Counter[int]]:
    """So many handshakes at the same time, open until the block ends; gives the answers."""
    with ExitStack() as stack, ThreadPoolExecutor(50) as pool:
        lines = list(pool.map(lambda _: stack.enter_context(asked(node, headers)), range(number)))
        yield Counter(pool.map(status, lines))


def test_of_many_handshakes_at_once_no_more_get_a_place_than_there_are(
    node: Node, ada: dict[str, str]
) -> None:
    with opened(node, ada, MANY) as answers:
        assert answers == {101: MOST_PAGES, 429: MANY - MOST_PAGES}


def test_a_place_is_free_again_when_its_page_is_closed(node: Node, ada: dict[str, str]) -> None:
    def all_places_are_free() -> bool:
        with opened(node, ada, MOST_PAGES) as answers:
            return answers == {101: MOST_PAGES}

    for _ in range(3):
        wait_for(all_places_are_free)


def test_a_handshake_that_fails_keeps_no_place(node: Node, ada: dict[str, str]) -> None:
    with opened(node, {**ada, "Sec-WebSocket-Version": "12"}, 2 * MOST_PAGES) as answers:
        assert set(answers) <= {400, 429}
    with opened(node, ada, MOST_PAGES) as answers:
        assert answers == {101: MOST_PAGES}
