"""The state of each term's record: how far it is behind the ledger, and whether they agree."""

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

from portal.catalog.models import Term
from portal.core.checkpoints import Checkpoint
from portal.core.db import transaction
from portal.core.moments import MILLISECOND
from portal.recorder.consistency import fence
from portal.recorder.events import Event
from portal.recorder.journal import last_seq
from portal.recorder.models import ContinuousAudit, LagMinute


@dataclass(frozen=True)
class TermStatus:
    """A term's events `decided` and `recorded`, and the continuous audit's `differences`.

    `compared_at` is when that audit last ran.
    """

    semester_id: int
    name: str
    decided: int
    recorded: int
    recorded_at: datetime | None
    fenced: bool
    differences: int
    compared_at: datetime | None

    @property
    def status(self) -> str:
        """Return the worst that applies: fenced, differs, behind or well."""
        found = {"fenced": self.fenced, "differs": self.differences > 0}
        found["behind"] = self.decided > self.recorded
        return next((name for name, true in found.items() if true), "well")


def term_statuses() -> list[TermStatus]:
    """Return the status of every term; raise LedgerUnavailable."""
    rows = (
        select(Term.id, Term.name, Checkpoint.seq, Checkpoint.moved_at, ContinuousAudit)
        .outerjoin(Checkpoint, Checkpoint.term_id == Term.id)
        .outerjoin(ContinuousAudit, ContinuousAudit.term_id == Term.id)
        .where(Term.deleted_at.is_(None))
        .order_by(Term.id)
    )
    with transaction() as session:
        found = session.execute(rows).all()
    return [
        TermStatus(
            term,
            name,
            decided=last_seq(term),
            recorded=seq or 0,
            recorded_at=moved,
            fenced=bool(fence.why(term)),
            differences=compared.found if compared else 0,
            compared_at=compared.at if compared else None,
        )
        for term, name, seq, moved, compared in found
    ]


# The lag of decisions about students, minute by minute, for a month.
#
# Counts per bucket make the percentiles of a month as cheap as those of a minute.

# The upper bounds (ms) of the buckets; the last bucket has none.
BOUNDS = (5, 10, 20, 35, 50, 75, 100, 150, 200, 350, 500, 750, 1000, 2000, 5000, 10_000, 60_000)
KEPT = timedelta(days=30)
SPANS = {
    "5m": timedelta(minutes=5),
    "1h": timedelta(hours=1),
    "24h": timedelta(days=1),
    "30d": KEPT,
}

ADD_TO_MINUTE = text("""
    INSERT INTO lag_minutes (term_id, minute, events, failures, slowest, buckets)
    VALUES (:term, date_trunc('minute', now()), :events, :failures, :slowest, :buckets)
    ON CONFLICT (term_id, minute) DO UPDATE SET
        events = lag_minutes.events + excluded.events,
        failures = lag_minutes.failures + excluded.failures,
        slowest = greatest(lag_minutes.slowest, excluded.slowest),
        buckets = ARRAY(SELECT a + b FROM unnest(lag_minutes.buckets, excluded.buckets)
                        WITH ORDINALITY AS t(a, b, i) ORDER BY i)
""").bindparams(bindparam("buckets", type_=ARRAY(Integer)))


@dataclass(frozen=True)
class Lags:
    """Figures of a time span: events, failures, and lags in ms; None if there are no events."""

    span: str
    events: int
    failures: int
    p50: int | None
    p95: int | None
    p99: int | None
    slowest: int | None


def count_lags(session: Session, term: int, events: Sequence[Event], failures: int = 0) -> None:
    """Count the awaited events that the transaction records, or failures to record."""
    now = datetime.now(UTC)
    late = [max(0, (now - event.at) // MILLISECOND) for event in events if event.awaited]
    if not late and not failures:
        return
    counts = Counter(bisect_right(BOUNDS, each) for each in late)
    counted = {
        "term": term,
        "events": len(late),
        "failures": failures,
        "slowest": max(late, default=0),
        "buckets": [counts[bucket] for bucket in range(len(BOUNDS) + 1)],
    }
    session.execute(ADD_TO_MINUTE, counted)


def count_failure(term: int) -> None:
    """Count a batch that could not be recorded, unless PostgreSQL itself failed."""
    with suppress(SQLAlchemyError), transaction() as session:
        count_lags(session, term, (), failures=1)


def lags_over(session: Session, span: str) -> Lags:
    """Return the figures of a span in SPANS."""
    bucket, index = func.unnest(LagMinute.buckets), func.generate_subscripts(LagMinute.buckets, 1)
    recent = LagMinute.minute > func.now() - SPANS[span]
    counted = select(bucket.label("events"), index.label("bucket")).where(recent).subquery()
    found = select(func.sum(counted.c.events)).group_by(counted.c.bucket).order_by(counted.c.bucket)
    buckets = [int(count) for count in session.scalars(found)]
    sums = select(
        func.coalesce(func.sum(LagMinute.events), 0),
        func.coalesce(func.sum(LagMinute.failures), 0),
        func.max(LagMinute.slowest),
    )
    events, failures, slowest = session.execute(sums.where(recent)).one()
    if not events:
        return Lags(span, 0, failures, None, None, None, None)
    p50, p95, p99 = (percentile(buckets, part, slowest) for part in (0.5, 0.95, 0.99))
    return Lags(span, events, failures, p50, p95, p99, slowest)


def percentile(buckets: Sequence[int], part: float, slowest: int) -> int:
    """Return the upper bound (ms) of the bucket that holds this percentile."""
    wanted = part * sum(buckets)
    bucket = next(number for number, sum_ in enumerate(accumulate(buckets)) if sum_ >= wanted)
    return min(slowest, (*BOUNDS, slowest)[bucket])


def forget_lags(session: Session) -> None:
    """Delete entries older than a month."""
    session.execute(delete(LagMinute).where(LagMinute.minute < func.now() - KEPT))
