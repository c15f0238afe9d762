"""Correlation ids: one for a request and its log lines, events, jobs and mail.

The web layer says where a request keeps its id (`find_by`).
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
_find: Callable[[], str] = lambda: ""  # noqa: E731  replaced by the web layer


def find_by(find: Callable[[], str]) -> None:
    """Set the function that returns the id of the current request, "" outside of one."""
    global _find  # noqa: PLW0603  one per process
    _find = find


def correlation() -> str:
    """Return the id of this request, or of this process's work; "" if there is none."""
    return _find() or _cause.get()


@contextmanager
def following(code: str) -> Iterator[None]:
    """Run the block, outside of requests, under the given id."""
    before = _cause.set(code)
    try:
        yield
    finally:
        _cause.reset(before)


def cause() -> dict[str, str]:
    """Return what a job carries so that it runs under its sender's id."""
    return {"correlation": correlation(), **traces.carried()}
