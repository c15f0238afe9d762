"""Jobs that take as long as a test wants."""

import time
from pathlib import Path

from rq import Queue, Retry
from rq.job import Job
from rq.serializers import JSONSerializer

from portal.backend import backend

UNTIL = "tests.recorder.slow_jobs.until"


def until(path: str) -> None:
    """Work until the file exists."""
    while not Path(path).exists():
        time.sleep(0.02)


def fail(path: str) -> None:
    """Record the time of the attempt, and fail."""
    with Path(path).open("a") as tries:
        tries.write(f"{time.monotonic()}\n")
    raise ValueError("always")


def call(queue: str, what: str, path: Path, **how: Retry | None) -> Job:
    """Enqueue a job for a worker of the queue."""
    called = Queue(queue, connection=backend().redis, serializer=JSONSerializer)
    return called.enqueue(what, str(path), result_ttl=0, job_timeout=120, **how)
