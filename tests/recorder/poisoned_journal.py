"""A journal with an unreadable entry, and jobs that fail because of it."""

from datetime import UTC, datetime

from rq import Queue
from rq.serializers import JSONSerializer

from portal.backend import Backend
from tests.recorder.rush import Rush


def mark_dead(backend: Backend, error: str, name: str = "record") -> None:
    """Make the only waiting job of a queue fail for the second time."""
    queue = Queue(name, connection=backend.redis, serializer=JSONSerializer)
    (job,) = queue.jobs
    queue.remove(job)
    job.retries_left = 0
    job.ended_at = datetime.now(UTC)
    with backend.redis.pipeline() as pipe:
        trace = f"Traceback (most recent call last):\n  in drain\nValueError: {error}\n"
        job._handle_failure(trace, pipe)  # noqa: SLF001 - as the worker does
        pipe.execute()


def journal(rush: Rush) -> str:
    return f"{{t:{rush.term}}}:journal"


def seq(backend: Backend, rush: Rush) -> int:
    return int(backend.redis.get(f"{{t:{rush.term}}}:seq") or 0)  # type: ignore[arg-type]


def heal(backend: Backend, rush: Rush) -> None:
    backend.redis.xdel(journal(rush), f"{seq(backend, rush) + 1}-0")


def waiting(backend: Backend) -> int:
    """Return the number of jobs that wait for a recorder, now or for a retry."""
    queue = Queue("record", connection=backend.redis)
    return int(queue.count) + len(queue.scheduled_job_registry.get_job_ids())
