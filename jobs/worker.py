"""A worker: one process that runs the jobs of one queue."""

import logging
import time
from contextlib import suppress
from importlib import import_module
from types import FrameType
from typing import Any

from rq import SimpleWorker
from rq.exceptions import StopRequested
from rq.job import Job as RqJob
from rq.serializers import JSONSerializer
from rq.timeouts import BaseTimeoutException

from jobs.heart import LIFE, Heartbeat
from portal import subscribers
from portal.backend import connect
from portal.core import logs, memory, metrics, redis_clients, traces
from portal.core.correlation import following
from portal.core.outage import AWAY, LONGEST_PAUSE, Backoff, RepeatFilter, first_line
from portal.core.queue import Job
from portal.core.settings import Settings

log = logging.getLogger(__name__)
done = logging.getLogger("jobs.done")  # repeats one message, which must not be filtered

LISTENING = 5  # seconds that a worker waits for a job at a time
HEARTBEAT = 20  # seconds after which a killed worker's entry may expire
TIDY = 10  # seconds between clean-ups of what killed workers left behind
# seconds before an immediate retry of a job; before the last retry there is a rest
AT_ONCE = (0.1, 0.7)


class Call(Job):
    """A job that does not fail while a service is down: the scheduler enqueues it again later."""

    def perform(self) -> Any:
        """Run the job under its sender's correlation id, or fail."""
        began, outcome = time.monotonic(), "failed"
        code = self.meta.get("correlation") or self.id
        with following(code), traces.span(self.func_name or "job", self.meta):
            try:
                result = self._try()
                outcome = "done"
            except AWAY as error:
                result, outcome = None, "gave up"
                log.warning("A job had to give up: %s", first_line(error))
            finally:
                self._told(outcome, time.monotonic() - began)
        return result

    def _try(self) -> Any:
        """Run the job, with immediate retries if possible; then RQ retries it after a rest."""
        for pause in AT_ONCE if self.retries_left else ():
            try:
                return super().perform()
            except (BaseTimeoutException, *AWAY):
                raise
            except Exception as error:  # noqa: BLE001  whatever it is, it may go well now
                log.warning("A job is tried again: %s", first_line(error))
            time.sleep(pause)
        return super().perform()

    def _told(self, outcome: str, seconds: float) -> None:
        metrics.JOBS.labels(self.origin, outcome).inc()
        metrics.JOB_TIME.labels(self.origin).observe(seconds)
        facts = {"job": self.id, "outcome": outcome, "ms": round(seconds * 1000)}
        done.info("%s: %s", self.func_name, outcome, extra=facts)


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
        """Run jobs, with heartbeats during long ones."""
        self.heart = Heartbeat(self)
        self.heart.start()
        return super().work(*args, **options)

    def teardown(self) -> None:
        """Exit, and stop the heartbeats."""
        self.heart.stop()
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


def run_worker(queue: str) -> None:
    """Run the jobs of one queue until told to stop, through outages of its services."""
    logs.begin(queue)
    metrics.begin(queue)
    traces.begin(queue)
    for each in (logging.getLogger("rq.worker"), log):
        each.addFilter(RepeatFilter())
    settings = Settings.read()
    connect(settings)
    subscribers.connect()
    import_module(f"jobs.{queue}")  # now, so that the first job is as fast as the others
    memory.settle()
    trouble = Backoff(usual=0.1)
    with suppress(StopRequested):
        while not Worker.stopping:
            try:
                worker = _worker(queue, settings)
                trouble.over()
                worker.work(logging_level="WARNING")
            except AWAY as error:
                trouble.met(error)
            time.sleep(trouble.pause)


def _worker(queue: str, settings: Settings) -> Worker:
    return Worker(
        [queue],
        connection=redis_clients.blocking(settings.redis_url, LISTENING),
        worker_ttl=HEARTBEAT,
        maintenance_interval=TIDY,
        job_class=Call,
        serializer=JSONSerializer,
    )
