"""A worker sends heartbeats during a long job; a killed one is missed soon."""

import os
import signal
from datetime import timedelta
from pathlib import Path

import pytest
from rq import Retry
from rq.job import Job
from rq.serializers import JSONSerializer

from portal.backend import Backend
from portal.operations import dead_letters, workers
from tests.recorder import slow_jobs
from tests.recorder.processes import running, start, wait_for
from tests.recorder.test_kill import busy


def background(backend: Backend) -> workers.QueueState:
    (found,) = [queue for queue in workers.queues(backend.redis) if queue.name == "background"]
    return found


def test_worker_sends_heartbeats_during_a_long_job(backend: Backend, tmp_path: Path) -> None:
    with running(("worker", "background")):
        slow_jobs.call("background", slow_jobs.UNTIL, tmp_path / "go")
        wait_for(lambda: busy(backend))
        (worker,) = workers.workers(backend.redis)
        before = worker.last_heartbeat
        wait_for(lambda: worker.refresh() or worker.last_heartbeat != before)
        assert background(backend).alive


def test_killed_worker_is_missed_soon(
    backend: Backend, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with running(("worker", "background")) as (process,):
        slow_jobs.call("background", slow_jobs.UNTIL, tmp_path / "go")
        wait_for(lambda: busy(backend))
        process.kill()
        process.wait()
        monkeypatch.setattr(workers, "SILENCE", timedelta(seconds=1))
        wait_for(lambda: not background(backend).alive)


def test_ended_worker_is_removed_at_once(backend: Backend, tmp_path: Path) -> None:
    with running(("worker", "background")) as (process,):
        slow_jobs.call("background", slow_jobs.UNTIL, tmp_path / "go")
        wait_for(lambda: busy(backend))
        process.kill()
        process.wait()
        workers.forget(backend.redis, process.pid)
        assert not background(backend).workers


def test_job_of_a_killed_worker_is_done_by_another(backend: Backend, tmp_path: Path) -> None:
    with running(("worker", "background")) as processes:
        job = slow_jobs.call("background", slow_jobs.UNTIL, tmp_path / "go", retry=Retry(max=1))
        wait_for(lambda: busy(backend))
        os.kill(processes[0].pid, signal.SIGKILL)
        long_after(backend)
        (tmp_path / "go").touch()
        processes.append(start("worker", "background"))
        wait_for(lambda: not Job.exists(job.id, connection=backend.redis))
        assert dead_letters.counts(backend.redis)["background"] == 0


def test_dead_letter_of_a_killed_worker_can_be_discarded(backend: Backend, tmp_path: Path) -> None:
    with running(("worker", "background")) as processes:
        slow_jobs.call("background", slow_jobs.UNTIL, tmp_path / "go")
        wait_for(lambda: busy(backend))
        os.kill(processes[0].pid, signal.SIGKILL)
        long_after(backend)
        processes.append(start("worker", "background"))
        wait_for(lambda: dead_letters.counts(backend.redis)["background"])
        (letter,) = dead_letters.find_all(backend.redis)
        assert letter.abandoned
        assert dead_letters.discard(backend.redis, letter)
    with pytest.raises(Exception, match=letter.id):
        Job.fetch(letter.id, connection=backend.redis, serializer=JSONSerializer)


def long_after(backend: Backend) -> None:
    """Expire the executions of killed workers."""
    (execution,) = backend.redis.keys("rq:execution:*")
    backend.redis.delete(execution)
    (begun,) = backend.redis.zrange("rq:wip:background", 0, -1)
    backend.redis.zadd("rq:wip:background", {begun: 1})
