"""A lean load generator: clients that each send one request after another, in one epoll thread."""

import heapq
import resource
import selectors
import socket
import statistics
import time
from collections import Counter
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

READ, WRITE = selectors.EVENT_READ, selectors.EVENT_WRITE
TIMEOUT = 60.0  # seconds without any answer before the server counts as stopped


@dataclass(frozen=True, slots=True)
class Answer:
    """The response to a request, and the seconds until its last byte.

    The status is 0 if the server closed the connection without a response.
    """

    status: int
    head: bytes
    body: bytes
    took: float


# A client's step: send these bytes (a whole request), or wait until a time (`time.perf_counter`).
Step = bytes | float
Script = Generator[Step, Answer | None, None]


@dataclass
class Report:
    """Result of a run: its seconds, the seconds of each response, the number of each status.

    Status 0 counts requests that were never answered. `cpu` is the generator's own load, as a
    share of one core.
    """

    seconds: float = 0.0
    cpu: float = 0.0
    statuses: Counter[int] = field(default_factory=Counter)
    latencies: list[float] = field(default_factory=list)

    @property
    def rate(self) -> float:
        """Return answered requests per second."""
        return len(self.latencies) / self.seconds

    @property
    def p99(self) -> float:
        """Return the 99th percentile of the response times in milliseconds."""
        return p99(self.latencies)


def p99(latencies: Sequence[float]) -> float:
    """Return the 99th percentile in milliseconds of times in seconds."""
    return statistics.quantiles(latencies, n=100)[98] * 1000


def run(port: int, requests: Iterable[bytes], connections: int) -> Report:
    """Send all requests over some connections, each connection one at a time; return a report."""
    todo = iter(requests)
    return play(port, [_share(todo) for _ in range(connections)])


def play(port: int, scripts: Iterable[Script]) -> Report:
    """Run each client's script over its own connection; return a report."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    crowd = _Crowd(port)
    began, spent = time.perf_counter(), time.process_time()
    for script in scripts:
        crowd.go_on(_Person(script), None)
    crowd.attend()
    crowd.report.seconds = time.perf_counter() - began
    crowd.report.cpu = (time.process_time() - spent) / crowd.report.seconds
    return crowd.report


def _share(todo: Iterator[bytes]) -> Script:
    for request in todo:  # noqa: UP028  `todo` is shared, and an iterator takes no answers
        yield request


class _Person:
    __slots__ = ("idled", "needed", "received", "request", "script", "sent_at", "sock")

    def __init__(self, script: Script) -> None:
        self.script = script
        self.sock: socket.socket | None = None
        self.request = b""  # not answered yet
        self.received = b""
        self.needed = -1
        self.sent_at = 0.0
        self.idled = False  # whether its connection has been idle since an answer


class _Crowd:
    def __init__(self, port: int) -> None:
        self.address = ("127.0.0.1", port)
        self.report = Report()
        self.selector = selectors.DefaultSelector()
        self.resting: list[tuple[float, int, _Person]] = []
        self.numbers = count()
        self.asking = 0

    def attend(self) -> None:
        """Run until all scripts have ended."""
        while self.asking or self.resting:
            left = self.resting[0][0] - time.perf_counter() if self.resting else TIMEOUT
            ready = self.selector.select(max(0.0, left))
            if not ready and not self.resting:
                raise TimeoutError("The server has stopped answering.")
            for key, events in ready:
                self._hear(key.data, events)
            while self.resting and self.resting[0][0] <= time.perf_counter():
                due, _, person = heapq.heappop(self.resting)
                self.go_on(person, None, due)

    def go_on(self, person: _Person, answer: Answer | None, due: float = 0.0) -> None:
        """Take a script's next step; a late request's time counts from `due`."""
        try:
            step = person.script.send(answer)
        except StopIteration:
            self._hang_up(person)
            return
        if isinstance(step, float):
            heapq.heappush(self.resting, (step, next(self.numbers), person))
            return
        person.request, person.received, person.needed = step, b"", -1
        person.sent_at = due or time.perf_counter()
        self.asking += 1
        self._ask(person)

    def _ask(self, person: _Person) -> None:
        if person.sock:
            try:
                person.sock.send(person.request)
            except ConnectionError:  # the server closed it, because it was idle
                self._hang_up(person)
            else:
                return
        person.sock, person.idled = (sock := socket.socket()), False
        sock.settimeout(0)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        sock.connect_ex(self.address)
        self.selector.register(sock, WRITE, person)

    def _hear(self, person: _Person, events: int) -> None:
        assert person.sock
        if events & WRITE:  # connected
            self.selector.modify(person.sock, READ, person)
            person.sock.send(person.request)  # raises ConnectionError if it was refused
            return
        try:
            data = person.sock.recv(262_144)
        except ConnectionResetError:
            data = b""
        if data:
            self._take(person, data)
            return
        self._hang_up(person)
        if person.received:
            raise ConnectionError("The server closed a connection in the middle of an answer.")
        if person.request and person.idled:  # the server closes idle connections
            self._ask(person)
        elif person.request:
            self._answered(person, Answer(0, b"", b"", time.perf_counter() - person.sent_at))

    def _take(self, person: _Person, data: bytes) -> None:
        person.received = received = person.received + data if person.received else data
        if person.needed < 0:
            person.needed = length_of(received)
        if person.needed < 0 or len(received) < person.needed:
            return
        took, status = time.perf_counter() - person.sent_at, int(received[9:12])
        self.report.latencies.append(took)
        person.idled = True
        head, _, body = received.partition(b"\r\n\r\n")
        self._answered(person, Answer(status, head, body, took))

    def _answered(self, person: _Person, answer: Answer) -> None:
        self.report.statuses[answer.status] += 1
        self.asking -= 1
        person.request = person.received = b""
        self.go_on(person, answer)

    def _hang_up(self, person: _Person) -> None:
        if person.sock:
            self.selector.unregister(person.sock)
            person.sock.close()
            person.sock = None


def length_of(received: bytes) -> int:
    """Return the response's size in bytes, or -1 while its head is not complete."""
    end = received.find(b"\r\n\r\n")
    if end < 0:
        return -1
    if received.startswith((b"204", b"304"), 9):
        return end + 4
    start = received.find(b"Content-Length: ", 0, end)
    if start < 0:
        raise ValueError(f"An answer of unknown length: {received[:end]!r}")
    return end + 4 + int(received[start + 16 : received.find(b"\r\n", start)])
