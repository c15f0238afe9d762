"""The event log, replayed from its beginning: the state that must follow from it."""

from collections.abc import Callable, Collection, Iterator

from sqlalchemy import select
from sqlalchemy.orm import Session

from portal.core.db import transaction
from portal.recorder.events import Event
from portal.recorder.journal import JournalGap
from portal.recorder.models import EVENT_COLUMNS, LoggedEvent
from portal.recorder.projections import TermState, UnknownEvent, apply

ROWS_PER_FETCH = 5000
STRIDE = 10_000  # events between progress reports
MISSING, UNREADABLE = "missing", "unreadable"

# Takes the step, and how many of how many events are done.
ProgressCallback = Callable[[str, int, int], None]


def no_progress(_step: str, _done: int, _events: int) -> None:
    """Ignore the progress."""


def strides(after: int, through: int) -> Iterator[tuple[int, int]]:
    """Yield ranges of events after `after` through `through`, STRIDE at a time."""
    for start in range(after, through, STRIDE):
        yield start, min(start + STRIDE, through)


def fold(  # noqa: PLR0913, PLR0917  a range of a term
    session: Session,
    term: int,
    state: TermState,
    after: int,
    through: int,
    aggregates: Collection[str] | None = None,
) -> None:
    """Apply events after `after` through `through` to the state, of all or these aggregates.

    Missing and unreadable events are stored as contradictions.
    """
    expected = after + 1
    for event in read_events(session, term, after, through, aggregates):
        if aggregates is None:
            state.contradictions += [(seq, MISSING) for seq in range(expected, event.seq)]
        try:
            apply(state, event)
        except (UnknownEvent, LookupError, TypeError) as error:
            state.contradictions.append((event.seq, f"{UNREADABLE}: {error}"))
        expected = event.seq + 1
    if aggregates is None:
        state.contradictions += [(seq, MISSING) for seq in range(expected, through + 1)]


def replay(
    term: int,
    state: TermState,
    through: int,
    progress: ProgressCallback = no_progress,
    step: str = "replaying",
) -> int:
    """Apply the log through event `through` to a new state; return `through`. Lock nothing."""
    for after, until in strides(0, through):
        progress(step, after, through)
        with transaction() as session:
            fold(session, term, state, after, until)
    progress(step, through, through)
    return through


def damage(state: TermState) -> list[tuple[int, str]]:
    """Return the contradictions that are missing or unreadable events."""
    return [each for each in state.contradictions if each[1].startswith((MISSING, UNREADABLE))]


def read_events(
    session: Session,
    term: int,
    after: int,
    through: int,
    aggregates: Collection[str] | None = None,
) -> Iterator[Event]:
    """Yield events with `after` < seq <= `through` in order, of all or these aggregates."""
    found = (
        select(*EVENT_COLUMNS)
        .where(LoggedEvent.term_id == term, LoggedEvent.seq > after, LoggedEvent.seq <= through)
        .order_by(LoggedEvent.seq)
        .execution_options(yield_per=ROWS_PER_FETCH)
    )
    if aggregates is not None:
        found = found.where(LoggedEvent.aggregate.in_(aggregates))
    for row in session.execute(found):
        yield Event(*row)


def find_event(session: Session, term: int, seq: int) -> Event | None:
    """Return the event with that number, None for 0.

    Raises JournalGap if the log has lost it.
    """
    found = next(read_events(session, term, seq - 1, seq), None)
    if seq and not found:
        raise JournalGap(f"term {term}: the event log does not have event {seq}")
    return found
