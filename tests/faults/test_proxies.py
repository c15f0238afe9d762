"""A door lets all pass but those who are held, and loses nothing of what they say."""

import os
import select
import socket
import socketserver
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults import proxies
from tests.ports import free_port
from tests.recorder.processes import wait_for


class Echo(socketserver.StreamRequestHandler):
    def handle(self) -> None:
        for line in self.rfile:
            self.wfile.write(line)


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True


@pytest.fixture
def behind() -> Iterator[int]:
    """The port of a server that says again what it is told."""
    with Server(("127.0.0.1", 0), Echo) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.02,))
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def a_caller(port: int, own: int = 0) -> socket.socket:
    return socket.create_connection(("127.0.0.1", port), 60, source_address=("127.0.0.1", own))


def answer(caller: socket.socket, said: bytes) -> bytes:
    caller.sendall(said)
    return caller.recv(100)


def silent(caller: socket.socket) -> bool:
    return not select.select([caller], [], [], 0)[0]


def test_who_is_held_gets_nothing_until_the_proxy_is_open_again(behind: int) -> None:
    port, own = free_port(), free_port()
    door = proxies.of_port(port, behind, lambda callers: callers & {own})
    with a_caller(port, own) as late, a_caller(port) as other:
        assert answer(late, b"one\n") == b"one\n"
        door.shut()
        late.sendall(b"two\n")
        assert answer(other, b"three\n") == b"three\n"
        assert silent(late)
        door.leave()
        assert late.recv(100) == b"two\n"
        assert answer(other, b"four\n") == b"four\n"


def test_who_comes_while_the_proxy_is_shut_is_let_in_later(behind: int) -> None:
    port = free_port()
    door = proxies.of_port(port, behind, lambda who: who)
    door.shut()
    with a_caller(port) as late:
        late.sendall(b"one\n")
        wait_for(door.carried.is_set)
        assert silent(late)
        door.leave()
        assert late.recv(100) == b"one\n"


def test_no_one_comes_in_once_the_proxy_has_left(behind: int) -> None:
    port = free_port()
    proxies.of_port(port, behind, lambda _who: set()).leave()
    with socket.socket() as late:
        assert late.connect_ex(("127.0.0.1", port))


def test_at_a_path_callers_are_known_by_their_process(tmp_path: Path) -> None:
    came: list[set[int]] = []

    def held(callers: set[int]) -> set[int]:
        came.append(callers)
        return callers

    door = proxies.of_path(tmp_path / "door", tmp_path / "away", held)
    with socket.socket(socket.AF_UNIX) as caller:
        caller.connect(str(tmp_path / "door"))
        wait_for(lambda: came)
    door.leave()
    assert came == [{os.getpid()}]


def test_callers_are_known_by_the_process_that_has_their_socket(behind: int) -> None:
    with a_caller(behind) as caller:
        own = {caller.getsockname()[1]}
        assert proxies.ports([os.getpid()], behind) == own
        assert proxies.ports([os.getppid()], behind) == set()
        assert proxies.ports([os.getpid()], free_port()) == set()
