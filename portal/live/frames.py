"""What simple-websocket leaves open: whole frames, no compression."""

import struct
from contextlib import suppress
from socket import MSG_DONTWAIT
from threading import Lock
from typing import Any

SEND_SECONDS = 10.0
SOCKET_KEYS = ("gunicorn.socket", "werkzeug.socket")
TEXT = 0x81  # a whole message
SHORT, MEDIUM = 126, 65_536  # bytes from which a length takes more of them


class WholeFrames:
    """A socket whose `send` sends all, one frame after the other, or raises TimeoutError.

    simple-websocket calls `send` and ignores how much of a frame went out; and its answers to pings
    come from another thread than our messages.
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
        """What comes, however long that takes."""
        while True:
            with suppress(TimeoutError, BlockingIOError):  # it is `send` that has not much time
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
        """Whether all of the data could be sent without a wait.

        Where a part of it was, the rest of it goes before whatever is sent next.
        """
        if not self._lock.acquire(blocking=False):
            return False
        try:
            if not self._rest:
                system = getattr(self._socket, "_sock", self._socket)  # gevent's own would wait
                self._rest = data[system.send(data, MSG_DONTWAIT) :]
                return not self._rest
        except OSError:
            pass  # full, or gone: whoever may wait finds out
        finally:
            self._lock.release()
        return False


def framed(text: str) -> bytes:
    """A text as it goes over the wire, the same to every page."""
    data = text.encode()
    size = len(data)
    if size < SHORT:
        return struct.pack("!BB", TEXT, size) + data
    if size < MEDIUM:
        return struct.pack("!BBH", TEXT, SHORT, size) + data
    return struct.pack("!BBQ", TEXT, SHORT + 1, size) + data


def prepare(environ: dict[str, Any]) -> None:
    """Make a handshake that is about to be answered safe to answer."""
    # permessage-deflate would cost 129 KB a socket.
    environ.pop("HTTP_SEC_WEBSOCKET_EXTENSIONS", None)
    for key in SOCKET_KEYS:
        if key in environ:
            environ[key] = WholeFrames(environ[key])
