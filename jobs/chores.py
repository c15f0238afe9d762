"""The scheduler's hourly work."""

from time import monotonic

from redis import Redis
from rq import Queue
from rq.serializers import JSONSerializer

from portal.core.queue import KEPT

HOUR = 60 * 60.0  # seconds
FORGET = "jobs.errands.forget"


class Chores:
    """Enqueues the deletion of old data when the scheduler starts, then every hour."""

    def __init__(self, redis: Redis) -> None:
        self.queue = Queue("errands", connection=redis, serializer=JSONSerializer)
        self.due = 0.0

    def look(self) -> None:
        """Enqueue it if it is time."""
        if monotonic() >= self.due:
            self.queue.enqueue(FORGET, job_id="forget", result_ttl=0, failure_ttl=KEPT)
            self.due = monotonic() + HOUR
