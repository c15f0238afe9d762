"""A lean load generator: prepared requests over kept-alive connections, one thread."""

import selectors
import socket
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field


@dataclass
class Report:
    """What a run gave: seconds from first to last byte, statuses, latencies in seconds."""

    seconds: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)
    latencies: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Answered requests per second."""
        return len(self.latencies) / self.seconds


@dataclass
class Connection:
    sock: socket.socket
    sent_at: float = 0.0
    received: bytearray = field(default_factory=bytearray)
    needed: int = -1


def run(port: int, requests: Iterable[bytes], connections: int) -> Report:
    """Send every request, each connection one at a time, and report on the answers."""
    todo, report, open_now = iter(requests), Report(), 0
    selector = selectors.DefaultSelector()
    begun = time.perf_counter()
    for _ in range(connections):
        sock = socket.create_connection(("127.0.0.1", port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        connection = Connection(sock)
        selector.register(sock, selectors.EVENT_READ, connection)
        open_now += send_next(connection, todo, selector)
    while open_now:
        for key, _ in selector.select(timeout=30):
            connection = key.data
            if not read_answer(connection, report):
                continue
            open_now -= not send_next(connection, todo, selector)
    report.seconds = time.perf_counter() - begun
    return report


def send_next(
    connection: Connection, todo: Iterator[bytes], selector: selectors.BaseSelector
) -> bool:
    """Whether there was one more request for this connection, which is closed if not."""
    request = next(todo, None)
    if request is None:
        selector.unregister(connection.sock)
        connection.sock.close()
        return False
    connection.received.clear()
    connection.needed = -1
    connection.sent_at = time.perf_counter()
    connection.sock.sendall(request)
    return True


def read_answer(connection: Connection, report: Report) -> bool:
    """Whether the answer is whole, which the report then counts."""
    data = connection.sock.recv(65536)
    if not data:
        raise ConnectionError("The server closed a connection in the middle of a run.")
    connection.received += data
    if connection.needed < 0:
        connection.needed = length_of(connection.received)
    if connection.needed < 0 or len(connection.received) < connection.needed:
        return False
    report.statuses[int(connection.received[9:12])] += 1
    report.latencies.append(time.perf_counter() - connection.sent_at)
    return True


def length_of(received: bytearray) -> int:
    """The bytes of the whole answer, or -1 while its head is not complete."""
    end = received.find(b"\r\n\r\n")
    if end < 0:
        return -1
    head = bytes(received[:end]).lower()
    start = head.index(b"content-length:") + 15
    return end + 4 + int(head[start:].split(b"\r\n", 1)[0])
