"""Whole, uncompressed websocket frames, which simple-websocket does not offer."""

import struct
from contextlib import suppress
from socket import MSG_DONTWAIT
from threading import Lock
from typing import Any

SEND_SECONDS = 10.0
SOCKET_KEYS = ("gunicorn.socket", "werkzeug.socket")
TEXT = 0x81  # a complete text message
SHORT, MEDIUM = 126, 65_536  # lengths in bytes from which the length field grows


class WholeFrames:
    """A socket whose `send` sends everything, one frame after another, or raises TimeoutError.

    simple-websocket ignores how much of a frame `send` has sent. It also answers pings from another
    thread than the one that sends our messages.
    """

    __slots__ = ("_lock", "_rest", "_socket")

    def __init__(self, socket: Any) -> None:
        socket.settimeout(None)
        self._socket = socket
        self._lock = Lock()
        self._rest = b""

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)

    def recv(self, size: int) -> bytes:
        """Return received data, however long that takes."""
        while True:
            with suppress(TimeoutError, BlockingIOError):  # only `send` has a short timeout
                found: bytes = self._socket.recv(size)
                return found

    def send(self, data: bytes) -> int:
        """Send all of the data."""
        with self._lock:
            rest, self._rest = self._rest, b""
            self._socket.settimeout(SEND_SECONDS)
            self._socket.sendall(rest + data)
            self._socket.settimeout(None)
        return len(data)

    def send_at_once(self, data: bytes) -> bool:
        """Return whether all of the data could be sent without waiting.

        If only a part was sent, the rest goes before whatever is sent next.
        """
        if not self._lock.acquire(blocking=False):
            return False
        try:
            if not self._rest:
                # gevent's own socket would wait
                system = getattr(self._socket, "_sock", self._socket)
                self._rest = data[system.send(data, MSG_DONTWAIT) :]
                return not self._rest
        except OSError:
            pass  # full or closed: callers that may wait find out
        finally:
            self._lock.release()
        return False


def framed(text: str) -> bytes:
    """Return a text as a frame, the same for every page."""
    data = text.encode()
    size = len(data)
    if size < SHORT:
        return struct.pack("!BB", TEXT, size) + data
    if size < MEDIUM:
        return struct.pack("!BBH", TEXT, SHORT, size) + data
    return struct.pack("!BBQ", TEXT, SHORT + 1, size) + data


def prepare(environ: dict[str, Any]) -> None:
    """Prepare a handshake so that the library answers it safely."""
    # permessage-deflate would cost 129 KB per socket.
    environ.pop("HTTP_SEC_WEBSOCKET_EXTENSIONS", None)
    for key in SOCKET_KEYS:
        if key in environ:
            environ[key] = WholeFrames(environ[key])
