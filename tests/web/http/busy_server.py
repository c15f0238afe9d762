"""The portal in a process that can be kept busy, and that counts its requests."""

import os
import time
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from gevent.monkey import get_original

from portal.core.metrics import DROPPED
from wsgi import app

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

BUSY = Path(os.environ["TEST_BUSY"])
_sleep = get_original("time", "sleep")


class Busy:
    """Counts requests to /counted, returns the counts at /seen, keeps the process busy at /busy."""

    def __init__(self, portal: "WSGIApplication") -> None:
        self.portal = portal
        self.seen = 0

    def __call__(
        self, environ: "WSGIEnvironment", start_response: "StartResponse"
    ) -> Iterable[bytes]:
        """Answer these three addresses; all others are the portal's."""
        path, result = environ["PATH_INFO"], b""
        if path == "/counted":
            self.seen += 1
        elif path == "/seen":
            result = f"{self.seen} {_dropped()}".encode()
        elif path == "/busy":
            _keep_busy()
        else:
            return self.portal(environ, start_response)
        start_response("200 OK", [("Content-Length", str(len(result)))])
        return [result]


def _dropped() -> float:
    """Return the requests that this process has dropped."""
    (metric,) = DROPPED.collect()
    return next(each.value for each in metric.samples if each.name.endswith("_total"))


def _keep_busy() -> None:
    begun = BUSY.with_name(f"{BUSY.name}.begun")
    begun.touch()
    deadline = time.monotonic() + 60
    while BUSY.exists() and time.monotonic() < deadline:
        _sleep(0.01)  # no other greenlet runs meanwhile
    begun.unlink()


app.wsgi_app = Busy(app.wsgi_app)  # type: ignore[method-assign]
