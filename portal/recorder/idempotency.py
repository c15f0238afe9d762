"""Answers stored under idempotency keys, for the day in which they may be asked for again.

The ledger keeps them beside its journal. This copy serves restores and audits.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import delete, func, select, text
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.core.db import transaction
from portal.core.moments import moment
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.function_library import prefix, translate_errors
from portal.recorder.consistency.differences import Difference
from portal.recorder.consistency.ledger_keys import batches
from portal.recorder.events import Event
from portal.recorder.models import EVENT_COLUMNS, LoggedEvent, StoredAnswer

DAY = timedelta(days=1)
ENDING = 60_000  # ms before it expires, when an answer is no longer compared: clocks differ
AT_ONCE = 1000  # answers: the ledger looks them up in one step

# All rows in one statement. A key that exists already is a day old.
KEEP = text("""
    INSERT INTO stored_answers (term_id, student_id, request, kept, at)
    SELECT :term, * FROM unnest(
        CAST(:students AS integer[]), CAST(:requests AS text[]), CAST(:kept AS text[]),
        CAST(:ats AS timestamptz[])
    )
    ON CONFLICT (term_id, student_id, request)
    DO UPDATE SET kept = excluded.kept, at = excluded.at
    WHERE stored_answers.at < excluded.at - interval '23 hours'
""")
SEQ = re.compile(r'"seq":(\d+)')

Key = tuple[int, str]  # student and idempotency key


def store(session: Session, term: int, events: Sequence[Event]) -> None:
    """Store the answers of decisions that came with an idempotency key."""
    times = {
        (event.payload["student"], event.context["request"]): event.at
        for event in events
        if event.context["request"] and "student" in event.payload
    }
    held = zip(times.items(), _in_ledger(term, list(times)) if times else (), strict=True)
    rows = [(*key, answer, at) for (key, at), answer in held if answer]
    if rows:
        students, requests, answer, ats = map(list, zip(*rows, strict=True))
        given = {"students": students, "requests": requests, "kept": answer, "ats": ats}
        session.execute(KEEP, {"term": term} | given)


def store_lost(session: Session, term: int) -> None:
    """Store the last day's answers that the ledger still has and that were lost here."""
    query = select(*EVENT_COLUMNS).where(
        LoggedEvent.term_id == term,
        LoggedEvent.occurred_at > func.now() - DAY,
        LoggedEvent.context["request"].astext != "",
    )
    events = (Event(*row) for row in session.execute(query))
    with suppress(LedgerUnavailable):
        for batch in batches(events, AT_ONCE):
            store(session, term, batch)


def differences(
    session: Session, term: int, students: Collection[int] | None = None
) -> Iterator[Difference]:
    """Yield answers that the ledger lacks or holds differently, of all or these students."""
    now = moment(backend().ledger.now())
    fresh = (each for each in stored_answers(session, term, now, students) if each[2] > ENDING)
    for batch in batches(fresh, AT_ONCE):
        found = _in_ledger(term, [key for key, _, _ in batch])
        for (key, answer, _), held in zip(batch, found, strict=True):
            if held != answer:
                yield _difference(key, held, answer)


def unrecorded(term: int, names: Iterable[str], seq: int) -> list[Difference]:
    """Return the ledger's answers to decisions through event `seq` that are not recorded.

    An answer without an event changed nothing; only the ledger keeps it.
    """
    parts = (name.split(":", 2) for name in names if name.startswith("request:"))
    known = {(int(student), key) for _, student, key in parts}
    stored = select(StoredAnswer.student_id, StoredAnswer.idempotency_key).where(
        StoredAnswer.term_id == term
    )
    found: list[Difference] = []
    with transaction() as session:
        known -= {(student, key) for student, key in session.execute(stored)}
        for batch in batches(sorted(known), AT_ONCE):
            for key, held in zip(batch, _in_ledger(term, batch), strict=True):
                events = list(map(int, SEQ.findall(held or "")))
                if not events or min(events) > seq or _is_ending(term, key):
                    continue
                difference = _difference(key, held, None)
                if _logged(session, term, key):
                    difference = {"where": "answered", "what": difference["what"]}
                    difference |= {"log": "decided", "read_model": None}
                found.append(difference)
    return found


def _in_ledger(term: int, keys: Sequence[Key]) -> list[str | None]:
    """Return the ledger's values under these keys."""
    with translate_errors():
        found: Any = backend().ledger.redis(term).mget([answer_key(term, *key) for key in keys])
    return [answer and answer.decode() for answer in found]


def _is_ending(term: int, key: Key) -> bool:
    """Return whether the answer is about to expire: our copy may be deleted already."""
    with translate_errors():
        left: Any = backend().ledger.redis(term).pttl(answer_key(term, *key))
    return bool(left != -1 and left < ENDING)


def _logged(session: Session, term: int, key: Key) -> bool:
    student, idempotency_key = key
    mine = LoggedEvent.term_id == term, LoggedEvent.student_id == student
    under = LoggedEvent.context["request"].astext == idempotency_key
    found = select(LoggedEvent.seq).where(*mine, under)
    return session.scalar(found.limit(1)) is not None


def _difference(key: Key, held: str | None, answer: str | None) -> Difference:
    what = "student {}, key {}".format(*key)
    return {"where": "ledger request", "what": what, "ledger": held, "log": answer}


def stored_answers(
    session: Session, term: int, now: datetime, students: Collection[int] | None = None
) -> Iterator[tuple[Key, str, int]]:
    """Yield each answer that may still be asked for, and for how long (ms)."""
    key = StoredAnswer.student_id, StoredAnswer.idempotency_key
    found = (
        select(*key, StoredAnswer.kept, StoredAnswer.at)
        .where(StoredAnswer.term_id == term, StoredAnswer.at > now - DAY)
        .execution_options(yield_per=AT_ONCE)
    )
    if students is not None:
        found = found.where(StoredAnswer.student_id.in_(students))
    for student, idempotency_key, answer, at in session.execute(found):
        yield (student, idempotency_key), answer, (at + DAY - now) // timedelta(milliseconds=1)


def delete_expired(session: Session) -> None:
    """Delete answers that have expired in the ledger."""
    session.execute(delete(StoredAnswer).where(StoredAnswer.at < func.now() - DAY))


def answer_key(term: int, student: int, idempotency_key: str) -> str:
    """Return the ledger's key of an answer."""
    return f"{prefix(term)}:request:{student}:{idempotency_key}"
