"""Requests of disconnected clients are dropped; those of waiting clients are answered."""

import re
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import pytest
import requests

from portal.backend import Backend
from tests.live.nodes import Node, a_node
from tests.recorder.processes import wait_for
from tests.web.http.raw_http import Heard, hear, line

MANY = 50


@pytest.fixture(scope="module")
def paused(
    connected: Backend,  # noqa: ARG001
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Node]:
    """Start a web server that accepts no request while the file `busy` exists."""
    folder = tmp_path_factory.mktemp("hung_up")
    with a_node(
        folder, {"TEST_BUSY": str(folder / "busy")}, "tests.web.http.busy_server:app"
    ) as node:
        yield node


@dataclass(frozen=True)
class Rush:
    """A web server that is kept busy by a file, and what it had seen and dropped before."""

    file: Path
    seen: int
    dropped: int

    def end(self) -> None:
        """Let the server continue."""
        self.file.unlink(missing_ok=True)


@pytest.fixture
def rush(paused: Node) -> Iterator[Rush]:
    """Return the web server, busy as in a rush."""
    found = Rush(paused.child.log.with_name("busy"), *_counted(paused))
    file = found.file
    file.touch()
    asking = line(paused)
    asking.sendall(_head(paused, "/busy"))
    wait_for(lambda: file.with_name("busy.begun").exists())
    yield found
    found.end()
    asking.close()


def test_requests_of_disconnected_clients_are_dropped(paused: Node, rush: Rush) -> None:
    for _ in range(MANY):
        with line(paused) as gone:
            gone.sendall(_head(paused, "/counted"))
    rush.end()
    wait_for(lambda: _counted(paused)[1] - rush.dropped >= MANY)
    assert _counted(paused) == (rush.seen, rush.dropped + MANY)


def test_unread_decision_of_a_disconnected_client_is_dropped(paused: Node, rush: Rush) -> None:
    with line(paused) as gone:
        body = b"x" * 50_000  # more than is read with the head
        gone.sendall(_head(paused, "/counted", f"Content-Length: {len(body)}", method="POST"))
        gone.sendall(body)
    rush.end()
    wait_for(lambda: _counted(paused)[1] > rush.dropped)
    assert _counted(paused)[0] == rush.seen


def test_waiting_clients_are_all_answered(paused: Node, rush: Rush) -> None:
    with ExitStack() as stack:
        lines = [stack.enter_context(line(paused)) for _ in range(MANY)]
        for each in lines:
            each.sendall(_head(paused, "/counted", "Connection: close"))
        rush.end()
        assert {hear(each).status for each in lines} == {200}
    assert _counted(paused) == (rush.seen + MANY, rush.dropped)


@pytest.mark.parametrize("version", ["1.0", "1.1"])
def test_client_with_a_closed_sending_half_is_answered(
    paused: Node, rush: Rush, version: str
) -> None:
    with line(paused) as half:
        half.sendall(_head(paused, "/counted", "Connection: close", version=version))
        half.shutdown(socket.SHUT_WR)
        rush.end()
        heard = hear(half)
    assert _final(heard) == ["200"]


def test_pipelined_requests_before_a_shutdown_are_answered(paused: Node, rush: Rush) -> None:
    with line(paused) as half:
        last = _head(paused, "/counted", "Connection: close")
        half.sendall(_head(paused, "/counted") * 2 + last)
        half.shutdown(socket.SHUT_WR)
        rush.end()
        heard = hear(half)
    assert _final(heard) == ["200"] * 3


def _final(heard: Heard) -> list[str]:
    """Return the status codes of all final responses."""
    codes = re.findall(r"HTTP/1\.[01] (\d{3})", heard.text)
    return [code for code in codes if code != "100"]


def _counted(node: Node) -> tuple[int, int]:
    """Return the requests that the application saw, and those that were dropped."""
    seen, dropped = requests.get(f"{node.origin}/seen", timeout=60).text.split()
    return int(seen), int(float(dropped))


def _head(node: Node, path: str, *headers: str, method: str = "GET", version: str = "1.1") -> bytes:
    first = f"{method} {path} HTTP/{version}"
    return "\r\n".join([first, f"Host: {node.host}", *headers, "", ""]).encode()
