"""Whole, uncompressed websocket frames, which simple-websocket does not offer."""

from contextlib import suppress
from socket import MSG_DONTWAIT
from threading import Lock
from typing import Any

from wsproto.frame_protocol import FrameProtocol

SEND_SECONDS = 10.0
SOCKET_KEYS = ("gunicorn.socket", "werkzeug.socket")


class WholeFrames:
    """A socket whose `send` sends everything, one frame after another, or raises TimeoutError.

    simple-websocket ignores how much of a frame `send` has sent. It also answers pings from another
    thread than the one that sends our messages.
    """

    __slots__ = ("_lock", "_socket", "_unsent")

    def __init__(self, socket: Any) -> None:
        socket.settimeout(None)
        self._socket = socket
        self._lock = Lock()
        self._unsent = b""  # the rest of a frame

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
            unsent, self._unsent = self._unsent, b""
            self._socket.settimeout(SEND_SECONDS)
            self._socket.sendall(unsent + data)
            self._socket.settimeout(None)
        return len(data)

    def send_now(self, frame: bytes) -> bool:
        """Send a frame only if that takes no waiting; return whether all of it was sent.

        If a part was sent, the rest goes before whatever is sent next.
        """
        if not self._lock.acquire(blocking=False):
            return False
        try:
            if self._unsent:
                return False
            plain = getattr(self._socket, "_sock", self._socket)  # gevent's own socket would wait
            with suppress(OSError):  # full or closed: the page's own sender finds out
                self._unsent = frame[plain.send(frame, MSG_DONTWAIT) :]
                return not self._unsent
            return False
        finally:
            self._lock.release()


def text_frame(text: str) -> bytes:
    """Return a text as a server sends it, the same to every page."""
    return bytes(FrameProtocol(client=False, extensions=[]).send_data(text, fin=True))


def prepare(environ: dict[str, Any]) -> None:
    """Prepare a handshake so that the library answers it safely."""
    # permessage-deflate would cost 129 KB per socket.
    environ.pop("HTTP_SEC_WEBSOCKET_EXTENSIONS", None)
    for key in SOCKET_KEYS:
        if key in environ:
            environ[key] = WholeFrames(environ[key])
