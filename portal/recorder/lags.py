"""How late decisions about students were recorded, minute by minute, for a month.

An event says when it was decided and when it was recorded; its read models are written in the same
transaction, so that is when it was projected too. Here both are summed up, so that percentiles of a
month cost no more than those of a minute.
"""

from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import accumulate

from sqlalchemy import ARRAY, Integer, bindparam, delete, func, select, text
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from portal.core.db import transaction
from portal.recorder.fact import MILLISECOND, Fact
from portal.recorder.models import LagMinute

# The bounds (ms) of the buckets; the last has no end.
BOUNDS = (5, 10, 20, 35, 50, 75, 100, 150, 200, 350, 500, 750, 1000, 2000, 5000, 10_000, 60_000)
KEPT = timedelta(days=30)
SPANS = {
    "5m": timedelta(minutes=5),
    "1h": timedelta(hours=1),
    "24h": timedelta(days=1),
    "30d": KEPT,
}

NOTE = text("""
    INSERT INTO lags (term_id, minute, events, failures, slowest, buckets)
    VALUES (:term, date_trunc('minute', now()), :events, :failures, :slowest, :buckets)
    ON CONFLICT (term_id, minute) DO UPDATE SET
        events = lags.events + excluded.events,
        failures = lags.failures + excluded.failures,
        slowest = greatest(lags.slowest, excluded.slowest),
        buckets = ARRAY(SELECT a + b FROM unnest(lags.buckets, excluded.buckets)
                        WITH ORDINALITY AS t(a, b, i) ORDER BY i)
""").bindparams(bindparam("buckets", type_=ARRAY(Integer)))


@dataclass(frozen=True)
class Lags:
    """Of a span of time: events, failures, and ms until events were recorded; None without any."""

    span: str
    events: int
    failures: int
    p50: int | None
    p95: int | None
    p99: int | None
    slowest: int | None


def note(session: Session, term: int, facts: Sequence[Fact], failures: int = 0) -> None:
    """Count the awaited facts that the transaction records, or failures to record any."""
    now = datetime.now(UTC)
    late = [max(0, (now - fact.at) // MILLISECOND) for fact in facts if fact.awaited]
    if not late and not failures:
        return
    places = Counter(bisect_right(BOUNDS, each) for each in late)
    counted = {
        "term": term,
        "events": len(late),
        "failures": failures,
        "slowest": max(late, default=0),
        "buckets": [places[place] for place in range(len(BOUNDS) + 1)],
    }
    session.execute(NOTE, counted)


def note_failure(term: int) -> None:
    """Count a batch that could not be recorded, unless PostgreSQL is what fails."""
    with suppress(SQLAlchemyError), transaction() as session:
        note(session, term, (), failures=1)


def over(session: Session, span: str, term: int | None = None) -> Lags:
    """What a span of SPANS comes to, of a term or of all."""
    bucket, place = func.unnest(LagMinute.buckets), func.generate_subscripts(LagMinute.buckets, 1)
    since = LagMinute.minute > func.now() - SPANS[span]
    mine = (since,) if term is None else (since, LagMinute.term_id == term)
    counted = select(bucket.label("events"), place.label("place")).where(*mine).subquery()
    found = select(func.sum(counted.c.events)).group_by(counted.c.place).order_by(counted.c.place)
    buckets = [int(count) for count in session.scalars(found)]
    sums = select(
        func.coalesce(func.sum(LagMinute.events), 0),
        func.coalesce(func.sum(LagMinute.failures), 0),
        func.max(LagMinute.slowest),
    )
    events, failures, slowest = session.execute(sums.where(*mine)).one()
    if not events:
        return Lags(span, 0, failures, None, None, None, None)
    p50, p95, p99 = (percentile(buckets, part, slowest) for part in (0.5, 0.95, 0.99))
    return Lags(span, events, failures, p50, p95, p99, slowest)


def percentile(buckets: Sequence[int], part: float, slowest: int) -> int:
    """The bound (ms) under which that part of the events is, to its bucket."""
    wanted = part * sum(buckets)
    place = next(number for number, sum_ in enumerate(accumulate(buckets)) if sum_ >= wanted)
    return min(slowest, (*BOUNDS, slowest)[place])


def forget(session: Session) -> None:
    """Let go of what is older than a month."""
    session.execute(delete(LagMinute).where(LagMinute.minute < func.now() - KEPT))
