"""Whole, uncompressed websocket frames, which simple-websocket does not offer."""

from contextlib import suppress
from threading import Lock
from typing import Any

SEND_SECONDS = 10.0
SOCKET_KEYS = ("gunicorn.socket", "werkzeug.socket")


class WholeFrames:
    """A socket whose `send` sends everything, one frame after another, or raises TimeoutError.

    simple-websocket ignores how much of a frame `send` has sent. It also answers pings from another
    thread than the one that sends our messages.
    """

    __slots__ = ("_lock", "_socket")

    def __init__(self, socket: Any) -> None:
        socket.settimeout(None)
        self._socket = socket
        self._lock = Lock()

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
            self._socket.settimeout(SEND_SECONDS)
            self._socket.sendall(data)
            self._socket.settimeout(None)
        return len(data)


def prepare(environ: dict[str, Any]) -> None:
    """Prepare a handshake so that the library answers it safely."""
    # permessage-deflate would cost 129 KB per socket.
    environ.pop("HTTP_SEC_WEBSOCKET_EXTENSIONS", None)
    for key in SOCKET_KEYS:
        if key in environ:
            environ[key] = WholeFrames(environ[key])
