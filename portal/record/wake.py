"""Calling workers: a job says no more than that a term has something to do."""

import logging
from collections.abc import Iterable
from secrets import token_hex

from redis.exceptions import RedisError
from rq import Queue
from rq.serializers import JSONSerializer

from portal.backend import backend

JOBS = {
    "record": "jobs.record.drain",
    "promote": "jobs.promote.promote",
    "maintain": "jobs.maintain.warm_up",
    "notify": "jobs.notify.notify",
}
LONGEST = 60  # seconds that a job may take; the clock calls again where more is left
KEEP_FAILED = 60 * 60

log = logging.getLogger(__name__)


def wake(term: int, workers: Iterable[str]) -> None:
    """Call workers to a term; the clock makes good for a call that fails."""
    for worker in workers:
        try:
            _call(Queue(worker, connection=backend().redis, serializer=JSONSerializer), term)
        except RedisError as error:
            log.warning("The worker %s could not be called: %s", worker, error)


def _call(queue: Queue, term: int) -> None:
    # A job that still waits will see all that has happened until it begins.
    if any(job.startswith(f"{term}-") for job in queue.get_job_ids()):
        return
    queue.enqueue(
        JOBS[queue.name],
        term,
        job_id=f"{term}-{token_hex(8)}",
        job_timeout=LONGEST,
        result_ttl=0,
        failure_ttl=KEEP_FAILED,
    )
