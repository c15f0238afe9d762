"""Gunicorn's worker with gevent, which takes in everyone who comes at once."""

from functools import partial
from typing import Any

from gevent.server import StreamServer
from gunicorn.workers.ggevent import GeventWorker

AT_ONCE = 16  # of those who knock; with more, one process that has time takes in all


class Worker(GeventWorker):  # type: ignore[misc]
    """Takes in all who knock, where gunicorn's own takes one between two answers.

    In a rush the system's queue (`backlog`) would be full in a moment, and who finds it full is not
    heard until knocking again after 1, 3, 7 and 15 seconds.
    """

    def server_class(
        self, listener: Any, *, spawn: Any, ssl_context: Any = None, **_: Any
    ) -> StreamServer:
        """What takes connections in and hands each to a greenlet of its own."""
        tls = {"ssl_context": ssl_context} if ssl_context else {}
        server = StreamServer(listener, handle=partial(self.handle, listener), spawn=spawn, **tls)
        server.max_accept = AT_ONCE
        return server
