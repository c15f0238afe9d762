"""A failing job is retried three times: after 0.1 s, 0.7 s and 5 s."""

from itertools import pairwise
from pathlib import Path

from rq import Retry

from portal.backend import Backend
from portal.core.queue import RETRY_AFTER
from portal.operations import dead_letters
from portal.operations.scheduler import HourlyCleanup
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


def test_old_data_is_deleted_every_hour(backend: Backend) -> None:
    cleanup = HourlyCleanup(backend.redis)
    for _ in range(3):
        cleanup.check()
    assert cleanup.queue.job_ids == ["cleanup"]
