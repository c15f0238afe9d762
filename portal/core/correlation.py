"""Correlation ids: one for a request and its log lines, events, jobs, mail and SQL statements.

The web layer says where a request keeps its id, and which route it takes (`find_by`).
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from portal.core import traces

HEADER = "X-Correlation-Id"
# No colon: our own ids, such as an import's, contain one.
FORM = re.compile(r"[0-9A-Za-z-]{8,64}", re.ASCII)

_cause: ContextVar[str] = ContextVar("cause", default="")
_job: ContextVar[str] = ContextVar("job", default="")
_process = ""  # the kind of this process
_find: Callable[[], str] = lambda: ""  # noqa: E731  replaced by the web layer
_find_route: Callable[[], str] = lambda: ""  # noqa: E731  replaced by the web layer


def find_by(find: Callable[[], str], find_route: Callable[[], str]) -> None:
    """Set the functions that return the current request's id and its route, "" outside of one."""
    global _find, _find_route
    _find, _find_route = find, find_route


def name_process(kind: str) -> None:
    """Name what this process is, for statements outside of requests and jobs."""
    global _process  # noqa: PLW0603  a process has one kind
    _process = kind


def correlation() -> str:
    """Return the id of this request, or of this process's work; "" if there is none."""
    return _find() or _cause.get()


def sender() -> dict[str, str]:
    """Return who sends a statement: its correlation id, and the route, the job or the process."""
    work = {"job": _job.get(), "route": _find_route()}
    known = {
        "correlation": correlation(),
        **(work if any(work.values()) else {"process": _process}),
    }
    return {name: value for name, value in known.items() if value}


@contextmanager
def following(code: str, job: str = "") -> Iterator[None]:
    """Run the block, outside of requests, under the given id; `job` names a job's function."""
    before = _cause.set(code), _job.set(job or _job.get())
    try:
        yield
    finally:
        _cause.reset(before[0])
        _job.reset(before[1])


def cause() -> dict[str, str]:
    """Return what a job carries so that it runs under its sender's id."""
    return {"correlation": correlation(), **traces.carried()}
