"""The heartbeat of a worker, independent of the end of a long job."""

from contextlib import suppress
from threading import Event, Thread
from typing import TYPE_CHECKING

from redis.exceptions import RedisError
from rq import worker_registration

from portal.core.queue import Executions

if TYPE_CHECKING:
    from rq.worker import BaseWorker

HEARTBEAT_EVERY = 5.0  # seconds between two heartbeats
LIFE = 30  # seconds after the last one before another worker gets its job


class Heartbeat:
    """Sends heartbeats from its own thread; without a fork, RQ sends them only between jobs."""

    def __init__(self, worker: "BaseWorker") -> None:
        self.worker = worker
        self.stopped = Event()
        self.thread = Thread(target=self._beat_on, daemon=True, name="heart")

    def start(self) -> None:
        """Start sending."""
        self.thread.start()

    def stop(self) -> None:
        """Stop sending."""
        self.stopped.set()
        self.thread.join(HEARTBEAT_EVERY)

    def _beat_on(self) -> None:
        while not self.stopped.wait(HEARTBEAT_EVERY):
            with suppress(RedisError, OSError):
                self._beat()

    def _beat(self) -> None:
        worker, execution = self.worker, self.worker.execution
        with worker.connection.pipeline() as pipe:
            worker.heartbeat(pipeline=pipe)
            worker_registration.register(worker, pipe)
            if execution:
                execution.heartbeat(worker.queues[0].started_job_registry, LIFE, pipe)
            was_forgotten = pipe.execute()[0]
            if was_forgotten:
                pipe.hset(worker.key, mapping=worker.serialize())
            if execution and worker.execution is not execution:  # ended, and must not come back
                pipe.delete(execution.key)
                Executions(execution.job_id, worker.connection).remove(execution, pipe)
            pipe.execute()
