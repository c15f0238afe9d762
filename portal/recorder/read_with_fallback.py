"""Seats, waitlist positions and windows for pages; the recorded state if the ledger is down.

For display only: code that decides, or that shows what a decision will mean, asks the ledger.
"""

from collections.abc import Callable, Iterable, Sequence
from contextvars import ContextVar
from datetime import datetime
from time import time
from typing import TypeVar

from sqlalchemy import func, select

from portal.backend import backend
from portal.core.checkpoints import Checkpoint
from portal.core.db import transaction
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.types import Registrations, SeatCounts, WindowView
from portal.recorder import recorded_state

Value = TypeVar("Value")


# Whether this request shows recorded data; None outside of requests.
_recorded: ContextVar[bool | None] = ContextVar("recorded", default=None)


def begin_request() -> None:
    """Let the following reads fall back to the recorded state."""
    _recorded.set(False)


def end_request() -> None:
    """Let the following reads fail without the ledger."""
    _recorded.set(None)


def recorded() -> bool:
    """Return whether this request shows recorded data, which templates/recorded.html announces."""
    return bool(_recorded.get())


def recorded_at(terms: Iterable[int]) -> datetime | None:
    """Return when the last event of these terms was recorded; None if there is none."""
    moved = select(func.max(Checkpoint.moved_at)).where(Checkpoint.term_id.in_(terms))
    with transaction() as session:
        return session.scalar(moved)


def without_marking(read: Callable[[], Value]) -> Value:
    """Return the result of `read` without marking the page; for data beside its main content."""
    before = _recorded.get()
    try:
        return read()
    finally:
        _recorded.set(before)


def stop_waiting() -> None:
    """Stop asking the ledger in this request."""
    _recorded.set(True)


def seats(term: int) -> dict[int, SeatCounts]:
    """Return the counts of every section of a term."""
    return _read(backend().ledger.seats, recorded_state.seats, term)


def seats_of(term: int, sections: Sequence[int]) -> dict[int, SeatCounts]:
    """Return the counts of those sections that are known."""
    return _read(backend().ledger.seats_of, recorded_state.seats, term, sections)


def reserved(term: int, section: int) -> dict[int, int]:
    """Return the seats of a section held under its reserves, by reserve."""
    return _read(backend().ledger.reserved, recorded_state.reserved, term, section)


def registrations(term: int, student: int) -> Registrations:
    """Return the student's seats and waitlist positions."""
    return _read(backend().ledger.registrations, recorded_state.registrations, term, student)


def drops(term: int, student: int) -> dict[str, int]:
    """Return how many seats a student has dropped, by day."""
    return _read(backend().ledger.drops, recorded_state.drops, term, student)


def windows(term: int) -> list[WindowView]:
    """Return every window of a term, by opening."""
    return _read(backend().ledger.windows, recorded_state.windows, term)


def now() -> int:
    """Return the time in ms, by the ledger's clock or else by this machine's."""
    return _read(backend().ledger.now, lambda: int(time() * 1000))


def _read(ask: Callable[..., Value], remembered: Callable[..., Value], *about: object) -> Value:
    """Return the ledger's data, or the recorded data once the ledger has failed in this request.

    A page waits for the ledger only once. Outside of a request nothing can show that data is old,
    so it raises LedgerUnavailable.
    """
    if not recorded():
        try:
            return ask(*about)
        except LedgerUnavailable:
            if _recorded.get() is None:
                raise
            stop_waiting()
    return remembered(*about)
