"""Dead letters: jobs that failed at each attempt, with the error, until an admin handles them.

A job only says that a term has work. Nothing is lost with one: the work is still in the ledger or
in PostgreSQL, and is retried after a rest.
"""

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from redis import Redis
from rq.exceptions import AbandonedJobError, InvalidJobOperation, NoSuchJobError
from rq.job import Job as RqJob
from rq.registry import FailedJobRegistry
from rq.scheduler import RQScheduler
from rq.serializers import JSONSerializer

from portal.core.audit_trail import add_audit_entry
from portal.core.db import transaction
from portal.core.queue import QUEUES, Job, find_jobs, job_subject, queue_of
from portal.notifications import outbox
from portal.notifications.models import OutboxEntry, Outgoing
from portal.notifications.webhooks.models import Delivery

ALARM = "ALARM dead-letter: job %s of queue %s failed at each try: %s. See `fairseat jobs`."
# Lines that SQLAlchemy adds to an error.
FOOTNOTES = ("DETAIL:", "(Background on", "[SQL:", "[parameters:", "[SQL parameters")

log = logging.getLogger("fairseat.alarm")


@dataclass(frozen=True)
class DeadLetter:
    """A job that failed for good."""

    id: str
    queue: str
    dead_at: datetime
    error: str  # the last meaningful line of the traceback
    trace: str

    @property
    def abandoned(self) -> bool:
        """Return whether its worker was killed, which is no failure of the job."""
        return AbandonedJobError.__name__ in self.error

    @property
    def about(self) -> str:
        """Return its subject, the same as that of later jobs about it."""
        return job_subject(self.id)


def counts(redis: Redis) -> dict[str, int]:
    """Return the number of dead letters in each queue."""
    with redis.pipeline(transaction=False) as pipe:
        for name in QUEUES:
            pipe.zcard(FailedJobRegistry.key_template.format(name))
        return dict(zip(QUEUES, pipe.execute(), strict=True))


def find_all(redis: Redis, queues: Iterable[str] = QUEUES) -> list[DeadLetter]:
    """Return the dead letters, oldest first."""
    ids = [job for name in queues for job in _registry(redis, name).get_job_ids()]
    return sorted(map(_letter, find_jobs(redis, ids)), key=lambda letter: letter.dead_at)


def retry(redis: Redis, letter: DeadLetter) -> bool:
    """Retry it, with the original number of attempts; return False if it is gone."""
    try:
        job = Job.fetch(letter.id, connection=redis, serializer=JSONSerializer)
        job.retries_left = 1
        _registry(redis, letter.queue).requeue(job)
    except (NoSuchJobError, InvalidJobOperation):
        return False
    return True


def discard(redis: Redis, letter: DeadLetter) -> bool:
    """Discard it; return False if it is gone."""
    if not _registry(redis, letter.queue).remove(letter.id):
        return False  # it may have been retried: then it must stay
    for job in find_jobs(redis, [letter.id]):
        job.delete()
    return True


def settle_job(redis: Redis, letter: DeadLetter, remedy: str, by: int, reason: str) -> bool:
    """Retry or discard a job and record who did, or neither; return False if it is gone."""
    with transaction() as session:
        add_audit_entry(
            session,
            f"job.{remedy}",
            f"job:{letter.id}",
            by=by,
            before={"queue": letter.queue, "error": letter.error},
            reason=reason,
        )
        session.flush()
        settled = (retry if remedy == "retry" else discard)(redis, letter)
        if not settled:
            session.rollback()
        return settled


# Mails and deliveries to webhooks


@dataclass(frozen=True)
class Outbox:
    """An outbox table, and what the audit trail calls the ids of its entries."""

    model: type[Outgoing]
    ids: str
    most_in_trail: int | None = None


MAILS = Outbox(OutboxEntry, "mails")
DELIVERIES = Outbox(Delivery, "deliveries", most_in_trail=1000)


def settle(  # noqa: PLR0913, PLR0917  what, and what the audit trail stores
    letters: Outbox, found: Sequence[Any], action: str, subject: str, by: int, reason: str
) -> bool:
    """Send entries again or discard them, and record who did; return False if all are gone."""
    change = outbox.retry if action.endswith(".retry") else outbox.discard
    with transaction() as session:
        settled = change(session, letters.model, [each.id for each in found])
        if settled:
            add_audit_entry(
                session,
                action,
                subject,
                by=by,
                before={"error": found[0].error},
                after={letters.ids: sorted(settled)[: letters.most_in_trail]},
                reason=reason,
            )
    return bool(settled)


# Watching for dead jobs


class Watch:
    """Enqueues retries when they are due, and raises an alarm for dead letters."""

    def __init__(self, redis: Redis) -> None:
        self.redis = redis
        self._counts: dict[str, int] = {}
        self._reported: set[tuple[str, datetime]] = set()
        self._scheduler = RQScheduler(
            QUEUES, redis, logging_level="WARNING", serializer=JSONSerializer
        )
        self._scheduler.prepare_registries(QUEUES)

    def check(self) -> None:
        """Do the work of a second; a new scheduler reports all existing dead letters."""
        self._scheduler.enqueue_scheduled_jobs()  # type: ignore[no-untyped-call]
        found = counts(self.redis)
        changed = [name for name in QUEUES if found[name] != self._counts.get(name, 0)]
        dead = find_all(self.redis, changed)
        # Only the latest about a subject counts.
        latest = {(letter.queue, letter.about): letter for letter in dead}
        for letter in dead:
            if letter.abandoned or latest[letter.queue, letter.about] is not letter:
                discard(self.redis, letter)
            elif (letter.id, letter.dead_at) not in self._reported:
                self._reported.add((letter.id, letter.dead_at))
                log.critical(ALARM, letter.id, letter.queue, letter.error)
        self._counts = counts(self.redis) if changed else found


def _letter(job: RqJob) -> DeadLetter:
    result: Any = job.latest_result()
    trace = str(result.exc_string or "") if result else ""
    lines = [line for line in trace.strip().splitlines() if not line.startswith(FOOTNOTES)]
    error = (lines or ["unknown"])[-1]
    dead_at = job.ended_at or (result and result.created_at) or datetime.now(UTC)
    return DeadLetter(job.id, job.origin, dead_at, error, trace)


def _registry(redis: Redis, queue: str) -> FailedJobRegistry:
    found: FailedJobRegistry = queue_of(redis, queue).failed_job_registry
    return found
