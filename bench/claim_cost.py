"""Processor time of a claim in the web process and in the ledger, compared with a bare hello.

Processor time hardly depends on other work on the machine. The requests are those of
`bench/claims.py`: 500 students with three claims each. The first 500 claims warm the process. The
requests go directly to the application, in a process like the server's: patched by gevent, with
log, metrics and caches. HTTP, the network and the recording of claims are left out. The bare hello
gets 5,000 requests in the same process. The ledger's time is that of its whole process. An empty
page for a student shows what the portal does around every view.
"""

from gevent import monkey

monkey.patch_all()

import atexit  # noqa: E402
import io  # noqa: E402
import os  # noqa: E402
import shutil  # noqa: E402
import sys  # noqa: E402
import tempfile  # noqa: E402
import time  # noqa: E402
from collections.abc import Callable, Iterable  # noqa: E402
from contextlib import redirect_stderr  # noqa: E402
from functools import cache  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import TYPE_CHECKING, Any  # noqa: E402

COUNTS = tempfile.mkdtemp(prefix="fairseat-metrics-")  # set before any metric exists
os.environ["PROMETHEUS_MULTIPROC_DIR"] = COUNTS
atexit.register(shutil.rmtree, COUNTS, ignore_errors=True)

from flask import Flask  # noqa: E402

from bench import portal_on_trial, stage  # noqa: E402
from bench.baselines import hello  # noqa: E402
from portal.app import create_app  # noqa: E402
from portal.backend import backend  # noqa: E402
from portal.catalog import term_catalog  # noqa: E402
from portal.core import logs  # noqa: E402
from portal.core.settings import Settings  # noqa: E402
from portal.people import student_profile, visitors  # noqa: E402
from portal.web.http import access  # noqa: E402

if TYPE_CHECKING:
    from _typeshed.wsgi import WSGIApplication

HELLO = b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"
STUDENTS, EACH = 500, 3
FIGURES = {
    "claim_us": ("µs", "processor time of a claim in the web process, without HTTP and network"),
    "claim_hello_us": ("µs", "processor time of a bare Flask hello in the same process"),
    "claim_cost_vs_hello": ("ratio", "processor time of a bare hello over that of a claim"),
    "claim_ledger_us": ("µs", "processor time of a claim in the ledger"),
    "empty_page_us": (
        "µs",
        "processor time of an empty page: session, access, headers, log, metrics",
    ),
    "empty_page_hellos": ("ratio", "processor time of an empty page over that of a bare hello"),
}
EMPTY = "/empty"


def figures(_run: int = 0, *, quick: bool = False) -> dict[str, float]:
    """Return one run's figures, by the names above."""
    app, students = application(quick=quick), 30 if quick else STUDENTS
    with portal_on_trial.a_rush(students) as term:
        term_catalog.preload()
        student_profile.preload()
        visitors.preload()
        claims = [environ(each) for each in portal_on_trial.claims(app, term, students, EACH)]
        answer(app, claims[:students])
        before = _ledger()
        claim = _each(app, claims[students:])
        ledger = (_ledger() - before) * 1e6 / len(claims[students:])
        visits = [
            portal_on_trial.get(EMPTY, each)
            for each in portal_on_trial.cookies(app, range(students))
        ]
        empty = _each(app, [environ(each) for _ in range(EACH) for each in visits])
    bare = _each(hello.app, [environ(HELLO) for _ in range(10 * students)])
    return {
        "claim_us": claim,
        "claim_hello_us": bare,
        "claim_cost_vs_hello": bare / claim,
        "claim_ledger_us": ledger,
        "empty_page_us": empty,
        "empty_page_hellos": empty / bare,
    }


@cache
def application(*, quick: bool) -> Flask:
    """Return the portal in this process, with its own servers and its log discarded."""
    stack = stage.lasting()
    stage.servers(stack, quick=quick)
    made = create_app(Settings.read())
    made.add_url_rule(EMPTY, view_func=_empty)
    with redirect_stderr(stack.enter_context(Path(os.devnull).open("w", encoding="utf-8"))):
        logs.begin("web")
    return made


@access.signed_in
def _empty() -> str:
    return ""


def environ(request: bytes) -> dict[str, Any]:
    """Return the WSGI environment of a raw HTTP request."""
    head, _, body = request.partition(b"\r\n\r\n")
    line, *fields = head.decode().split("\r\n")
    method, path, protocol = line.split(" ")
    headers = {}
    for name, value in (field.split(": ", 1) for field in fields):
        key = name.upper().replace("-", "_")
        headers[key if key.startswith("CONTENT_") else f"HTTP_{key}"] = value
    return {
        "REQUEST_METHOD": method,
        "SCRIPT_NAME": "",
        "PATH_INFO": path,
        "QUERY_STRING": "",
        "SERVER_NAME": "127.0.0.1",
        "SERVER_PORT": "8000",
        "SERVER_PROTOCOL": protocol,
        "REMOTE_ADDR": "127.0.0.1",
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": "http",
        "wsgi.input": io.BytesIO(body),
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        **headers,
    }


def answer(app: "WSGIApplication", requests: Iterable[dict[str, Any]]) -> None:
    """Run every request through the application; raise SystemExit if one is not answered 200."""

    def begin(status: str, *_: object) -> Callable[[bytes], object]:
        if not status.startswith("200 "):
            raise SystemExit(f"A request failed: {status}")
        return lambda _: None

    for each in requests:
        parts = app(each, begin)
        for _ in parts:
            pass
        if close := getattr(parts, "close", None):
            close()


def _each(app: "WSGIApplication", requests: list[dict[str, Any]]) -> float:
    began = time.process_time()
    answer(app, requests)
    return (time.process_time() - began) * 1e6 / len(requests)


def _ledger() -> float:
    """Return the ledger's processor time so far, in seconds."""
    usage: Any = backend().redis.info("cpu")
    return float(usage["used_cpu_user"] + usage["used_cpu_sys"])
