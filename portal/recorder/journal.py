"""The journal of a term: the stream in the ledger that every decision is written to."""

from contextlib import suppress
from datetime import timedelta
from typing import Any

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.core.checkpoints import Checkpoint
from portal.ledger import replicas
from portal.ledger.function_library import prefix, translate_errors
from portal.recorder.events import Event, entry_of, parsed

AT_ONCE = 2000  # entries
# The journal keeps recorded events for a PostgreSQL that is restored from a backup: the recorder
# continues from its checkpoint if the journal still has what follows.
KEPT_EVENTS = 100_000  # per term
IDLE = timedelta(days=30)  # without an event; older backups are then of no use


class JournalGap(Exception):
    """Events between the record and the journal are missing; an operator must act."""


def read(term: int, anchor: Event | None, count: int, *, copies: int = 0) -> list[Event]:
    """Return at most `count` events after the last recorded one that all replicas have.

    Raises JournalGap unless the journal still holds that one, byte for byte, and the events follow
    it without a gap. Otherwise the ledger has lost data and restarted its numbering.
    """
    after = anchor.seq if anchor else 0
    # One server answers everything: another one might have copies of something else.
    with translate_errors(), backend().ledger.redis(term).pipeline(transaction=False) as pipe:
        # Read the number first: events that arrive in between cannot make it seem ahead.
        pipe.get(f"{prefix(term)}:seq")
        pipe.xrange(f"{prefix(term)}:journal", min=f"{after}-0", count=count + 1)
        last, entries = replicas.execute(pipe, copies)
    events = _events(entries)
    if anchor and events[:1] != [anchor]:
        raise JournalGap(f"term {term}: the journal does not have event {after} as recorded")
    events = events[1:] if anchor else events[:count]
    if [event.seq for event in events] != list(range(after + 1, after + 1 + len(events))):
        raise JournalGap(f"term {term}: recorded up to {after}, then came {events[0].seq}")
    if not events and int(last or 0) != after:
        raise JournalGap(f"term {term}: recorded up to {after}, the ledger is at {last}")
    return events


def find(term: int, seq: int) -> Event | None:
    """Return the event with that number, if the journal still holds it."""
    return next(iter(_range(term, since=f"{seq}-0", until=f"{seq}-0")), None)


def first_after(term: int, recorded: int) -> Event | None:
    """Return the first readable event after `recorded`; None if the journal has none."""
    with suppress(ValueError, LookupError, TypeError, AttributeError):
        return next(iter(_range(term, since=f"({recorded}-0", count=1)), None)
    return None


def read_all(term: int) -> list[Event]:
    """Return all events in the journal, in order; read in steps to share the ledger."""
    events = _range(term, count=AT_ONCE)
    while more := events and _range(term, since=f"({events[-1].seq}-0", count=AT_ONCE):
        events += more
    return events


def latest(term: int, count: int, after: int = 0) -> list[Event]:
    """Return at most `count` of the latest events after event `after`, newest first."""
    with translate_errors():
        journal = f"{prefix(term)}:journal"
        return _events(
            backend().ledger.redis(term).xrevrange(journal, min=f"({after}-0", count=count)
        )


def last_seq(term: int) -> int:
    """Return the number of the term's latest event; 0 if there is none."""
    return backend().ledger.last_seq(term)


def restart_commands(term: int, anchor: Event | None) -> list[list[str]]:
    """Return the commands that make a term continue after that event, or start without one."""
    journal, seq = f"{prefix(term)}:journal", f"{prefix(term)}:seq"
    gone = ["DEL", journal, seq]
    if anchor is None:
        return [gone]
    entry = ["XADD", journal, f"{anchor.seq}-0", "event", entry_of(anchor)]
    return [gone, entry, ["SET", seq, str(anchor.seq)]]


def trim(term: int, through: int) -> None:
    """Delete what lies before event `through`, the anchor of the next read or earlier."""
    with translate_errors():
        backend().ledger.redis(term).xtrim(
            f"{prefix(term)}:journal", minid=f"{through}-0", approximate=False
        )


def trim_recorded(term: int, recorded: int) -> None:
    """Delete the journal's events before those that it must keep."""
    trim(term, max(0, recorded - KEPT_EVENTS))


def trim_idle_terms(session: Session) -> None:
    """Delete the journal's events in idle terms."""
    at_rest = Checkpoint.moved_at < func.now() - IDLE
    for term, seq in session.execute(select(Checkpoint.term_id, Checkpoint.seq).where(at_rest)):
        trim(term, seq)


def _range(term: int, since: str = "-", until: str = "+", count: int | None = None) -> list[Event]:
    with translate_errors():
        journal = f"{prefix(term)}:journal"
        return _events(
            backend().ledger.redis(term).xrange(journal, min=since, max=until, count=count)
        )


def _events(entries: Any) -> list[Event]:
    return [parsed(fields[b"event"]) for _, fields in entries]
