"""A worker: one process that runs the jobs of one queue."""

import logging
import os
import signal
import time
from contextlib import suppress
from threading import Event, Thread
from types import FrameType
from typing import Any

from redis.exceptions import RedisError
from rq import Queue, SimpleWorker, worker_registration
from rq.exceptions import StopRequested
from rq.job import Job as RqJob
from rq.serializers import JSONSerializer
from rq.worker import WorkerStatus

from portal.core import flags, job_counts, logs, metrics, redis_clients, traces
from portal.core.correlation import following
from portal.core.outage import AWAY, LONGEST_PAUSE, Backoff, first_line
from portal.core.queue import ENDS_JOB, Executions, Job, pause_flag

log = logging.getLogger(__name__)
done = logging.getLogger("jobs.done")  # repeats one message, which must not be filtered

LISTENING = 5  # seconds that a worker waits for a job at a time
HEARTBEAT_EVERY = 5.0  # seconds between two heartbeats
LIFE = 30  # seconds after the last heartbeat before another worker gets the job
ENTRY_LIFE = 20  # seconds after which a killed worker's entry may expire
PAUSE_CHECK = 0.5  # seconds between two looks whether a paused queue goes on
TIDY = 10  # seconds between clean-ups of what killed workers left behind
# seconds before an immediate retry of a job; before the last retry there is a rest
AT_ONCE = (0.1, 0.7)


class Call(Job):
    """A job that does not fail while a service is down: the scheduler enqueues it again later."""

    def perform(self) -> Any:
        """Run the job under its sender's correlation id, or fail."""
        began, outcome, result = time.monotonic(), "failed", None
        code = self.meta.get("correlation") or self.id
        job = self.func_name or "job"
        with following(code, job), traces.span(job, self.meta):
            try:
                result = self._try()
                outcome = "done"
            except AWAY as error:
                outcome = "gave up"
                log.warning("A job had to give up: %s", first_line(error))
            finally:
                seconds = time.monotonic() - began
                metrics.JOBS.labels(self.origin, outcome).inc()
                metrics.JOB_TIME.labels(self.origin).observe(seconds)
                job_counts.count(self.connection, self.origin, outcome)
                facts = {"job": self.id, "outcome": outcome, "ms": round(seconds * 1000)}
                done.info("%s: %s", self.func_name, outcome, extra=facts)
        return result

    def _try(self) -> Any:
        """Run the job, with immediate retries if possible; then RQ retries it after a rest."""
        for pause in AT_ONCE if self.retries_left else ():
            try:
                return super().perform()
            except ENDS_JOB:
                raise
            except Exception as error:  # noqa: BLE001  whatever it is, it may go well now
                log.warning("A job is tried again: %s", first_line(error))
            time.sleep(pause)
        return super().perform()


class Worker(SimpleWorker):
    """Runs jobs in its own process: a fork for each job would take longer than the job.

    A kill -9 loses nothing: unfinished work is still in the ledger, where the next job finds it,
    and its transaction is rolled back.
    """

    stopping = False
    max_connection_wait_time = LONGEST_PAUSE
    dequeue_timeout = LISTENING
    connection_timeout = LISTENING + redis_clients.SILENCE

    def work(self, *args: Any, **options: Any) -> bool:
        """Run jobs, with heartbeats during long ones: without a fork, RQ sends none then."""
        self.ended = Event()
        self.heartbeats = Thread(target=self._send_heartbeats, daemon=True, name="heartbeat")
        self.heartbeats.start()
        # RQ does this after it has registered the worker: a signal in between leaves the entry.
        self._install_signal_handlers()  # type: ignore[no-untyped-call]
        try:
            return super().work(*args, **options)
        finally:
            if not self.ended.is_set():
                self.teardown()

    def check_for_suspension(self, burst: bool) -> None:  # noqa: ARG002, FBT001  RQ's signature
        """Wait while an admin has paused the queue; RQ itself can only suspend all workers."""
        if self._is_paused():
            self.set_state(WorkerStatus.SUSPENDED)
        while self._is_paused() and not self._stop_requested:
            time.sleep(PAUSE_CHECK)

    def execute_job(self, job: RqJob, queue: Queue) -> None:
        """Run a job; put it back if the queue was paused while the worker waited for one."""
        if not self._is_paused():
            super().execute_job(job, queue)
            return
        with self.connection.pipeline() as pipe:
            queue.push_job_id(job.id, pipeline=pipe, at_front=True)
            pipe.lrem(queue.intermediate_queue_key, 1, job.id)
            pipe.execute()

    def _is_paused(self) -> bool:
        return not flags.on(pause_flag(self.queues[0].name))

    def teardown(self) -> None:
        """Exit, and stop the heartbeats."""
        self.ended.set()
        self.heartbeats.join(HEARTBEAT_EVERY)
        super().teardown()  # type: ignore[no-untyped-call]

    def get_heartbeat_ttl(self, job: RqJob) -> int:  # noqa: ARG002  RQ's signature
        """Return the seconds for which a job stays with its worker without a heartbeat."""
        return LIFE

    def subscribe(self) -> None:
        """Listen to no commands: none are sent, and one thread less can be lost in a failover."""

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """Exit after the current job, on SIGTERM or SIGINT."""
        Worker.stopping = True
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]

    def _send_heartbeats(self) -> None:
        while not self.ended.wait(HEARTBEAT_EVERY):
            if Worker.stopping and not self.execution:
                # The signal's exception was lost in code that catches all, such as a log handler's.
                os.kill(os.getpid(), signal.SIGTERM)
            with suppress(RedisError, OSError):
                self._send_heartbeat()

    def _send_heartbeat(self) -> None:
        execution = self.execution
        with self.connection.pipeline() as pipe:
            self.heartbeat(pipeline=pipe)
            worker_registration.register(self, pipe)
            if execution:
                execution.heartbeat(self.queues[0].started_job_registry, LIFE, pipe)
            was_forgotten = pipe.execute()[0]
            if was_forgotten:
                pipe.hset(self.key, mapping=self.serialize())
            if execution and self.execution is not execution:  # ended, and must not come back
                pipe.delete(execution.key)
                Executions(execution.job_id, self.connection).remove(execution, pipe)
            pipe.execute()


def work(queue: str, redis_url: str) -> None:
    """Run the jobs of one queue until told to stop, through outages of its services."""
    for each in (logging.getLogger("rq.worker"), log):
        each.addFilter(lambda record: logs.is_new(record.msg))
    backoff = Backoff(usual=0.1)
    with suppress(StopRequested):
        while not Worker.stopping:
            try:
                worker = Worker(
                    [queue],
                    connection=redis_clients.blocking(redis_url, LISTENING),
                    worker_ttl=ENTRY_LIFE,
                    maintenance_interval=TIDY,
                    job_class=Call,
                    serializer=JSONSerializer,
                )
                backoff.succeeded()
                worker.work(logging_level="WARNING")
            except AWAY as error:
                backoff.failed(error)
            time.sleep(backoff.pause)
