"""The recorder: from the journal into PostgreSQL, each event exactly once, in batches."""

import json
import logging
import time
from collections.abc import Iterator, Sequence
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
from portal.recorder import event_log, idempotency, journal, read_models, status
from portal.recorder.events import Event
from portal.recorder.journal import JournalGap, last_seq
from portal.recorder.projections import UnknownEvent, apply
from portal.recorder.subscribers import subscribers

BATCH = 2000
LONGEST = 10.0  # seconds
NAMED_CODES = 100  # receipt codes in a line of the application log
GIVE_WAY = "5s"  # how long to wait for another recorder of the term
BREATH = 0.02  # seconds between batches in a rush: a fuller batch costs hardly more
PATIENCE = 20.0  # seconds without progress; PostgreSQL ends a frozen recorder sooner

log = logging.getLogger(__name__)


def drain(term: int, seconds: float = LONGEST) -> int:
    """Record what the journal holds after the checkpoint; return the number of events.

    In a rush the journal may never be empty: after `seconds`, a new job continues. Raises
    JournalGap or UnknownEvent if continuing would lose something.
    """
    subscribers.require()
    # PostgreSQL first: while it is down, the flag stays set and no job is enqueued in vain.
    _make_checkpoint(term)
    backend().ledger.clear_woken(term, "record")
    recorded, until = 0, time.monotonic() + seconds
    while facts := _record_batch(term):
        recorded += len(facts)
        journal.trim_recorded(term, facts[-1].seq)
        _tell(term, facts)
        _log(term, facts)
        now = datetime.now(UTC)
        metrics.recorded((now - fact.at).total_seconds() for fact in facts if fact.awaited)
        if time.monotonic() > until:
            enqueue(term, ["record"])
            break
        if len(facts) < BATCH:
            time.sleep(BREATH)
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
            until = time.monotonic() + PATIENCE
        elif time.monotonic() > until:
            return False


def record_all() -> Iterator[str]:
    """Record all decisions of every term; yield a sentence for each term where that fails."""
    slow = "PostgreSQL is too slow, or another recorder holds the semester. Try again"
    for number, name in terms_named():
        try:
            why = "" if catch_up(number) else slow
        except (JournalGap, UnknownEvent, ValueError) as wrong:
            why = str(wrong)
        except LedgerUnavailable as away:
            yield f"The ledger does not answer, so its latest decisions are unknown: {away}."
            return
        if why:
            known, last = checkpoint(number), last_seq(number)
            # An older copy of the ledger may be behind the record.
            events = f"{last - known} decisions (events {known + 1} to {last})"
            yield f"{events if last > known else 'Decisions'} of {name} are not recorded: {why}."


def _make_checkpoint(term: int) -> None:
    with transaction() as session:
        session.execute(insert(Checkpoint).values(term_id=term, seq=0).on_conflict_do_nothing())


def _record_batch(term: int) -> Sequence[Event]:
    """Record the next events in one transaction; none if another recorder holds the term."""
    facts: Sequence[Event] = ()
    try:
        with transaction() as session:
            after = _lock(session, term)
            anchor = event_log.find_event(session, term, after)
            # Events that a failover could lose are not recorded.
            copies = backend().settings.replicas
            facts = journal.read(term, anchor, BATCH, copies=copies)
            if facts:
                _record(session, term, after, facts)
    except (JournalGap, UnknownEvent):
        status.count_failure(term)
        raise
    except IntegrityError as error:
        status.count_failure(term)
        if unknown := _unknown_students(facts):
            raise unknown from error
        raise
    except OperationalError as error:
        # PostgreSQL ends a recorder that froze in its transaction; the scheduler starts another.
        if isinstance(error.orig, LockNotAvailable):
            return ()
        raise
    return facts


def _lock(session: Session, term: int) -> int:
    """Return the term's checkpoint, locked until the transaction ends."""
    session.execute(text(f"SET LOCAL lock_timeout = '{GIVE_WAY}'"))
    return session.scalars(
        select(Checkpoint.seq).where(Checkpoint.term_id == term).with_for_update()
    ).one()


def _record(session: Session, term: int, after: int, facts: Sequence[Event]) -> None:
    state = read_models.load(session, term, facts)
    for fact in facts:
        apply(state, fact)
    for seq, wrong in state.contradictions:  # the event is stored: an audit finds it
        log.error("Term %s, event %s contradicts the record: %s", term, seq, wrong)
    read_models.append(session, term, facts)
    read_models.write(session, term, state, after)
    for subscriber in subscribers.recorded:
        subscriber(session, term, facts)
    idempotency.keep(session, term, facts)
    status.count_lags(session, term, facts)
    session.execute(
        update(Checkpoint)
        .where(Checkpoint.term_id == term)
        .values(seq=facts[-1].seq, moved_at=func.now())
    )


def _log(term: int, facts: Sequence[Event]) -> None:
    """Log what is recorded; in a rush, only the event log has the code of each."""
    codes = {str(fact.context["correlation"]) for fact in facts} - {""}
    extra: dict[str, object] = {"term": term, "events": len(facts), "seq": facts[-1].seq}
    if len(codes) <= NAMED_CODES:
        extra["of"] = sorted(codes)
    log.info("Recorded up to event %d of term %d", facts[-1].seq, term, extra=extra)


def _tell(term: int, facts: Sequence[Event]) -> None:
    """Notify open pages; a page that misses the message learns it at its next request."""
    told = [fact.payload for fact in facts]
    message = {
        "sections": sorted({each["section"] for each in told if "section" in each}),
        "students": sorted({each["student"] for each in told if "student" in each}),
        "seq": facts[-1].seq,
    }
    with suppress(RedisError):
        backend().redis.publish(f"{prefix(term)}:recorded", json.dumps(message))


# Students in the journal but not in PostgreSQL, for example after an old backup was restored.

NAMED_STUDENTS = 10  # students named in a message


class UnknownStudents(UnknownEvent):
    """Events about students that PostgreSQL does not know: they must not be skipped."""

    def __init__(self, seq: int, students: Sequence[int]) -> None:
        some = ", ".join(str(each) for each in students[:NAMED_STUDENTS])
        more = (
            f" and {len(students) - NAMED_STUDENTS} more" if len(students) > NAMED_STUDENTS else ""
        )
        super().__init__(
            f"from event {seq} on the journal names students whom PostgreSQL does not know"
            f" (ids {some}{more}). Was an older copy of PostgreSQL brought back? Bring a newer one"
            " back, or their rows of the tables accounts and students, with the same ids; then"
            " call it again"
        )


def _unknown_students(facts: Sequence[Event]) -> UnknownStudents | None:
    """Return the unknown students in the events; None if PostgreSQL knows all of them."""
    named = {int(fact.payload["student"]): fact.seq for fact in reversed(facts) if _about(fact)}
    with transaction() as session:
        known = session.scalars(select(Student.id).where(Student.id.in_(named)))
        unknown = {each: named[each] for each in named.keys() - set(known)}
    return UnknownStudents(min(unknown.values()), sorted(unknown)) if unknown else None


def _about(fact: Event) -> bool:
    return "student" in fact.payload and fact.name != "refused"
