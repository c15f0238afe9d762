"""Thousands of open pages without browsers: one bare WebSocket each, served by one thread."""

import json
import os
import selectors
import socket
import struct
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Event, Thread
from typing import Any

HANDSHAKE = (
    "GET /ws HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"
    "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nCookie: {cookie}\r\n\r\n"
)
TEXT, PING, PONG = 0x1, 0x9, 0xA
FRAGMENT = b"<div"
SILENCE = 25.0  # seconds, as in static/js/live.js


class Pages:
    """Open pages; `heard` counts the messages to their scripts by name.

    `shown` counts the pages that have shown a fragment since a `burst` began: the first at
    `first_at` (s, monotonic), the last at `shown_at`. `text` is the last fragment.
    """

    def __init__(self, port: int) -> None:
        self.port = port
        self.heard: Counter[str] = Counter()
        self.first_at = self.shown_at = 0.0
        self._shown: set[socket.socket] = set()
        self._arrived: set[socket.socket] = set()  # got a fragment, perhaps not parsed yet
        self._in_a_hurry = False
        self._unread: list[tuple[float, socket.socket, bytes]] = []
        self.text = b""
        self.lost = 0
        self._selector = selectors.DefaultSelector()
        self._buffers: dict[socket.socket, bytearray] = {}
        self._ended = Event()
        self._listener = Thread(target=self._listen, daemon=True)
        self._heard_at: dict[socket.socket, float] = {}

    def open(self, cookies: Iterable[str], wish: dict[str, Any]) -> None:
        """Open a page for each session cookie, and start the listener if it is not running."""
        with ThreadPoolExecutor(16) as pool:
            lines = list(pool.map(lambda cookie: self._open(cookie, wish), cookies))
        for line in lines:
            line.settimeout(0)
            self._buffers[line] = bytearray()
            self._heard_at[line] = time.monotonic()
            self._selector.register(line, selectors.EVENT_READ)
        if not self._listener.is_alive():
            self._listener.start()

    @property
    def count(self) -> int:
        """Return the number of open pages."""
        return len(self._buffers) - self.lost

    @property
    def shown(self) -> int:
        """Return the number of pages that have shown a fragment."""
        return len(self._shown)

    @property
    def arrived(self) -> int:
        """Return the number of pages that got a fragment, whether parsed or not."""
        return len(self._arrived)

    @contextmanager
    def burst(self) -> Iterator[None]:
        """Only receive inside the block and parse afterwards, so that parsing delays nothing."""
        self._shown, self._arrived = set(), set()
        self.first_at, self._in_a_hurry = 0.0, True
        try:
            yield
        finally:
            self._in_a_hurry = False

    def close(self) -> None:
        """Close all pages."""
        self._ended.set()
        for line in self._buffers:
            line.close()

    def _open(self, cookie: str, wish: dict[str, Any]) -> socket.socket:
        line = socket.create_connection(("127.0.0.1", self.port), timeout=30)
        line.sendall(HANDSHAKE.format(port=self.port, cookie=cookie).encode())
        answer = b""
        while b"\r\n\r\n" not in answer:
            answer += line.recv(4096)
        if b" 101 " not in answer.split(b"\r\n")[0]:
            raise SystemExit(f"A page could not connect: {answer[:200]!r}")
        line.sendall(frame(TEXT, json.dumps(wish).encode()))
        return line

    def _listen(self) -> None:
        checked = time.monotonic()
        while not self._ended.is_set():
            for key, _ in self._selector.select(timeout=0.1):
                self._receive(key.fileobj)
            if not self._in_a_hurry:
                self._read()
            if time.monotonic() - checked > 1:
                checked = time.monotonic()
                self._check()

    def _receive(self, line: Any) -> None:
        try:
            data = line.recv(65536)
        except OSError:
            data = b""
        if data:
            self._unread.append((time.monotonic(), line, data))
            if FRAGMENT in data[:64]:
                self._arrived.add(line)
        else:
            self.lost += 1
            self._selector.unregister(line)

    def _read(self) -> None:
        for at, line, data in self._unread:
            self._buffers[line] += data
            for kind, content in frames(self._buffers[line]):
                self._take(at, line, kind, content)
        self._unread.clear()

    def _take(self, at: float, line: socket.socket, kind: int, content: bytes) -> None:
        if kind == PING:
            line.sendall(frame(PONG, content))
            return
        self._heard_at[line] = at
        if kind == TEXT and content.startswith(b"{"):
            self.heard[json.loads(content)["name"]] += 1
        elif kind == TEXT and content.startswith(FRAGMENT):
            self.text = content
            if line not in self._shown:
                self.first_at, self.shown_at = self.first_at or at, at
                self._shown.add(line)  # last, because others wait for it

    def _check(self) -> None:
        """Ping servers that have been silent, as pages do."""
        now = time.monotonic()
        for line, heard in list(self._heard_at.items()):
            if now - heard > SILENCE:
                self._heard_at[line] = now
                line.sendall(frame(TEXT, b"{}"))


def frame(kind: int, content: bytes) -> bytes:
    """Return a masked frame of at most 65,535 bytes, as a client sends it."""
    mask, size = os.urandom(4), len(content)
    head = struct.pack("!BB", 0x80 | kind, 0x80 | size) if size < 126 else b""
    head = head or struct.pack("!BBH", 0x80 | kind, 0x80 | 126, size)
    return head + mask + bytes(byte ^ mask[at % 4] for at, byte in enumerate(content))


def frames(buffer: bytearray) -> Iterable[tuple[int, bytes]]:
    """Remove the complete frames from the start of a server's output and yield them."""
    while len(buffer) >= 2:
        kind, size, begin = buffer[0] & 0xF, buffer[1] & 0x7F, 2
        if size == 126:
            begin = 4
        elif size == 127:
            begin = 10
        if len(buffer) < begin:
            return
        if begin > 2:
            size = int.from_bytes(buffer[2:begin])
        if len(buffer) < begin + size:
            return
        yield kind, bytes(buffer[begin : begin + size])
        del buffer[: begin + size]
