"""The progress of a window, counted from the event log; only new events are read."""

from contextlib import suppress
from typing import NamedTuple

from sqlalchemy import Select, func, select

from portal.core.cache import AWAY, Cache
from portal.core.db import transaction
from portal.ledger.types import WindowView
from portal.recorder.models import LoggedEvent

FRESH_SECONDS = 3.0
COUNTED = {
    "seats": ("enrolled", "promoted"),
    "waits": ("waitlisted",),
    "drops": ("dropped",),
    "refused": ("refused",),
}


class Progress(NamedTuple):
    """Seats given, waitlist joins, drops and refusals, as of event `seq`."""

    seq: int = 0
    seats: int = 0
    waits: int = 0
    drops: int = 0
    refused: int = 0


def progress_of(term: int, window: WindowView) -> Progress:
    """Return the progress, a few seconds old; the last known one while PostgreSQL is down."""
    key = (term, window.id)
    with suppress(*AWAY):
        return _tallies.get(key)
    return _tallies.peek(key) or Progress()


def read(key: tuple[int, int]) -> Progress:
    """Return the current progress: the known one plus later events."""
    term, window = key
    before = _tallies.peek(key) or Progress()
    during = LoggedEvent.context["during"].as_integer() == window
    counts = [
        func.count().filter(during, LoggedEvent.name.in_(names)).label(kind)
        for kind, names in COUNTED.items()
    ]
    with transaction() as session:
        after = before.seq or session.scalar(_opened(window)) or 0
        latest = select(func.max(LoggedEvent.seq), *counts)
        last, *more = session.execute(
            latest.where(LoggedEvent.term_id == term, LoggedEvent.seq > after)
        ).one()
    return Progress(last or after, *(one + new for one, new in zip(before[1:], more, strict=True)))


def _opened(window: int) -> Select[int]:
    """Return the query for the event that opened a window."""
    of_window = LoggedEvent.aggregate == f"window:{window}"
    return select(LoggedEvent.seq).where(of_window, LoggedEvent.name == "window_opened")


_tallies = Cache(read, FRESH_SECONDS)
