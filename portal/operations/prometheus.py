"""Metrics of the whole portal for Prometheus, read on a scrape, but not too often.

Values of an unavailable part are left out; a part that hangs delays no scrape.
"""

import logging
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Lock, Thread
from time import monotonic
from typing import Any

from prometheus_client import CollectorRegistry
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.registry import Collector
from redis import Redis
from redis.exceptions import ConnectionError as LostConnection
from redis.exceptions import ResponseError
from redis.exceptions import TimeoutError as LateReply
from sqlalchemy import func, or_, select, text
from sqlalchemy.dialects.postgresql import distinct_on
from sqlalchemy.orm import Session

from portal.backend import backend
from portal.catalog.models import Term
from portal.core import flags, latency
from portal.core.audit_trail import AuditEntry
from portal.core.checkpoints import Checkpoint
from portal.core.db import transaction
from portal.core.moments import milliseconds
from portal.core.queue import find_jobs, queue_of
from portal.exchange.importing import import_jobs
from portal.ledger.replicas import in_sync
from portal.notifications import outbox
from portal.notifications.models import OutboxEntry
from portal.notifications.webhooks import outbox as webhooks
from portal.operations import figures
from portal.operations.figures import AWAY, Jobs, TermNow
from portal.recorder import journal, status
from portal.recorder.models import AuditRun, ContinuousAudit, LoggedEvent

FRESH = 4.0  # seconds for which metrics are reused
TIMEOUT = 2.0  # seconds that a scrape waits
STALE = 60.0  # seconds after which old metrics are no longer reported
LARGEST = 12  # tables that have their own size
TABLE_SIZES = text("""
    SELECT relname, coalesce(pg_total_relation_size(oid), 0) AS bytes
    FROM pg_class WHERE relkind = 'r' ORDER BY bytes DESC LIMIT :largest
""")
STATES = {"closed": 0, "half-open": 1, "open": 2}
# Each metric without its prefix `fairseat_`: its meaning, then its labels.
METRICS = {
    "ledger_up": ("Whether the ledger answers",),
    "postgresql_up": ("Whether PostgreSQL answers",),
    "replicas_in_sync": (
        "Replicas of the ledger that keep up; in a cluster, of the primary with the fewest",
    ),
    "replicas_wanted": ("Replicas of the ledger that must keep up",),
    "fenced": ("Whether the ledger decides nothing until it is restored", "term"),
    "unrecorded_events": ("Events that PostgreSQL does not have yet", "term"),
    "checkpoint_age_seconds": ("Age of the first event that PostgreSQL does not have", "term"),
    "event_lag_quantile_seconds": (
        "Lag of events in the last hour or two, by the stage that they reached",
        *("event", "stage", "quantile"),
    ),
    "database_bytes": ("Size of the database", "table"),
    "ledger_memory_bytes": ("Memory that the ledger uses; in a cluster, the fullest primary",),
    "ledger_memory_limit_bytes": ("Memory that the ledger may use; 0 if there is no limit",),
    "audit_differences": ("Differences that the last finished audit found", "term"),
    "audit_age_seconds": ("Time since the last finished audit", "term"),
    "reconcile_differences": ("Differences that the continuous audit found", "term"),
    "reconcile_age_seconds": (
        "Time since its last round ended, or since the first event was recorded",
        "term",
    ),
    "backup_age_seconds": ("Time since the last backup, or else since the first audit entry",),
    "mails_due": ("Mails to send",),
    "mails_oldest_seconds": ("Age of the oldest mail to send",),
    "mails_dead": ("Mails that could not be sent",),
    "webhooks_dead": ("Webhook deliveries that failed for good",),
    "webhooks_oldest_seconds": ("Age of the oldest webhook delivery to send",),
    "imports_stopped": ("Imports that stopped and block others until an admin decides",),
    "queue_jobs": ("Jobs that wait", "queue"),
    "queue_oldest_seconds": ("Age of the job that is next", "queue"),
    "queue_workers": ("Workers that send heartbeats", "queue"),
    "queue_paused": ("Whether an admin has paused the queue", "queue"),
    "dead_letters": ("Jobs that failed for good", "queue"),
    "scheduler_up": ("Whether a scheduler has the lease",),
    "draws_late": ("Coming draws whose codes should be fixed by now, and are not",),
    "room_waiting": ("Students who wait", "term", "window"),
    "room_inside": ("Students who are admitted and may still claim", "term", "window"),
    "room_per_minute": ("Students admitted per minute at most", "term", "window"),
    "room_share": (
        "Part of that limit that is admitted, below 1 after pages were slow",
        "term",
        "window",
    ),
    "room_at_once": ("Students admitted at once at most", "term", "window"),
    "breaker_state": ("0 closed, 1 half-open, 2 open", "part"),
    "flag_on": ("Whether a part is switched on", "part"),
}

log = logging.getLogger(__name__)


class Gauges(dict[str, GaugeMetricFamily]):
    """All metrics of METRICS by name; those without a value have no sample."""

    def __init__(self) -> None:
        for name, (meaning, *labels) in METRICS.items():
            self[name] = GaugeMetricFamily(f"fairseat_{name}", meaning, labels=labels)

    def set(self, name: str, value: float, *labels: object) -> None:
        """Add the value of a metric."""
        self[name].add_metric([str(label) for label in labels], float(value))


def read() -> Iterable[Metric]:
    found, gauges = figures.read_figures(), Gauges()
    gauges.set("ledger_up", found.at > 0)
    gauges.set("postgresql_up", found.postgresql)
    if found.postgresql:
        with transaction() as session:
            _set_audits(gauges, session)
            _set_outboxes(gauges, session)
            _set_lags(gauges, session)
            _set_sizes(gauges, session)
            recorded = _checkpoints(session)
        if found.at:
            _set_unrecorded(gauges, found.all_terms, recorded)
    if found.at:
        _set_ledger(gauges, [each.redis for each in backend().ledger.servers.primaries()])
    if found.jobs:
        _set_jobs(gauges, found.jobs)
    for term in found.all_terms if found.fenced is not None else ():
        gauges.set("fenced", term in (found.fenced or ()), term.id)
    if found.stored and found.terms is not None:
        gauges.set("draws_late", len(figures.late_draws(found)))
    _set_rooms(gauges, found.terms or ())
    for breaker in [*figures.breakers(found), *figures.webhook_breakers(found)]:
        gauges.set("breaker_state", STATES[breaker.state], breaker.part)
    for name in flags.NAMES:
        gauges.set("flag_on", flags.on(name), name)
    return gauges.values()


def _set_ledger(gauges: Gauges, primaries: Sequence[Redis]) -> None:
    """Set the memory of the fullest primary, and the replicas of the one with the fewest.

    One that is about to be replaced does not answer, and counts as one without replicas.
    """
    memory, followers, needed = [], [], backend().settings.replicas
    for redis in primaries:
        try:
            found: Any = redis.info("memory")
            memory.append((found["used_memory"], found.get("maxmemory", 0)))
            followers.append(in_sync(redis))
            needed = needed or _required_replicas(redis)
        except (LostConnection, LateReply):
            followers.append(0)
    if memory:
        used, limit = max(memory, key=lambda each: (each[0] / (each[1] or math.inf), each[0]))
        gauges.set("ledger_memory_bytes", used)
        gauges.set("ledger_memory_limit_bytes", limit)
    gauges.set("replicas_in_sync", min(followers))
    gauges.set("replicas_wanted", needed)


def _set_rooms(gauges: Gauges, terms: Sequence[TermNow]) -> None:
    for each in terms:
        for window in each.windows:
            labels, room = (each.term.id, window.window.id), window.room
            if room:
                for name in ("waiting", "inside", "per_minute", "share", "at_once"):
                    gauges.set(f"room_{name}", getattr(room, name), *labels)


def _set_outboxes(gauges: Gauges, session: Session) -> None:
    """Set what waits for mail servers, webhooks, backups and admins."""
    due = select(func.count()).select_from(OutboxEntry).where(*outbox.due(OutboxEntry))
    gauges.set("mails_due", session.scalar(due) or 0)
    gauges.set("mails_oldest_seconds", _age(outbox.first_due(session)))
    gauges.set("mails_dead", outbox.number_dead(session))
    gauges.set("webhooks_dead", webhooks.number_dead(session))
    gauges.set("webhooks_oldest_seconds", _age(webhooks.first_due(session)))
    gauges.set("imports_stopped", import_jobs.count_stopped(session))
    backup = select(func.max(AuditEntry.at)).where(AuditEntry.action == "backup.made")
    first = select(func.min(AuditEntry.at))
    gauges.set("backup_age_seconds", _age(session.scalar(backup) or session.scalar(first)))


def _set_lags(gauges: Gauges, session: Session) -> None:
    """Set the percentiles of each kind of event at each stage."""
    for lags in status.stage_lags(session, timedelta(hours=1)):
        for part, lag in zip(latency.PARTS, lags.percentiles, strict=True):
            labels = lags.name, lags.stage, part
            gauges.set("event_lag_quantile_seconds", lag / 1000, *labels)


def _set_sizes(gauges: Gauges, session: Session) -> None:
    """Set the size of the database's largest tables with their indexes, and of the rest."""
    rest = session.scalar(select(func.pg_database_size(func.current_database()))) or 0
    for name, bytes_ in session.execute(TABLE_SIZES, {"largest": LARGEST}):
        gauges.set("database_bytes", bytes_, name)
        rest -= bytes_
    gauges.set("database_bytes", max(0, rest), "others")


def _age(since: datetime | None) -> float:
    return max(0.0, (datetime.now(UTC) - since).total_seconds()) if since else 0.0


def _set_audits(gauges: Gauges, session: Session) -> None:
    """Set what audits found; an incomplete audit counts only if it found differences."""
    seconds = func.extract("epoch", func.now() - AuditRun.ended_at)
    last = (
        select(AuditRun.term_id, AuditRun.found, seconds)
        .where(AuditRun.ended_at.is_not(None), or_(AuditRun.error == "", AuditRun.found > 0))
        .ext(distinct_on(AuditRun.term_id))
        .order_by(AuditRun.term_id, AuditRun.ended_at.desc(), AuditRun.id.desc())
    )
    for term, differences, age in session.execute(last):
        gauges.set("audit_differences", differences, term)
        gauges.set("audit_age_seconds", age, term)
    ours = LoggedEvent.term_id == Checkpoint.term_id
    first = select(LoggedEvent.recorded_at).where(ours).order_by(LoggedEvent.seq).limit(1)
    since = func.coalesce(ContinuousAudit.whole_at, first.scalar_subquery())
    rounds = (
        select(Checkpoint.term_id, ContinuousAudit.found, func.extract("epoch", func.now() - since))
        .join(Term, Term.id == Checkpoint.term_id)
        .outerjoin(ContinuousAudit, ContinuousAudit.term_id == Checkpoint.term_id)
        .where(Checkpoint.seq > 0, Term.deleted_at.is_(None))
    )
    for term, differences, age in session.execute(rounds):
        gauges.set("reconcile_differences", differences or 0, term)
        gauges.set("reconcile_age_seconds", max(0.0, float(age or 0)), term)


def _checkpoints(session: Session) -> dict[int, tuple[int, float]]:
    """Return the last recorded event of each term, and the seconds since it was recorded."""
    age = func.extract("epoch", func.now() - Checkpoint.moved_at)
    found = session.execute(select(Checkpoint.term_id, Checkpoint.seq, age))
    return {term: (seq, float(seconds)) for term, seq, seconds in found}


def _set_unrecorded(
    gauges: Gauges, terms: Sequence[Term], recorded: dict[int, tuple[int, float]]
) -> None:
    for term in terms:
        seq, age = recorded.get(term.id, (0, 0.0))
        missing = max(0, journal.last_seq(term.id) - seq)
        first = journal.first_after(term.id, seq) if missing else None
        if first:  # otherwise the journal does not know
            age = max(0.0, (backend().ledger.now() - milliseconds(first.at)) / 1000)
        gauges.set("unrecorded_events", missing, term.id)
        gauges.set("checkpoint_age_seconds", age if missing else 0.0, term.id)


def _required_replicas(redis: Redis) -> int:
    """Return how many replicas a server itself requires for a write; 0 if it does not say."""
    try:
        found: Any = redis.config_get("min-replicas-to-write")
    except ResponseError:  # a managed service may hide its settings
        return 0
    return int(found.get("min-replicas-to-write", 0))


def _set_jobs(gauges: Gauges, jobs: Jobs) -> None:
    redis = backend().redis
    with redis.pipeline(transaction=False) as pipe:
        for queue in jobs.queues:
            pipe.lindex(queue_of(redis, queue.name).key, 0)
        ids = [head.decode() for head in pipe.execute() if head]
    since = {job.origin: job.enqueued_at for job in find_jobs(redis, ids)}
    for queue in jobs.queues:
        gauges.set("queue_paused", queue.paused, queue.name)
        gauges.set("queue_jobs", queue.waiting + queue.later, queue.name)
        gauges.set("queue_oldest_seconds", _age(since.get(queue.name)), queue.name)
        gauges.set("queue_workers", queue.alive, queue.name)
        gauges.set("dead_letters", queue.dead, queue.name)
    gauges.set("scheduler_up", jobs.scheduler_runs)


@dataclass(eq=False)
class Gathering(Collector):
    """The last metrics read, and the read in progress; there is one at a time."""

    known: list[Metric] = field(default_factory=list)
    at: float = 0.0
    under_way: Thread | None = None
    lock: Lock = field(default_factory=Lock)

    def collect(self) -> Iterable[Metric]:
        """Return the metrics, and their age."""
        with self.lock:
            if self.under_way is None and monotonic() - self.at > FRESH:
                self.under_way = Thread(target=self._read, daemon=True, name="gathers")
                self.under_way.start()
            reading = self.under_way
        if reading:
            reading.join(TIMEOUT)
        age = monotonic() - self.at
        yield GaugeMetricFamily("fairseat_gathered_age_seconds", "Age of these figures", value=age)
        if age < STALE:
            yield from self.known

    def _read(self) -> None:
        try:
            self.known = list(read())
            self.at = monotonic()
        except AWAY as error:  # since the last check of the part
            log.warning("The figures could not be read: %s", error)
        finally:
            self.under_way = None


registry = CollectorRegistry()
registry.register(Gathering())
