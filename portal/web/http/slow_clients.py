"""Slow clients: nobody keeps a place in the server by sending or taking drop by drop.

Gunicorn itself gives a request's line and headers as long as an idle connection (`keepalive`), all
together. What it does not limit is how long a body may take to come, or an answer to be taken.
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

BODY_SECONDS = 20.0  # for all of a body: 13 KB a second at the largest
BODY = "fairseat.body"  # where the WSGI environment has a request's Body
TAKE_SECONDS = 60.0  # for a client to take all that is sent at once


class Patience:
    """A WSGI application under gunicorn and gevent, with an end to how long others may take."""

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
    """A request's body, of which reading ends with a 408 once its time is over."""

    def __init__(self, body: Any) -> None:
        self._body = body
        self._ends = monotonic() + BODY_SECONDS
        self._large = False

    def expect_more(self, seconds: float) -> None:
        """Give a large body so many seconds from now on, and others a turn while it comes."""
        self._ends, self._large = monotonic() + seconds, True

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        if self._large:
            sleep(0)
        with Timeout(max(0.0, self._ends - monotonic()), RequestTimeout):
            data = self._body.read(len(buffer))
        buffer[: len(data)] = data
        return len(data)


def hush(record: logging.LogRecord) -> bool:
    """Whether a line of gunicorn's log is worth it: not that someone took an answer too slowly."""
    return not (record.exc_info and isinstance(record.exc_info[1], TimeoutError))
