"""Slow clients are cut off and delay no one else."""

import socket
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack
from http.client import HTTPConnection

import pytest

from portal.backend import Backend
from portal.core import latency
from portal.core.latency import LateAnswers
from tests.live.nodes import Node
from tests.web.http.raw_http import FOREVER, hear, line

MANY = 300


@pytest.fixture
def loris(node: Node) -> Iterator[list[socket.socket]]:
    """Open connections with requests that never finish."""
    with ExitStack() as stack:
        lines = [stack.enter_context(line(node)) for _ in range(MANY)]
        for each in lines:
            each.sendall(f"GET /login HTTP/1.1\r\nHost: {node.host}\r\nX-A: ".encode())
        yield lines


def test_page_is_served_despite_many_slow_clients(node: Node, loris: list[socket.socket]) -> None:
    browser = HTTPConnection("127.0.0.1", node.port, timeout=FOREVER)
    browser.request("GET", "/login")
    assert browser.getresponse().status == 200
    browser.close()
    assert len(loris) == MANY


def test_endless_heads_are_cut_off(node: Node, loris: list[socket.socket]) -> None:
    ended = threading.Event()

    def drip() -> None:
        while not ended.wait(0.2):
            for each in loris:
                try:
                    each.sendall(b"x")
                except OSError:
                    continue

    dripping = threading.Thread(target=drip)
    dripping.start()
    try:
        heard = [hear(each) for each in loris]
    finally:
        ended.set()
        dripping.join()
    assert all(each.hung_up for each in heard)
    assert not any(each.text for each in heard)
    assert node.child.alive


def test_endless_body_is_cut_off(node: Node) -> None:
    with line(node) as slow:
        slow.sendall(_head(node, "Content-Length: 1000"))
        ended = threading.Event()
        threading.Thread(target=_drip, args=(slow, ended), daemon=True).start()
        heard = hear(slow)
        ended.set()
    assert heard.hung_up
    assert heard.status == 408 or not heard.text  # the answer may be lost among what is still sent


def test_incomplete_body_gets_an_error(node: Node) -> None:
    with line(node) as slow:
        slow.sendall(_head(node, "Content-Length: 1000") + b"username=")
        heard = hear(slow)
    assert heard.status == 408
    assert "The request took too long" in heard.text
    assert heard.hung_up


def test_incomplete_chunked_body_gets_an_error(node: Node) -> None:
    with line(node) as slow:
        slow.sendall(_head(node, "Transfer-Encoding: chunked") + b"9\r\nusername=\r\n")
        heard = hear(slow)
    assert heard.status == 408
    assert heard.hung_up


def test_body_in_pieces_is_read(node: Node) -> None:
    body = b"username=ada&password=x"
    with line(node) as slow:
        slow.sendall(_head(node, f"Content-Length: {len(body)}", "Connection: close"))
        for at in range(0, len(body), 5):
            slow.sendall(body[at : at + 5])
            time.sleep(0.02)
        heard = hear(slow)
    assert heard.status == 400
    assert "This form has expired" in heard.text  # read in full, and found to have no token


def test_unread_response_is_dropped(node: Node) -> None:
    before = node.child.log.stat().st_size  # what others of these tests made it say
    with socket.socket() as lazy:
        lazy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        lazy.settimeout(FOREVER)
        lazy.connect(("127.0.0.1", node.port))
        request = f"GET /static/build/script.js HTTP/1.1\r\nHost: {node.host}\r\n\r\n".encode()
        with pytest.raises((ConnectionResetError, BrokenPipeError)):
            lazy.sendall(request * 100_000)  # until nobody reads the requests either
    assert b"Traceback" not in node.child.log.read_bytes()[before:]


def test_slow_bodies_do_not_count_as_slow_pages(node: Node, backend: Backend) -> None:
    late = LateAnswers(backend.redis)
    late.too_many()  # forgets the answers before
    with ExitStack() as stack:
        slow = [stack.enter_context(line(node)) for _ in range(10)]
        for each in slow:
            each.sendall(_head(node, "Content-Length: 9", path="/terms/1/room") + b"wait")
        time.sleep(1.2 * latency.LATE / 1000)
        for each in slow[5:]:  # the others never send the rest
            each.sendall(b"=true")
        assert all(hear(each).status for each in slow)
    time.sleep(latency.SEND_SECONDS + 1)
    assert latency.answer_times(backend.redis, backend.ledger.now()).last_minute
    assert not late.too_many()


def _head(node: Node, *headers: str, path: str = "/login") -> bytes:
    form = "Content-Type: application/x-www-form-urlencoded"
    lines = [f"POST {path} HTTP/1.1", f"Host: {node.host}", form, *headers, "", ""]
    return "\r\n".join(lines).encode()


def _drip(slow: socket.socket, ended: threading.Event) -> None:
    while not ended.wait(0.1):
        try:
            slow.sendall(b"x")
        except OSError:
            return
