"""What was answered under request keys, for the day in which it may be asked for again.

The ledger has it beside its journal; here it is kept for a ledger that is restored.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

from redis import Redis
from sqlalchemy import delete, func, select, text
from sqlalchemy.orm import Session

from portal.record.fact import Fact
from portal.record.models import Answered
from portal.seats.library import prefix, reached

DAY = timedelta(days=1)
AT_ONCE = 5000

# All rows in one statement. Where a key is known it is a day old.
KEEP = text("""
    INSERT INTO answered (term_id, student_id, request, kept, at)
    SELECT :term, * FROM unnest(
        CAST(:students AS integer[]), CAST(:requests AS text[]), CAST(:kept AS text[]),
        CAST(:ats AS timestamptz[])
    )
    ON CONFLICT (term_id, student_id, request)
    DO UPDATE SET kept = excluded.kept, at = excluded.at
""")

Key = tuple[int, str]  # student and request


def keep(session: Session, redis: Redis, term: int, facts: Sequence[Fact]) -> None:
    """Keep the answers of those decisions that were asked for under a key."""
    asked = dict(_asked(facts))
    if not asked:
        return
    with reached():
        found: Any = redis.mget([name(term, *key) for key in asked])
    rows = [
        (*key, said.decode(), at)
        for (key, at), said in zip(asked.items(), found, strict=True)
        if said
    ]
    if rows:
        students, requests, kept, ats = map(list, zip(*rows, strict=True))
        given = {"students": students, "requests": requests, "kept": kept, "ats": ats}
        session.execute(KEEP, {"term": term} | given)


def known(session: Session, term: int, now: datetime) -> Iterator[tuple[Key, str, int]]:
    """Each answer that may still be asked for, and for how long (ms)."""
    found = (
        select(Answered.student_id, Answered.request, Answered.kept, Answered.at)
        .where(Answered.term_id == term, Answered.at > now - DAY)
        .execution_options(yield_per=AT_ONCE)
    )
    for student, request, said, at in session.execute(found):
        yield (student, request), said, (at + DAY - now) // timedelta(milliseconds=1)


def forget(session: Session) -> None:
    """Let go of those that the ledger has forgotten."""
    session.execute(delete(Answered).where(Answered.at < func.now() - DAY))


def name(term: int, student: int, request: str) -> str:
    """Where the ledger has an answer."""
    return f"{prefix(term)}:request:{student}:{request}"


def _asked(facts: Sequence[Fact]) -> Iterator[tuple[Key, datetime]]:
    for fact in facts:
        if fact.context["request"] and "student" in fact.payload:
            yield (fact.payload["student"], fact.context["request"]), fact.at
