"""After kill -9 of a recorder another one continues; nothing is lost or doubled."""

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
from tests.recorder.slow_recorder import slowly

pytestmark = pytest.mark.slow

RESUMES = 180.0  # seconds; a few on an idle machine
STUDENTS = 2500  # more than fit into a batch


def test_recorder_killed_repeatedly_loses_nothing(backend: Backend) -> None:
    rush = a_rush(sections=3, students=STUDENTS, capacity=2000, waitlist=400)
    wishes, killed = everyone_everywhere(rush), 0
    with slowly(0.3), running(("worker", "record"), ("worker", "record")) as processes:
        ready("record")
        for first in range(0, len(wishes), STUDENTS):
            claims(rush, wishes[first : first + STUDENTS])
            enqueue(rush.term, ["record"])
            wait_for(lambda: busy(backend) or caught_up(rush.term))
            time.sleep(random.uniform(0, 0.3))
            for pid in busy(backend):
                os.kill(pid, signal.SIGKILL)
                killed += 1
            stopped_at = recorded(rush.term)
            processes.append(start("worker", "record"))
            with running(
                ("scheduler",)
            ):  # started only now: it would record before a worker is seen
                wait_for(
                    lambda at=stopped_at: recorded(rush.term) > at or caught_up(rush.term), RESUMES
                )
                wait_for(lambda: caught_up(rush.term), RESUMES)
    assert killed
    assert events(rush.term) == last_seq(rush.term) == recorded(rush.term)
    assert audit()["clean"]


def test_killed_recorder_leaves_no_lock(backend: Backend) -> None:
    rush = a_rush(sections=3, students=STUDENTS, capacity=2000, waitlist=600)
    with slowly(0.3), running(("worker", "record"), ("worker", "record")):
        ready("record")
        claims(rush, everyone_everywhere(rush))
        enqueue(rush.term, ["record"])
        wait_for(lambda: recorded(rush.term) > 0)
        (pid,) = busy(backend)
        os.kill(pid, signal.SIGKILL)
        time.sleep(0.1)
        stopped_at = recorded(rush.term)
        assert not caught_up(rush.term)
        with running(("scheduler",)):  # only the scheduler knows that work is left
            wait_for(lambda: recorded(rush.term) > stopped_at, RESUMES)
            wait_for(lambda: caught_up(rush.term), RESUMES)
    assert events(rush.term) == last_seq(rush.term) == recorded(rush.term)
    assert audit()["clean"]


def busy(backend: Backend) -> list[int]:
    """Return the process ids of recorders that are alive and have a job."""
    workers = crew.workers(backend.redis)
    return [worker.pid for worker in workers if worker.get_state() == "busy" and alive(worker.pid)]


def alive(pid: int) -> bool:
    """Return whether the process runs; a killed one stays a zombie until it is waited for."""
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().split()[2] != "Z"
