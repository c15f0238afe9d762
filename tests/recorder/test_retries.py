"""A failing job is retried three times: after 0.1 s, 0.7 s and 5 s."""

from itertools import pairwise
from pathlib import Path

import pytest
from rq import Queue, Retry
from rq.serializers import JSONSerializer

from portal.backend import Backend
from portal.core.queue import RETRY_AFTER
from portal.operations import dead_letters, scheduler
from portal.operations.scheduler import CLEANUP_EVERY, Every, enqueue_cleanup
from tests.recorder import slow_jobs
from tests.recorder.processes import running, wait_for


def test_retries_wait_longer_and_then_stop(backend: Backend, tmp_path: Path) -> None:
    tries = tmp_path / "tries"
    with running(("worker", "promote"), ("scheduler",)):
        retry = Retry(max=1, interval=RETRY_AFTER)
        slow_jobs.call("promote", "tests.recorder.slow_jobs.fail", tries, retry=retry)
        wait_for(lambda: dead_letters.counts(backend.redis)["promote"])
    at = [float(each) for each in tries.read_text().split()]
    rests = [later - earlier for earlier, later in pairwise(at)]
    # RQ counts in whole seconds, rounded down.
    assert [
        least <= rest for least, rest in zip((0.1, 0.7, RETRY_AFTER - 1), rests, strict=True)
    ] == ([True] * 3)
    (letter,) = dead_letters.find_all(backend.redis)
    assert letter.error == "ValueError: always"
    assert "slow_jobs.py" in letter.trace


def test_old_data_is_deleted_every_hour(backend: Backend, monkeypatch: pytest.MonkeyPatch) -> None:
    queue = Queue("background", connection=backend.redis, serializer=JSONSerializer)
    cleanup = Every(CLEANUP_EVERY, lambda: enqueue_cleanup(backend.redis))
    enqueued = []
    for now in (1000.0, 1001.0, 4599.0, 4600.0, 4601.0):
        monkeypatch.setattr(scheduler, "monotonic", lambda now=now: now)
        cleanup.check()
        enqueued.append(len(queue.job_ids))
    assert enqueued == [1, 1, 1, 2, 2]
