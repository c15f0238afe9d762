"""The state of each term's record: how far it is behind the ledger, and whether they agree."""

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from sqlalchemy import ARRAY, Integer, bindparam, delete, func, select, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.exc import SQLAlchemyError
from sqlalchemy.orm import Session

from portal.catalog.models import Term
from portal.core.checkpoints import Checkpoint
from portal.core.db import transaction
from portal.core.latency import BOUNDS, PARTS, percentile
from portal.core.moments import MILLISECOND
from portal.recorder.consistency import fence
from portal.recorder.events import Event
from portal.recorder.journal import last_seq
from portal.recorder.models import ContinuousAudit, LagHour, LagMinute


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

KEPT = timedelta(days=30)
SPANS = {
    "5m": timedelta(minutes=5),
    "1h": timedelta(hours=1),
    "24h": timedelta(days=1),
    "30d": KEPT,
}

HOUR_SPANS = {
    "24h": timedelta(days=1),
    "7d": timedelta(days=7),
    "30d": KEPT,
}
# The stages of an event. Its lag counts from the decision of the ledger. The first
# stage ends when the recorder has read it from the journal; then it is in the event log; then the
# read models have it. `failed` counts each attempt of a batch that could not be recorded.
STAGES = ("created", "recorded", "projected", "failed")


def _with_buckets(table: str) -> str:
    """Return SQL that adds the buckets of a new row to those of the table's row."""
    return f"""
        slowest = greatest({table}.slowest, excluded.slowest),
        buckets = ARRAY(SELECT a + b FROM unnest({table}.buckets, excluded.buckets)
                        WITH ORDINALITY AS t(a, b, i) ORDER BY i)"""  # noqa: S608  our own names


ADD_TO_MINUTE = text(f"""
    INSERT INTO lag_minutes (term_id, minute, events, failures, slowest, buckets)
    VALUES (:term, date_trunc('minute', now()), :events, :failures, :slowest, :buckets)
    ON CONFLICT (term_id, minute) DO UPDATE SET
        events = lag_minutes.events + excluded.events,
        failures = lag_minutes.failures + excluded.failures,
        {_with_buckets("lag_minutes")}
""").bindparams(bindparam("buckets", type_=ARRAY(Integer)))  # noqa: S608
ADD_TO_HOUR = text(f"""
    INSERT INTO lag_hours (term_id, hour, name, stage, events, slowest, buckets)
    SELECT :term, date_trunc('hour', now()), name, stage, events, slowest, buckets
    FROM jsonb_to_recordset(:rows)
        AS t(name text, stage text, events integer, slowest bigint, buckets integer[])
    ON CONFLICT (term_id, hour, name, stage) DO UPDATE SET
        events = lag_hours.events + excluded.events,
        {_with_buckets("lag_hours")}
""").bindparams(bindparam("rows", type_=JSONB))  # noqa: S608


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


@dataclass(frozen=True)
class StageLags:
    """How late the events of one name reached a stage, in ms."""

    name: str
    stage: str
    events: int
    percentiles: Sequence[int]  # of PARTS
    slowest: int


def count_lags(
    session: Session, term: int, events: Sequence[Event], reached: Mapping[str, datetime]
) -> None:
    """Count the awaited events that the transaction records.

    `reached` says when they reached each stage, the last stage last.
    """
    first, *_, last = reached.values()
    if ages := _ages(events, first):
        more = _ms(last - first)
        late = [age + more for found in ages.values() for age in found]
        session.execute(ADD_TO_MINUTE, {"term": term, "failures": 0, **_counted(late)})
        after = {stage: _ms(at - first) for stage, at in reached.items()}
        _count_stages(session, term, ages, after)


def count_failure(term: int, events: Sequence[Event] = ()) -> None:
    """Count a batch that could not be recorded, unless PostgreSQL itself failed."""
    with suppress(SQLAlchemyError), transaction() as session:
        session.execute(ADD_TO_MINUTE, {"term": term, "failures": 1, **_counted(())})
        _count_stages(session, term, _ages(events, datetime.now(UTC)), {"failed": 0})


def _ages(events: Iterable[Event], at: datetime) -> Mapping[str, list[int]]:
    """Return how old (ms) the awaited events are at a moment, by their names."""
    found: defaultdict[str, list[int]] = defaultdict(list)
    for event in events:
        if event.awaited:
            found[event.name].append(_ms(at - event.at))
    return found


def _count_stages(
    session: Session, term: int, ages: Mapping[str, list[int]], after: Mapping[str, int]
) -> None:
    """Count the events at each stage, which they reached so many ms `after` these ages."""
    rows = [
        {"name": name, "stage": stage, **_counted([age + more for age in found])}
        for name, found in sorted(ages.items())
        for stage, more in after.items()
    ]
    if rows:
        session.execute(ADD_TO_HOUR, {"term": term, "rows": rows})


def _ms(span: timedelta) -> int:
    return span // MILLISECOND


def _counted(late: Sequence[int]) -> dict[str, Any]:
    """Return the number of lags (ms), the longest, and their buckets.

    A lag is negative if the ledger's clock is ahead; it counts as none.
    """
    counts = Counter(bisect_right(BOUNDS, each) for each in late)
    buckets = [counts[bucket] for bucket in range(len(BOUNDS) + 1)]
    return {"events": len(late), "slowest": max((0, *late)), "buckets": buckets}


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
    p50, p95, p99 = (percentile(buckets, part, slowest) for part in PARTS)
    return Lags(span, events, failures, p50, p95, p99, slowest)


def stage_lags(session: Session, span: timedelta) -> list[StageLags]:
    """Return the lags of each kind of event at each stage, over whole hours back to the span."""
    recent = LagHour.hour > func.now() - span - timedelta(hours=1)
    part = (
        func.unnest(LagHour.buckets)
        .table_valued("count", with_ordinality="bucket", joins_implicitly=True)
        .render_derived()
    )
    summed = (
        select(LagHour.name, LagHour.stage, part.c.bucket, func.sum(part.c.count))
        .where(recent)
        .group_by(LagHour.name, LagHour.stage, part.c.bucket)
        .order_by(part.c.bucket)
    )
    buckets: defaultdict[tuple[str, str], list[int]] = defaultdict(list)
    for name, stage, _bucket, count in session.execute(summed):
        buckets[name, stage].append(int(count))
    slowest = (
        select(LagHour.name, LagHour.stage, func.max(LagHour.slowest))
        .where(recent)
        .group_by(LagHour.name, LagHour.stage)
    )
    found = []
    for name, stage, longest in session.execute(slowest):
        counts = buckets[name, stage]
        percentiles = [percentile(counts, each, longest) for each in PARTS]
        found.append(StageLags(name, stage, sum(counts), percentiles, longest))
    return sorted(found, key=lambda each: (each.name, STAGES.index(each.stage)))


def forget_lags(session: Session) -> None:
    """Delete entries older than a month."""
    session.execute(delete(LagMinute).where(LagMinute.minute < func.now() - KEPT))
    session.execute(delete(LagHour).where(LagHour.hour < func.now() - KEPT))
