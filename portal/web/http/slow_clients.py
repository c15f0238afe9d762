"""Timeouts for slow clients, so that none can occupy the server by sending or reading slowly.

Gunicorn itself limits the time of a request's line and headers together to that of an idle
connection (`keepalive`). It does not limit the time to receive a body or to send a response.
"""

import io
import logging
from collections.abc import Iterable
from time import monotonic
from typing import TYPE_CHECKING, Any

from gevent import Timeout, sleep
from werkzeug.exceptions import RequestTimeout

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

BODY_SECONDS = 20.0  # for a whole body: 13 KB a second at the largest
BODY = "fairseat.body"  # key of a request's Body in the WSGI environment
TAKE_SECONDS = 60.0  # for a client to read one chunk of a response


class Deadlines:
    """A WSGI application under gunicorn and gevent, with a timeout for slow clients."""

    def __init__(self, app: "WSGIApplication") -> None:
        self.app = app

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        socket = environ.get("gunicorn.socket")
        if socket is not None:
            socket.settimeout(TAKE_SECONDS)
            environ["wsgi.input"] = environ[BODY] = Body(environ["wsgi.input"])
        return self.app(environ, start_response)


class Body(io.RawIOBase):
    """A request's body. Reading it ends with a 408 after the timeout."""

    def __init__(self, body: Any) -> None:
        self._body = body
        self._ends = monotonic() + BODY_SECONDS
        self._large = False
        self.waited = 0.0  # seconds for the client

    def expect_more(self, seconds: float) -> None:
        """Set the timeout of a large body, and let other requests run while it arrives."""
        self._ends, self._large = monotonic() + seconds, True

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._large:
            sleep(0)
        began = monotonic()
        try:
            with Timeout(max(0.0, self._ends - began), RequestTimeout):
                data = self._body.read(len(buffer))
        finally:
            self.waited += monotonic() - began
        buffer[: len(data)] = data
        return len(data)


def keep_record(record: logging.LogRecord) -> bool:
    """Return whether to keep a line of gunicorn's log: not if a client only read too slowly."""
    return not (record.exc_info and isinstance(record.exc_info[1], TimeoutError))
