"""Seats, waitlist positions and windows for pages; the recorded state if the ledger is down.

For display only: code that decides, or that shows what a decision will mean, asks the ledger.
"""

from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from time import time
from typing import TypeVar

from flask import g, has_app_context
from sqlalchemy import func, select

from portal.backend import backend
from portal.core.checkpoints import Checkpoint
from portal.core.db import transaction
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.types import SeatCounts, Standing, WindowView
from portal.recorder import recorded_state

Said = TypeVar("Said")


def recorded() -> bool:
    """Return whether this request shows recorded data, which templates/recorded.html announces."""
    return has_app_context() and bool(g.get("recorded"))


def recorded_at(terms: Iterable[int]) -> datetime | None:
    """Return when the last event of these terms was recorded; None if there is none."""
    moved = select(func.max(Checkpoint.moved_at)).where(Checkpoint.term_id.in_(terms))
    with transaction() as session:
        return session.scalar(moved)


def beside(read: Callable[[], Said]) -> Said:
    """Return what `read` gives without marking the page: for data beside its content."""
    before = recorded()
    try:
        return read()
    finally:
        g.recorded = before


def stop_waiting() -> None:
    """Stop asking the ledger in this request."""
    g.recorded = True


def seats(term: int) -> dict[int, SeatCounts]:
    """Return the counts of every section of a term."""
    return _known(lambda: backend().ledger.seats(term), lambda: recorded_state.seats(term))


def seats_of(term: int, sections: Sequence[int]) -> dict[int, SeatCounts]:
    """Return the counts of those sections that are known."""
    return _known(
        lambda: backend().ledger.seats_of(term, sections),
        lambda: recorded_state.seats(term, sections),
    )


def reserved(term: int, section: int) -> dict[int, int]:
    """Return the seats of a section held under its reserves, by reserve."""
    return _known(
        lambda: backend().ledger.reserved(term, section),
        lambda: recorded_state.reserved(term, section),
    )


def standing(term: int, student: int) -> Standing:
    """Return the student's seats and waitlist positions."""
    return _known(
        lambda: backend().ledger.standing(term, student),
        lambda: recorded_state.standing(term, student),
    )


def drops(term: int, student: int) -> dict[str, int]:
    """Return how many seats a student has dropped, by day."""
    return _known(
        lambda: backend().ledger.drops(term, student), lambda: recorded_state.drops(term, student)
    )


def windows(term: int) -> list[WindowView]:
    """Return every window of a term, by opening."""
    return _known(lambda: backend().ledger.windows(term), lambda: recorded_state.windows(term))


def now() -> int:
    """Return the time in ms, by the ledger's clock or else by this machine's."""
    return _known(backend().ledger.now, lambda: int(time() * 1000))


def _known(ask: Callable[[], Said], remembered: Callable[[], Said]) -> Said:
    """Return the ledger's data, or the recorded data once the ledger has failed in this request.

    A page waits for the ledger only once. Outside of a request nothing can show that data is old,
    so it raises LedgerUnavailable.
    """
    if not recorded():
        try:
            return ask()
        except LedgerUnavailable:
            if not has_app_context():
                raise
            stop_waiting()
    return remembered()
