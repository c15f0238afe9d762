"""What simple-websocket leaves open: whole frames, no compression, only our own pages."""

from threading import Lock
from typing import Any

from flask import Request

from portal.edge.urls import parts

SEND_SECONDS = 10.0
SOCKET_KEYS = ("gunicorn.socket", "werkzeug.socket")


class WholeFrames:
    """A socket whose `send` sends all, one frame after the other, or raises TimeoutError.

    simple-websocket calls `send` and ignores how much of a frame went out; and its pings come from
    another thread than our messages.
    """

    def __init__(self, socket: Any) -> None:
        # Reads are not held up by it: they begin only when there is something to read.
        socket.settimeout(SEND_SECONDS)
        self._socket = socket
        self._lock = Lock()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._socket, name)

    def send(self, data: bytes) -> int:
        """Send all of the data."""
        with self._lock:
            self._socket.sendall(data)
        return len(data)


def prepare(environ: dict[str, Any]) -> None:
    """Make a handshake that is about to be answered safe to answer."""
    # permessage-deflate would cost 129 KB a socket.
    environ.pop("HTTP_SEC_WEBSOCKET_EXTENSIONS", None)
    for key in SOCKET_KEYS:
        if key in environ:
            environ[key] = WholeFrames(environ[key])


def same_origin(request: Request) -> bool:
    """Whether a page of ours asks: browsers send cookies with the sockets of any page."""
    return parts(request.headers.get("Origin")).netloc == request.host
