"""The recorder: from the journal into PostgreSQL, each event exactly once, in batches."""

import json
import logging
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import UTC, datetime

from psycopg2.errors import LockNotAvailable
from redis.exceptions import RedisError
from sqlalchemy import select, text, update
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.exc import IntegrityError, OperationalError
from sqlalchemy.orm import Session
from sqlalchemy.sql import func

from portal.backend import backend
from portal.catalog.term_catalog import terms_named
from portal.core import metrics
from portal.core.checkpoints import Checkpoint, checkpoint
from portal.core.db import transaction
from portal.core.queue import enqueue
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.function_library import prefix
from portal.people.models import Student
from portal.recorder import event_log, idempotency, journal, read_models, signals, status
from portal.recorder.events import QUEUE, Event
from portal.recorder.journal import JournalGap, last_seq
from portal.recorder.projections import TermState, UnknownEvent, apply

BATCH = 2000
LONGEST = 10.0  # seconds
NAMED_CODES = 100  # receipt codes in a line of the application log
NAMED_STUDENTS = 10  # students named in a message
LOCK_TIMEOUT = "5s"  # how long to wait for another recorder of the term
PAUSE = 0.02  # seconds between batches in a rush: a fuller batch costs hardly more
TIMEOUT = 20.0  # seconds without progress; PostgreSQL ends most frozen recorders sooner

log = logging.getLogger(__name__)


def drain(term: int, seconds: float = LONGEST) -> int:
    """Record what the journal holds after the checkpoint; return the number of events.

    In a rush the journal may never be empty: after `seconds`, a new job continues. Raises
    JournalGap or UnknownEvent if continuing would lose something.
    """
    if not signals.events_recorded.subscribers:  # in such a process it would lose mail
        raise RuntimeError("Call portal.subscribers.connect() first.")
    # PostgreSQL first: while it is down, the flag stays set, so no useless job is enqueued.
    with transaction() as session:
        session.execute(insert(Checkpoint).values(term_id=term, seq=0).on_conflict_do_nothing())
    backend().ledger.clear_woken(term, "record")
    recorded, until = 0, time.monotonic() + seconds
    while events := _record_batch(term):
        recorded += len(events)
        journal.trim_recorded(term, events[-1].seq)
        _publish(term, events)
        _log(term, events)
        now = datetime.now(UTC)
        for event in events:
            if event.awaited:
                metrics.EVENT_LAG.observe((now - event.at).total_seconds())
        if time.monotonic() > until:
            enqueue(term, ["record"])
            break
        if len(events) < BATCH:
            time.sleep(PAUSE)
    return recorded


def catch_up(term: int) -> bool:
    """Record what the journal holds now; return False if the recorder makes no progress.

    Raises JournalGap or UnknownEvent if recording can never succeed.
    """
    through, known, until = last_seq(term), 0, 0.0
    while True:
        drain(term, seconds=0)
        before, known = known, checkpoint(term)
        if known >= through:
            return True
        if known > before or not until:
            until = time.monotonic() + TIMEOUT
        elif time.monotonic() > until:
            return False


def record_all() -> Iterator[str]:
    """Record all decisions of every term; yield a sentence for each term where that fails."""
    too_slow = "PostgreSQL is too slow, or another recorder holds the semester. Try again"
    for number, name in terms_named():
        try:
            why = "" if catch_up(number) else too_slow
        except (JournalGap, UnknownEvent, ValueError) as wrong:
            why = str(wrong)
        except LedgerUnavailable as away:
            yield f"The ledger does not respond, so its latest decisions are unknown: {away}."
            return
        if why:
            known, last = checkpoint(number), last_seq(number)
            # An older copy of the ledger may be behind the record.
            which = f"{last - known} decisions (events {known + 1} to {last})"
            yield f"{which if last > known else 'Decisions'} of {name} are not recorded: {why}."


def _record_batch(term: int) -> Sequence[Event]:
    """Record the next events in one transaction; none if another recorder holds the term."""
    events: Sequence[Event] = ()
    try:
        with transaction() as session:
            after = _lock(session, term)
            anchor = event_log.find_event(session, term, after)
            # Events that a failover could lose are not recorded.
            copies = backend().settings.replicas
            events = journal.read(term, anchor, BATCH, copies=copies)
            if events:
                _record(session, term, after, events)
    except (JournalGap, UnknownEvent):
        status.count_failure(term, events)
        raise
    except IntegrityError as error:
        status.count_failure(term, events)
        if unknown := _unknown_students(events):
            raise unknown from error
        raise
    except OperationalError as error:
        # PostgreSQL ends a recorder that froze in its transaction, unless it froze within a COPY
        # (decision 45); the scheduler starts another.
        if isinstance(error.orig, LockNotAvailable):
            return ()
        raise
    return events


def _lock(session: Session, term: int) -> int:
    """Return the term's checkpoint, locked until the transaction ends."""
    session.execute(text(f"SET LOCAL lock_timeout = '{LOCK_TIMEOUT}'"))
    return session.scalars(
        select(Checkpoint.seq).where(Checkpoint.term_id == term).with_for_update()
    ).one()


def _record(session: Session, term: int, after: int, events: Sequence[Event]) -> None:
    reached = {"created": datetime.now(UTC)}
    state = read_models.load(session, term, events)
    # PostgreSQL stores the first events while the next ones are applied.
    read_models.append(session, term, _applied(state, events))
    for seq, wrong in state.contradictions:  # the event is stored: an audit finds it
        log.error("Term %s, event %s contradicts the record: %s", term, seq, wrong)
    reached["recorded"] = datetime.now(UTC)
    read_models.write(session, term, state, after)
    signals.events_recorded.send(session, term, events)
    idempotency.store(session, term, events)
    reached["projected"] = datetime.now(UTC)
    status.count_lags(session, term, events, reached)
    session.execute(
        update(Checkpoint)
        .where(Checkpoint.term_id == term)
        .values(seq=events[-1].seq, moved_at=func.now())
    )


def _applied(state: TermState, events: Iterable[Event]) -> Iterator[Event]:
    """Apply the events to the state, and yield each one after that."""
    for event in events:
        apply(state, event)
        yield event


def _log(term: int, events: Sequence[Event]) -> None:
    """Log a recorded batch; in a rush, only the event log has the code of each event."""
    codes = {str(event.context["correlation"]) for event in events} - {""}
    extra: dict[str, object] = {"term": term, "events": len(events), "seq": events[-1].seq}
    if len(codes) <= NAMED_CODES:
        extra["of"] = sorted(codes)
    log.info("Recorded up to event %d of term %d", events[-1].seq, term, extra=extra)


def _publish(term: int, events: Sequence[Event]) -> None:
    """Notify open pages; a page that misses the message learns it at its next request.

    The events of waiting rooms change nothing that these pages show.
    """
    payloads = [event.payload for event in events if not event.aggregate.startswith(QUEUE)]
    message = {
        "sections": sorted({each["section"] for each in payloads if "section" in each}),
        "students": sorted({each["student"] for each in payloads if "student" in each}),
        "seq": events[-1].seq,
    }
    with suppress(RedisError):
        backend().redis.publish(f"{prefix(term)}:recorded", json.dumps(message))


class UnknownStudents(UnknownEvent):
    """Events about students that PostgreSQL does not know: they must not be skipped.

    An older copy of PostgreSQL may have been restored.
    """

    def __init__(self, seq: int, students: Sequence[int]) -> None:
        some, more = students[:NAMED_STUDENTS], len(students) - NAMED_STUDENTS
        ids = ", ".join(map(str, some)) + (f" and {more} more" if more > 0 else "")
        super().__init__(
            f"from event {seq} on, the journal names students who are not in PostgreSQL"
            f" (ids {ids}). Was an older copy of PostgreSQL restored? Restore a newer one, or"
            " restore their rows of the tables accounts and students with the same ids. Then run"
            " the command again"
        )


def _unknown_students(events: Sequence[Event]) -> UnknownStudents | None:
    """Return the unknown students in the events; None if PostgreSQL knows all of them."""
    named = {
        int(event.payload["student"]): event.seq
        for event in reversed(events)
        if "student" in event.payload and event.name != "refused"
    }
    with transaction() as session:
        known = session.scalars(select(Student.id).where(Student.id.in_(named)))
        unknown = {each: named[each] for each in named.keys() - set(known)}
    return UnknownStudents(min(unknown.values()), sorted(unknown)) if unknown else None
