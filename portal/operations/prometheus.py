"""Metrics from PostgreSQL: recording lag, mail, audits; and the ledger's replicas."""

import logging
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from threading import Lock, Thread
from time import monotonic
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from redis.exceptions import ResponseError
from rq import Queue
from rq.job import Job
from rq.serializers import JSONSerializer
from sqlalchemy import func, or_, select
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog.models import Term
from portal.core import flags
from portal.core.checkpoints import Checkpoint
from portal.core.db import transaction
from portal.core.moments import milliseconds
from portal.exchange.importing import import_jobs
from portal.ledger.replicas import in_sync
from portal.notifications import outbox
from portal.notifications.models import OutboxEntry
from portal.notifications.webhooks import outbox as webhooks
from portal.operations import figures as operations
from portal.operations.figures import AWAY, Figures, Jobs, TermNow
from portal.people.models import AuditEntry
from portal.recorder import journal
from portal.recorder.journal import last_seq
from portal.recorder.models import AuditRun, ContinuousAudit, LoggedEvent


def remembered(terms: Sequence[Term], *, ledger: bool) -> Iterator[Metric]:
    """Yield PostgreSQL's metrics; the recording lag only if the ledger answers too."""
    with transaction() as session:
        age = func.extract("epoch", func.now() - Checkpoint.moved_at)
        checkpoints = {
            term: (seq, float(seconds))
            for term, seq, seconds in session.execute(
                select(Checkpoint.term_id, Checkpoint.seq, age)
            )
        }
        due = (
            session.scalar(
                select(func.count()).select_from(OutboxEntry).where(*outbox.due(OutboxEntry))
            )
            or 0
        )
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
    """Yield metrics of each term's last finished audit.

    An incomplete audit reports only the differences it found.
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
    """Yield the continuous audit's current differences, and the age of the last round."""
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
    """Return the age (seconds) of the last backup; 0 in a portal without any data."""
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
    """Return for how long (seconds) the next event has waited to be recorded.

    If the journal cannot tell, return `seconds`, the time since the last recording.
    """
    first = journal.first_after(backend().redis, term, recorded)
    if first is None:
        return seconds
    return max(0.0, (backend().ledger.now() - milliseconds(first.at)) / 1000)


def replicas() -> Iterable[Metric]:
    """Yield how many replicas keep up with the ledger, and how many must."""
    well = in_sync(backend().redis)
    wanted = backend().settings.replicas or _demanded()
    return (
        GaugeMetricFamily("fairseat_replicas_in_sync", "Replicas that keep up", value=well),
        GaugeMetricFamily("fairseat_replicas_wanted", "Replicas that have to", value=wanted),
    )


def _demanded() -> int:
    """Return how many replicas the ledger itself requires for a write; 0 if it does not say."""
    try:
        found: Any = backend().redis.config_get("min-replicas-to-write")
    except ResponseError:  # a managed service that hides its settings
        return 0
    return int(found.get("min-replicas-to-write", 0))


def oldest_jobs(queues: Sequence[str]) -> dict[str, float]:
    """Return for how long (seconds) the next job of each queue has waited; 0 if none."""
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


# The metrics of the whole portal for Prometheus.

STATES = {"closed": 0, "half-open": 1, "open": 2}


def read() -> Iterator[Metric]:
    """Yield all metrics; those of unavailable parts are left out."""
    figures = operations.read_figures()
    yield _gauge("fairseat_ledger_up", "Whether the ledger answers", figures.at > 0)
    yield _gauge("fairseat_postgresql_up", "Whether PostgreSQL answers", figures.postgresql)
    if figures.postgresql:
        yield from remembered(figures.all_terms, ledger=figures.at > 0)
    if figures.at:
        yield from replicas()
    if figures.jobs:
        yield from _queues(figures.jobs)
    if figures.fenced is not None:
        yield _fenced(figures)
    if figures.terms:
        yield from _rooms(figures.terms)
    yield from _parts(figures)


def _queues(jobs: Jobs) -> Iterable[Metric]:
    waiting = _labelled("fairseat_queue_jobs", "Jobs that wait", "queue")
    workers = _labelled("fairseat_queue_workers", "Workers that can be counted on", "queue")
    dead = _labelled("fairseat_dead_letters", "Jobs that were given up", "queue")
    oldest = _labelled("fairseat_queue_oldest_seconds", "Age of the job that is next", "queue")
    ages = oldest_jobs([queue.name for queue in jobs.queues])
    for queue in jobs.queues:
        name = [queue.name]
        waiting.add_metric(name, queue.waiting + queue.later)
        workers.add_metric(name, sum(hand.alive for hand in queue.hands))
        dead.add_metric(name, queue.dead)
        oldest.add_metric(name, ages[queue.name])
    clock = _gauge("fairseat_clock_ticks", "Whether a clock has the lease", jobs.ticking)
    return waiting, workers, dead, oldest, clock


def _fenced(figures: Figures) -> Metric:
    found = _labelled("fairseat_fenced", "Whether nothing is decided until it is restored", "term")
    for term in figures.all_terms:
        found.add_metric([str(term.id)], term in (figures.fenced or ()))
    return found


def _rooms(terms: Sequence[TermNow]) -> Iterable[Metric]:
    families = {
        what: _labelled(f"fairseat_room_{what}", text, "term", "window")
        for what, text in (
            ("waiting", "Students who wait"),
            ("inside", "Students who were let in and may still claim"),
            ("per_minute", "How many are let in a minute"),
            ("at_once", "How many may be in at once"),
        )
    }
    for term in terms:
        for each in term.windows:
            for what, family in families.items():
                if each.room:
                    labels = [str(term.term.id), str(each.window.id)]
                    family.add_metric(labels, getattr(each.room, what))
    return families.values()


def _parts(figures: Figures) -> Iterable[Metric]:
    breakers = _labelled("fairseat_breaker_state", "0 closed, 1 half-open, 2 open", "part")
    for breaker in [*operations.breakers(figures), *operations.webhook_breakers(figures)]:
        breakers.add_metric([breaker.part], STATES[breaker.state])
    switched = _labelled("fairseat_flag_on", "Whether a part is switched on", "part")
    for name in flags.NAMES:
        switched.add_metric([name], flags.on(name))
    return breakers, switched


def _gauge(name: str, text: str, value: float) -> Metric:
    return GaugeMetricFamily(name, text, value=float(value))


def _labelled(name: str, text: str, *labels: str) -> GaugeMetricFamily:
    return GaugeMetricFamily(name, text, labels=labels)


# Metrics of the whole portal, read on a scrape, but not too often.
#
# Those of an unavailable part are left out; a part that hangs delays no scrape.

log = logging.getLogger(__name__)

FRESH = 4.0  # seconds for which metrics are reused
PATIENCE = 2.0  # seconds that a scrape waits
STALE = 60.0  # seconds after which old metrics are no longer reported


@dataclass(eq=False)
class Gathering(Collector):
    """The last metrics read, and the read in progress; there is one at a time."""

    known: list[Metric] = field(default_factory=list)
    at: float = 0.0
    under_way: Thread | None = None
    lock: Lock = field(default_factory=Lock)

    def collect(self) -> Iterable[Metric]:
        """Return the metrics, and their age."""
        if reading := self._begun():
            reading.join(PATIENCE)
        age = monotonic() - self.at
        yield GaugeMetricFamily("fairseat_gathered_age_seconds", "Age of these figures", value=age)
        if age < STALE:
            yield from self.known

    def _begun(self) -> Thread | None:
        with self.lock:
            if self.under_way is None and monotonic() - self.at > FRESH:
                self.under_way = Thread(target=self._read, daemon=True, name="gathers")
                self.under_way.start()
            return self.under_way

    def _read(self) -> None:
        try:
            self.known = list(read())
            self.at = monotonic()
        except AWAY as error:  # since the last check of the part
            log.warning("The figures could not be read: %s", error)
        finally:
            self.under_way = None


def registry() -> CollectorRegistry:
    """Return a registry with these metrics only."""
    return _registry


_registry = CollectorRegistry()
_registry.register(Gathering())
