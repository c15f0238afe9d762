"""What a page says of seats, places and windows: by the ledger, or as recorded while it is away.

For reading alone: whoever decides, or shows what a decision will mean, asks the ledger itself.
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
    """Whether this request was told what was last recorded: templates/recorded.html says so."""
    return has_app_context() and bool(g.get("recorded"))


def recorded_at(terms: Iterable[int]) -> datetime | None:
    """When the last event of these terms was recorded; None where none has been."""
    moved = select(func.max(Checkpoint.moved_at)).where(Checkpoint.term_id.in_(terms))
    with transaction() as session:
        return session.scalar(moved)


def beside(read: Callable[[], Said]) -> Said:
    """Return what `read` gives, and leave the page unmarked: for what stands beside its content."""
    before = recorded()
    try:
        return read()
    finally:
        g.recorded = before


def stop_waiting() -> None:
    """Ask the ledger no more in this request."""
    g.recorded = True


def seats(term: int) -> dict[int, SeatCounts]:
    """The counts of every section of a term."""
    return _known(lambda: backend().ledger.seats(term), lambda: recorded_state.seats(term))


def seats_of(term: int, sections: Sequence[int]) -> dict[int, SeatCounts]:
    """The counts of those sections that are known."""
    return _known(
        lambda: backend().ledger.seats_of(term, sections),
        lambda: recorded_state.seats(term, sections),
    )


def reserved(term: int, section: int) -> dict[int, int]:
    """Seats of a section that are held under its reserves, by reserve."""
    return _known(
        lambda: backend().ledger.reserved(term, section),
        lambda: recorded_state.reserved(term, section),
    )


def standing(term: int, student: int) -> Standing:
    """What a student holds and waits for, with positions."""
    return _known(
        lambda: backend().ledger.standing(term, student),
        lambda: recorded_state.standing(term, student),
    )


def drops(term: int, student: int) -> dict[str, int]:
    """How many seats a student has given up, by day."""
    return _known(
        lambda: backend().ledger.drops(term, student), lambda: recorded_state.drops(term, student)
    )


def windows(term: int) -> list[WindowView]:
    """Every window of a term, by opening."""
    return _known(lambda: backend().ledger.windows(term), lambda: recorded_state.windows(term))


def now() -> int:
    """The time in ms, by the ledger's clock or else by this machine's."""
    return _known(backend().ledger.now, lambda: int(time() * 1000))


def _known(ask: Callable[[], Said], remembered: Callable[[], Said]) -> Said:
    """One page waits for the ledger once: where that does not answer, the rest is read as well.

    Who asks for no page has nobody to tell that it is of before: raises LedgerUnavailable.
    """
    if not recorded():
        try:
            return ask()
        except LedgerUnavailable:
            if not has_app_context():
                raise
            stop_waiting()
    return remembered()
