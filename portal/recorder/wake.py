"""Calling workers: a job says no more than that a term has something to do."""

import logging
from collections.abc import Iterable
from itertools import chain
from time import time

from redis.exceptions import RedisError
from rq import Queue, Retry
from rq.serializers import JSONSerializer

from portal.backend import backend
from portal.core.correlation import cause
from portal.core.jobs import AGAIN, about, named
from portal.ops.dead import KEPT

JOBS = {
    "record": "jobs.record.drain",
    "promote": "jobs.promote.promote",
    "maintain": "jobs.maintain.maintain",
    "notify": "jobs.notify.notify",
    "reconcile": "jobs.errands.reconcile",
    "deliver": "jobs.errands.deliver",
}
QUEUES = {"reconcile": "errands", "deliver": "errands"}  # where it is not named as the worker
LONGEST = 60  # seconds that a job may take; the clock calls again where more is left
LONG = {"reconcile": 10 * 60}  # what differs is looked at in one go, however much that is
REST = 60  # seconds for which a term is left alone once a job about it has been given up

log = logging.getLogger(__name__)


def wake(term: int, workers: Iterable[str]) -> None:
    """Call workers to a term; the clock makes good for a call that fails."""
    for worker in workers:
        try:
            name = QUEUES.get(worker, worker)
            _call(Queue(name, connection=backend().redis, serializer=JSONSerializer), term, worker)
        except RedisError as error:
            log.warning("The worker %s could not be called: %s", worker, error)


def _call(queue: Queue, term: int, worker: str) -> None:
    # A job that still waits will see all that has happened until it begins.
    if any(about(job.decode()) == str(term) for job in _waiting(queue)):
        return
    queue.enqueue(
        JOBS[worker],
        term,
        job_id=named(str(term)),
        job_timeout=LONG.get(worker, LONGEST),
        result_ttl=0,
        failure_ttl=KEPT,
        meta=cause(),
        retry=Retry(max=1, interval=AGAIN),
    )


def _waiting(queue: Queue) -> Iterable[bytes]:
    """Jobs that wait for a worker, for their second try, or for whatever made them fail to end."""
    now = time()
    with queue.connection.pipeline(transaction=False) as pipe:
        pipe.lrange(queue.key, 0, -1)
        # The clock should have called these by now; where there is none, others must do.
        pipe.zrangebyscore(queue.scheduled_job_registry.key, now - 5 * AGAIN, "+inf")
        pipe.zrangebyscore(queue.failed_job_registry.key, now + KEPT - REST, "+inf")
        found: Iterable[Iterable[bytes]] = pipe.execute()
    return chain.from_iterable(found)
