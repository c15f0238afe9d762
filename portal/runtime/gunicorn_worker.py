"""Gunicorn's gevent worker, which accepts all connections and drops abandoned requests."""

import os
import select
import warnings
from functools import partial
from ssl import SSLSocket
from time import monotonic
from typing import Any

import gevent
from gevent import monkey
from gevent.server import StreamServer
from gunicorn.workers.ggevent import GeventWorker

# New connections in one turn. With more, one idle process would accept all of them.
AT_ONCE = 16
# After so many in a row the system's queue is long, and every process has enough to do.
MANY, MANY_AT_ONCE = 128, 128
POLLRDHUP = getattr(select, "POLLRDHUP", 0)  # Linux: the client sends nothing more
HUNG_UP = select.POLLERR | select.POLLHUP
CONTINUE = b"HTTP/1.1 100 Continue\r\n\r\n"
PROBE_SECONDS = 0.5  # for the reset of a client that has gone: longer than most round trips
PROBE_STEP = 0.02

_poll = monkey.get_original("select", "poll")  # gevent's version would switch to other greenlets


class Worker(GeventWorker):  # type: ignore[misc]
    """Accepts connections in turns; gunicorn's own worker accepts one between two responses."""

    def patch(self) -> None:
        """Let gevent patch what gunicorn_settings.py left out, too."""
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", monkey.MonkeyPatchWarning)  # that it patches in parts
            super().patch()

    def server_class(
        self, listener: Any, *, spawn: Any, ssl_context: Any = None, **_: Any
    ) -> StreamServer:
        """Return the server that accepts connections and gives each a greenlet."""
        tls = {"ssl_context": ssl_context} if ssl_context else {}
        return Server(listener, handle=partial(self.handle, listener), spawn=spawn, **tls)

    def handle_request(self, listener_name: Any, req: Any, sock: Any, addr: Any) -> None:
        """Answer a request, or drop it if its client has gone while it waited.

        Dropping is safe for every method: the application has not seen the request, so nothing was
        decided or answered. A repeated request, under the same idempotency key or not, gets its
        first answer.
        """
        if not waits(sock, req.version):
            from portal.core.metrics import DROPPED  # noqa: PLC0415  only after gevent has patched

            DROPPED.inc()
            raise StopIteration  # as gunicorn ends a connection
        super().handle_request(listener_name, req, sock, addr)


class Server(StreamServer):  # type: ignore[misc]
    """Accepts more connections in a turn while many wait.

    In a rush the system's queue (`backlog`) fills at once. A client that finds it full retries
    after 1, 3, 7 and 15 seconds, however early it came. New clients, whose first requests are
    cheap, get answers before clients who load page after page.
    """

    max_accept = AT_ONCE

    def __init__(self, *args: Any, **settings: Any) -> None:
        self._in_a_row = 0
        super().__init__(*args, **settings)

    def do_read(self) -> tuple[Any, ...] | None:
        """Accept a connection; return None if none waits."""
        accepted: tuple[Any, ...] | None = super().do_read()
        self._in_a_row = self._in_a_row + 1 if accepted else 0
        self.max_accept = MANY_AT_ONCE if self._in_a_row >= MANY else AT_ONCE
        return accepted


def waits(sock: Any, version: tuple[int, int]) -> bool:
    """Return whether the client of a request that was read still waits for the response.

    An end of input alone does not tell: a client may shut down its sending half and wait, as `nc
    -N` does. It gets an interim response, which HTTP/1.1 clients skip. A client that closed its
    socket answers that with a reset. HTTP/1.0 has no interim responses, so such a client is served.
    """
    events = _events(sock, POLLRDHUP)
    if events & HUNG_UP:
        return False
    if not events or version < (1, 1) or isinstance(sock, SSLSocket):
        return True
    try:
        os.write(sock.fileno(), CONTINUE)
    except BlockingIOError:
        return True  # it has not read earlier responses yet
    except OSError:
        return False
    return not _resets(sock)


def _resets(sock: Any) -> bool:
    """Return whether the client answers with a reset; check at once, then a little later."""
    ends = monotonic() + PROBE_SECONDS
    while not (gone := bool(_events(sock, 0) & HUNG_UP)) and monotonic() < ends:
        gevent.sleep(PROBE_STEP)
    return gone


def _events(sock: Any, wanted: int) -> int:
    look = _poll()
    look.register(sock.fileno(), wanted)
    found = look.poll(0)
    return int(found[0][1]) if found else 0
