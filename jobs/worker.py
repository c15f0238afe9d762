"""A worker: one process that does the jobs of one queue."""

import logging
import time
from contextlib import suppress
from importlib import import_module
from types import FrameType
from typing import Any

from rq import SimpleWorker
from rq.exceptions import StopRequested
from rq.job import Job
from rq.serializers import JSONSerializer

from jobs.trouble import AWAY, LINE, LONGEST_PAUSE, Once, Trouble, brief
from portal import stores
from portal.backend import connect
from portal.config import Settings

log = logging.getLogger(__name__)

HEARTBEAT = 20  # seconds after which a worker that was killed begins to be forgotten
TIDY = 30  # seconds between clean-ups of what killed workers left behind


class Call(Job):
    """A job that has not failed where a part is away: the clock calls again when that is back."""

    def perform(self) -> Any:
        """Do it, or give up."""
        try:
            return super().perform()
        except AWAY as error:
            log.warning("A job had to give up: %s", brief(error))


class Worker(SimpleWorker):
    """Works in its own process: a fork for each job would take longer than the job.

    A kill -9 loses nothing: what the job had not done stands in the ledger, where the next one
    finds it, and its transaction is rolled back.
    """

    stopping = False
    max_connection_wait_time = LONGEST_PAUSE

    def request_stop(self, signum: int, frame: FrameType | None) -> None:
        """End after the job in hand, on SIGTERM or SIGINT."""
        Worker.stopping = True
        super().request_stop(signum, frame)  # type: ignore[no-untyped-call]


def run_worker(queue: str) -> None:
    """Do the jobs of one queue until told to stop, through outages of whatever it needs."""
    logging.basicConfig(format=LINE)
    for each in (logging.getLogger("rq.worker"), log):
        each.addFilter(Once())
    settings = Settings.read()
    connect(settings)
    import_module(f"jobs.{queue}")  # now, so that the first job is as quick as the others
    trouble = Trouble(usual=0.1)
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
        connection=stores.blocking(settings.redis_url),
        worker_ttl=HEARTBEAT,
        maintenance_interval=TIDY,
        job_class=Call,
        serializer=JSONSerializer,
    )
