"""What PostgreSQL knows: how far it is behind, mails, audits; and who else has the ledger."""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Any

from prometheus_client.core import GaugeMetricFamily, Metric
from redis.exceptions import ResponseError
from rq import Queue
from rq.job import Job
from rq.serializers import JSONSerializer
from sqlalchemy import func, or_, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog.models import Term
from portal.core.checkpoints import Checkpoint
from portal.core.db import transaction
from portal.core.moments import milliseconds
from portal.exchange.importing import import_jobs
from portal.ledger.replicas import in_sync
from portal.notifications import outbox
from portal.notifications.models import OutboxEntry
from portal.notifications.webhooks import outbox as webhooks
from portal.ops.models import AuditRun
from portal.people.models import AuditEntry
from portal.recorder import journal
from portal.recorder.journal import last_seq
from portal.recorder.models import ContinuousAudit, LoggedEvent


def remembered(terms: Sequence[Term], *, ledger: bool) -> Iterator[Metric]:
    """What PostgreSQL knows; how far it is behind only where the ledger answers too."""
    with transaction() as session:
        age = func.extract("epoch", func.now() - Checkpoint.moved_at)
        checkpoints = {
            term: (seq, float(seconds))
            for term, seq, seconds in session.execute(
                select(Checkpoint.term_id, Checkpoint.seq, age)
            )
        }
        due = session.scalar(select(func.count()).select_from(OutboxEntry).where(*outbox.DUE)) or 0
        first = outbox.first_due(session)
        dead = outbox.number_dead(session)
        untold, untold_since = webhooks.number_dead(session), webhooks.first_due(session)
        stopped = import_jobs.count_stopped(session)
        compared = [*_audits(session), *_reconciled(session)]
        copied = _copied(session)
    yield from compared
    text = "Time since the last backup, or since the first deed where none was made"
    yield GaugeMetricFamily("fairseat_backup_age_seconds", text, value=copied)
    yield GaugeMetricFamily("fairseat_mails_due", "Mails that are to be sent", value=due)
    yield GaugeMetricFamily("fairseat_mails_oldest_seconds", "Since when", value=_since(first))
    yield GaugeMetricFamily("fairseat_mails_dead", "Mails that were given up", value=dead)
    yield GaugeMetricFamily("fairseat_webhooks_dead", "Deliveries given up", value=untold)
    yield GaugeMetricFamily(
        "fairseat_webhooks_oldest_seconds",
        "Since when an event has been due to a receiver",
        value=_since(untold_since),
    )
    text = "Imports that wait for an admin with seats left, and bar all others"
    yield GaugeMetricFamily("fairseat_imports_stopped", text, value=stopped)
    if ledger:
        yield from _behind(terms, checkpoints)


def _since(first: datetime | None) -> float:
    return max(0.0, (datetime.now(UTC) - first).total_seconds()) if first else 0.0


def _audits(session: Session) -> Iterable[Metric]:
    """Of the last audit of each term that came to an end, whoever asked for it.

    One that could not compare all tells no more than what it has found.
    """
    found = GaugeMetricFamily(
        "fairseat_audit_differences", "Found by the last audit that ended", labels=["term"]
    )
    age = GaugeMetricFamily("fairseat_audit_age_seconds", "Time since it ended", labels=["term"])
    seconds = func.extract("epoch", func.now() - AuditRun.ended_at)
    last = (
        select(AuditRun.term_id, AuditRun.found, seconds)
        .where(AuditRun.ended_at.is_not(None), or_(AuditRun.error == "", AuditRun.found > 0))
        .ext(distinct_on(AuditRun.term_id))
        .order_by(AuditRun.term_id, AuditRun.ended_at.desc(), AuditRun.id.desc())
    )
    for term, differences, ago in session.execute(last):
        found.add_metric([str(term)], differences)
        age.add_metric([str(term)], float(ago))
    return found, age


def _reconciled(session: Session) -> Iterable[Metric]:
    """Of the standing comparison: what differs now, and how long ago the last round was done."""
    found = GaugeMetricFamily(
        "fairseat_reconcile_differences", "Found by the standing comparison", labels=["term"]
    )
    age = GaugeMetricFamily(
        "fairseat_reconcile_age_seconds",
        "Time since its last whole round was done, or since the first event was recorded",
        labels=["term"],
    )
    ours = LoggedEvent.term_id == Checkpoint.term_id
    first = select(LoggedEvent.recorded_at).where(ours).order_by(LoggedEvent.seq).limit(1)
    since = func.coalesce(ContinuousAudit.whole_at, first.scalar_subquery())
    rows = (
        select(Checkpoint.term_id, ContinuousAudit.found, func.extract("epoch", func.now() - since))
        .join(Term, Term.id == Checkpoint.term_id)
        .outerjoin(ContinuousAudit, ContinuousAudit.term_id == Checkpoint.term_id)
        .where(Checkpoint.seq > 0, Term.deleted_at.is_(None))
    )
    for term, differences, ago in session.execute(rows):
        found.add_metric([str(term)], differences or 0)
        age.add_metric([str(term)], max(0.0, float(ago or 0)))
    return found, age


def _copied(session: Session) -> float:
    """How old (seconds) the last backup is; 0 in a portal in which nothing was done yet."""
    last = select(func.max(AuditEntry.at)).where(AuditEntry.action == "backup.made")
    first = select(func.min(AuditEntry.at))
    since = func.coalesce(last.scalar_subquery(), first.scalar_subquery())
    return max(0.0, float(session.scalar(select(func.extract("epoch", func.now() - since))) or 0))


def _behind(terms: Sequence[Term], checkpoints: dict[int, tuple[int, float]]) -> Iterable[Metric]:
    unrecorded = GaugeMetricFamily(
        "fairseat_unrecorded_events", "Events that PostgreSQL does not have yet", labels=["term"]
    )
    age = GaugeMetricFamily(
        "fairseat_checkpoint_age_seconds",
        "Age of the first event that PostgreSQL does not have yet",
        labels=["term"],
    )
    for term in terms:
        seq, seconds = checkpoints.get(term.id, (0, 0.0))
        missing = max(0, last_seq(backend().redis, term.id) - seq)
        unrecorded.add_metric([str(term.id)], missing)
        age.add_metric([str(term.id)], _waits(term.id, seq, seconds) if missing else 0.0)
    return unrecorded, age


def _waits(term: int, recorded: int, seconds: float) -> float:
    """For how long (seconds) the next event waits to be recorded.

    Where the journal can't tell, as long as nothing has been: so many `seconds`.
    """
    first = journal.first_after(backend().redis, term, recorded)
    if first is None:
        return seconds
    return max(0.0, (backend().ledger.now() - milliseconds(first.at)) / 1000)


def replicas() -> Iterable[Metric]:
    """How many replicas keep up with the ledger, and how many have to."""
    well = in_sync(backend().redis)
    wanted = backend().settings.replicas or _demanded()
    return (
        GaugeMetricFamily("fairseat_replicas_in_sync", "Replicas that keep up", value=well),
        GaugeMetricFamily("fairseat_replicas_wanted", "Replicas that have to", value=wanted),
    )


def _demanded() -> int:
    """Without how many the ledger itself takes nothing; 0 where it does not say."""
    try:
        found: Any = backend().redis.config_get("min-replicas-to-write")
    except ResponseError:  # of a service that lets nobody look
        return 0
    return int(found.get("min-replicas-to-write", 0))


def oldest_jobs(queues: Sequence[str]) -> dict[str, float]:
    """For how long (seconds) the next job of each queue has waited; 0 where there is none."""
    redis = backend().redis
    with redis.pipeline(transaction=False) as pipe:
        for name in queues:
            pipe.lindex(Queue(name, connection=redis).key, 0)
        heads = dict(zip(queues, pipe.execute(), strict=True))
    ids = [head.decode() for head in heads.values() if head]
    jobs = Job.fetch_many(ids, connection=redis, serializer=JSONSerializer)
    now = datetime.now(UTC)
    since = {job.origin: job.enqueued_at or now for job in jobs if job}
    return {name: max(0.0, (now - since.get(name, now)).total_seconds()) for name in queues}
