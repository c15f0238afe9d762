"""Jobs and queues: names, retention and retries of the jobs that workers run."""

import logging
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import chain
from secrets import token_hex
from time import time

from redis import Redis
from redis.exceptions import RedisError
from rq import Queue, Retry
from rq.executions import Execution, ExecutionRegistry
from rq.job import Job as RqJob
from rq.serializers import JSONSerializer
from rq.timeouts import BaseTimeoutException
from sqlalchemy.event import listen
from sqlalchemy.orm import Session

from portal.core.correlation import cause
from portal.core.i18n import _l
from portal.core.outage import AWAY

RETRY_AFTER = 5  # seconds before the last retry of a job that failed three times in a row
QUEUE_LABELS = {
    "record": _l("Record decisions"),
    "promote": _l("Promote from waitlists"),
    "maintain": _l("Update sections for registration"),
    "notify": _l("Send notifications and email"),
    "documents": _l("Check documents of applications"),
    "charges": _l("Call the payment provider"),
    "background": _l("Background work: imports and audits"),
}
QUEUES = tuple(QUEUE_LABELS)
KEPT = 7 * 24 * 60 * 60  # seconds for which a failed job is kept
JOBS = {
    "record": "jobs.record.drain",
    "promote": "jobs.promote.promote",
    "maintain": "jobs.maintain.maintain",
    "notify": "jobs.notify.notify",
    "reconcile": "jobs.background.reconcile",
    "deliver": "jobs.background.deliver",
    "act": "jobs.background.act",
    "check": "jobs.documents.check",
    "charge": "jobs.charges.charge",
    "remind": "jobs.background.remind",
    "rounds": "jobs.background.continue_rounds",
    "report": "jobs.background.report",
}
# other jobs have a queue of their own
QUEUE_OF = {
    **dict.fromkeys(("reconcile", "deliver", "act", "remind", "rounds", "report"), "background"),
    "check": "documents",
    "charge": "charges",
}
NO_TERM = 0  # for jobs about all terms: mails and webhooks
JOB_SECONDS = 60  # seconds that a job may take; the scheduler enqueues another for the rest
LONG_JOBS = {
    "reconcile": 10 * 60,  # compares all differences in one run
    "rounds": 10 * 60,  # reads the record of each student who takes part
    "check": 6 * 60,  # five documents, each with a limit of its own
}
REST_AFTER_FAILURE = 60  # seconds without a new job for a term after one failed for good
ENDS_JOB = (BaseTimeoutException, *AWAY)  # errors after which a job can't go on

NAME_SUFFIX = re.compile(r"-[0-9a-f]{16}$")


log = logging.getLogger(__name__)

_redis: Callable[[], Redis]


def connect(redis: Callable[[], Redis]) -> None:
    """Use that Redis for the queues of this process."""
    global _redis  # noqa: PLW0603  one per process
    _redis = redis


def pause_flag(queue: str) -> str:
    """Return the name of the flag that is off while the queue is paused."""
    return f"queue_{queue}"


def job_name(about: str) -> str:
    """Return a unique name for a job with that subject."""
    return f"{about}-{token_hex(8)}"


def job_subject(name: str) -> str:
    """Return the subject of a job by its name, such as `7` (a term) or `import-5`."""
    return NAME_SUFFIX.sub("", name)


class Executions(ExecutionRegistry):
    """The executions of a job.

    RQ lists one for a minute longer than it keeps it, and fails then.
    """

    def get_executions(self, start: int = 0, end: int = -1) -> list[Execution]:
        """Return the executions that RQ still has."""
        found = []
        for each in self.get_execution_ids(start, end):
            with suppress(ValueError):
                found.append(Execution.fetch(each, self.job_id, self.connection))
        return found


class Job(RqJob):
    """A job that can run or be deleted whatever its first worker left behind."""

    @property
    def execution_registry(self) -> Executions:
        return Executions(self.id, connection=self.connection)


def queue_of(redis: Redis, name: str) -> Queue:
    return Queue(name, connection=redis, serializer=JSONSerializer)


def find_jobs(redis: Redis, ids: Iterable[str]) -> list[RqJob]:
    """Return the jobs of these ids that still exist."""
    found = Job.fetch_many(ids, connection=redis, serializer=JSONSerializer)
    return [job for job in found if job]


def enqueue(term: int, workers: Iterable[str]) -> None:
    """Enqueue jobs of JOBS for a term; the scheduler repeats a failed call."""
    for worker in workers:
        try:
            name = QUEUE_OF.get(worker, worker)
            _enqueue(queue_of(_redis(), name), term, worker)
        except RedisError as error:
            log.warning("The worker %s could not be called: %s", worker, error)


def enqueue_after(session: Session, worker: str) -> None:
    """Enqueue a job about all terms once the transaction commits, however often this is called.

    Not for use in a savepoint, whose release counts as a commit.
    """
    wanted: set[str] = session.info.setdefault("jobs", set())
    if worker in wanted:
        return
    wanted.add(worker)

    def go_on(_: Session) -> None:
        wanted.remove(worker)
        enqueue(NO_TERM, [worker])

    listen(session, "after_commit", go_on, once=True)


def attempt_each(numbers: Iterable[int], act: Callable[[int], None], failure: str) -> list[int]:
    """Call `act` with each number; return those that failed, which leave the others.

    Each `failure` is logged with its number. Raises the errors of ENDS_JOB.
    """
    failed = []
    for number in numbers:
        try:
            act(number)
        except ENDS_JOB:
            raise
        except Exception:
            log.exception(failure, number)
            failed.append(number)
    return failed


def enqueue_background(
    job: str, number: int, subject: str, seconds: float, *, retry: bool = True
) -> None:
    """Enqueue a job of jobs/background.py, unless one of that subject waits.

    It may take so many seconds. Raises RedisError.
    """
    queue = queue_of(_redis(), "background")
    if all(job_subject(each) != subject for each in queue.job_ids):
        _add(queue, f"jobs.background.{job}", number, subject, seconds, retry=retry)


def _enqueue(queue: Queue, term: int, worker: str) -> None:
    # Jobs that share a queue must not take each other for their own.
    subject = f"{worker}-{term}" if worker in QUEUE_OF else str(term)
    # A waiting job will see everything that happens before it starts.
    if all(job_subject(job.decode()) != subject for job in _waiting(queue)):
        _add(queue, JOBS[worker], term, subject, LONG_JOBS.get(worker, JOB_SECONDS))


def _add(  # noqa: PLR0913  what RQ must know
    queue: Queue, function: str, number: int, subject: str, seconds: float, *, retry: bool = True
) -> None:
    queue.enqueue(
        function,
        number,
        job_id=job_name(subject),
        job_timeout=round(seconds),
        result_ttl=0,
        failure_ttl=KEPT,
        meta=cause(),
        retry=Retry(max=1, interval=RETRY_AFTER) if retry else None,
    )


def _waiting(queue: Queue) -> Iterable[bytes]:
    """Return jobs that wait for a worker or a retry, or that failed a moment ago."""
    now = time()
    with queue.connection.pipeline(transaction=False) as pipe:
        pipe.lrange(queue.key, 0, -1)
        # The scheduler should have enqueued these by now; without a scheduler, do it here.
        pipe.zrangebyscore(queue.scheduled_job_registry.key, now - 5 * RETRY_AFTER, "+inf")
        pipe.zrangebyscore(queue.failed_job_registry.key, now + KEPT - REST_AFTER_FAILURE, "+inf")
        found: Iterable[Iterable[bytes]] = pipe.execute()
    return chain.from_iterable(found)
