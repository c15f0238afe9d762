"""The usual use of a queue: one RQ job per enrollment, run by a worker that does not fork."""

from collections.abc import Sequence
from typing import Any

import psycopg2
from redis import Redis
from rq import Queue, SimpleWorker
from rq.serializers import JSONSerializer

QUEUE = "enrollments"
EVENT = (
    "INSERT INTO events (term_id, seq, name, version, aggregate, student_id, payload, context,"
    " occurred_at) VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s)"
)
SEAT = (
    "INSERT INTO enrollments (term_id, section_id, student_id, state, credits, registration,"
    " since, seq) VALUES (%s, %s, %s, %s, %s, %s, %s, %s)"
)
COUNT = "UPDATE section_seats SET enrolled = enrolled + 1 WHERE term_id = %s AND section_id = %s"

_connection: Any = None


def connect(url: str) -> None:
    """Open one connection for all jobs."""
    global _connection  # noqa: PLW0603  one per process
    _connection = psycopg2.connect(url)


def enqueue(redis: Redis, jobs: Sequence[tuple[list[Any], list[Any]]]) -> None:
    """Enqueue a job for each event with its seat, in one round trip."""
    queue = Queue(QUEUE, connection=redis, serializer=JSONSerializer)
    queue.enqueue_many(
        [
            Queue.prepare_data("bench.baselines.job_per_claim.enroll", job, result_ttl=0)
            for job in jobs
        ]
    )


def work(redis: Redis) -> None:
    """Run all jobs."""
    worker = SimpleWorker([QUEUE], connection=redis, serializer=JSONSerializer)
    worker.work(burst=True, logging_level="WARNING")


def enroll(event: list[Any], seat: list[Any]) -> None:
    """Insert the event and the seat and update the count, in one transaction (the job)."""
    with _connection, _connection.cursor() as cursor:
        cursor.execute(EVENT, event)
        cursor.execute(SEAT, seat)
        cursor.execute(COUNT, seat[:2])
