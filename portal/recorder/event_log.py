"""The event log, read from its beginning: what must be true if it is."""

from collections.abc import Callable, Iterator

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.core.db import transaction
from portal.recorder.events import Event
from portal.recorder.journal import JournalGap
from portal.recorder.models import EVENT_COLUMNS, LoggedEvent
from portal.recorder.projections import TermState, UnknownEvent, apply

ROWS_PER_FETCH = 5000
MISSING, UNREADABLE = "missing", "unreadable"
STRIDE = 10_000  # events between two words of progress

ProgressCallback = Callable[
    [str, int, int], None
]  # the step, and how many events of how many are done


def no_progress(_step: str, _done: int, _events: int) -> None:
    """What is told to nobody."""


def strides(after: int, through: int) -> Iterator[tuple[int, int]]:
    """The events behind `after` until `through`, so many at a time."""
    for start in range(after, through, STRIDE):
        yield start, min(start + STRIDE, through)


def fold(session: Session, term: int, state: TermState, after: int, through: int) -> int:
    """Move the state from event `after` over those until `through`; gives their number.

    Events that are missing or can't be read are noted as contradictions.
    """
    folded, expected = 0, after + 1
    for fact in read_events(session, term, after, through):
        _note_missing(state, expected, fact.seq)
        try:
            apply(state, fact)
        except (UnknownEvent, LookupError, TypeError) as error:
            state.contradictions.append((fact.seq, f"{UNREADABLE}: {error}"))
        folded, expected = folded + 1, fact.seq + 1
    _note_missing(state, expected, through + 1)
    return folded


def replay(
    term: int,
    state: TermState,
    through: int,
    tell: ProgressCallback = no_progress,
    step: str = "replaying",
) -> int:
    """Move a new state over the log until event `through`, which it gives; locks nothing."""
    for after, until in strides(0, through):
        tell(step, after, through)
        with transaction() as session:
            fold(session, term, state, after, until)
    tell(step, through, through)
    return through


def damage(state: TermState) -> list[tuple[int, str]]:
    """Those of the contradictions that are events which are missing or can't be read."""
    broken = MISSING, UNREADABLE
    return [(seq, wrong) for seq, wrong in state.contradictions if wrong.startswith(broken)]


def read_events(session: Session, term: int, after: int, through: int) -> Iterator[Event]:
    """The facts of a term's event log with `after` < seq <= `through`, in order."""
    found = session.execute(
        select(*EVENT_COLUMNS)
        .where(LoggedEvent.term_id == term, LoggedEvent.seq > after, LoggedEvent.seq <= through)
        .order_by(LoggedEvent.seq)
        .execution_options(yield_per=ROWS_PER_FETCH)
    )
    for row in found:
        yield Event(*row)


def find_event(session: Session, term: int, seq: int) -> Event | None:
    """The event of that number, None for 0; raises JournalGap where the log has lost it."""
    found = next(read_events(session, term, seq - 1, seq), None)
    if seq and not found:
        raise JournalGap(f"term {term}: the event log does not have event {seq}")
    return found


def _note_missing(state: TermState, expected: int, came: int) -> None:
    state.contradictions += [(seq, MISSING) for seq in range(expected, came)]
