"""kill -9 of a worker in mid-drain: another goes on, with nothing lost or doubled."""

import os
import random
import signal
import time
from pathlib import Path

import pytest

from portal.backend import Backend
from portal.core.queue import enqueue
from portal.operations import workers as crew
from portal.recorder.consistency.audit import audit
from portal.recorder.journal import last_seq
from tests.recorder.processes import caught_up, events, ready, recorded, running, start, wait_for
from tests.recorder.rush import a_rush, claims, everyone_everywhere

pytestmark = pytest.mark.slow

RESUMES = 180.0  # seconds; a few where nothing else is at work


def test_a_recorder_is_killed_again_and_again(backend: Backend) -> None:
    rush = a_rush(sections=3, students=6000, capacity=5000, waitlist=800)
    wishes = everyone_everywhere(rush)
    with running(("worker", "record"), ("worker", "record")) as processes:
        ready("record")
        for first in range(0, len(wishes), 6000):
            claims(rush, wishes[first : first + 6000])
            enqueue(rush.term, ["record"])
            wait_for(lambda: busy(backend))
            time.sleep(random.uniform(0, 0.3))
            for pid in busy(backend):
                os.kill(pid, signal.SIGKILL)
            stopped_at = recorded(rush.term)
            processes.append(start("worker", "record"))
            with running(("scheduler",)):  # begun only now: it would record before a worker is seen
                wait_for(
                    lambda at=stopped_at: recorded(rush.term) > at or caught_up(rush.term), RESUMES
                )
                wait_for(lambda: caught_up(rush.term), RESUMES)
    assert events(rush.term) == last_seq(rush.term) == recorded(rush.term)
    assert audit()["clean"]


def test_a_long_drain_that_was_killed_leaves_no_lock(backend: Backend) -> None:
    rush = a_rush(sections=3, students=10_000, capacity=8000, waitlist=2500)
    with running(("worker", "record"), ("worker", "record")):
        ready("record")
        claims(rush, everyone_everywhere(rush))
        enqueue(rush.term, ["record"])
        wait_for(lambda: recorded(rush.term) > 0)
        (pid,) = busy(backend)
        os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)
        stopped_at = recorded(rush.term)
        assert not caught_up(rush.term)
        with running(("scheduler",)):  # nobody else knows that something is left
            wait_for(lambda: recorded(rush.term) > stopped_at, RESUMES)
            wait_for(lambda: caught_up(rush.term), RESUMES)
    assert events(rush.term) == last_seq(rush.term) == recorded(rush.term)
    assert audit()["clean"]


def busy(backend: Backend) -> list[int]:
    """The process ids of recorders that have a job in hand and are alive."""
    workers = crew.workers(backend.redis)
    return [worker.pid for worker in workers if worker.get_state() == "busy" and alive(worker.pid)]


def alive(pid: int) -> bool:
    """Whether the process runs; one that was killed stays a zombie until it is waited for."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().split()[2] != "Z"
