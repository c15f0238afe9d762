"""`fairseat workers`: all that works for a portal whose web nodes and servers are elsewhere."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from portal.backend import Backend
from portal.core import scaling
from portal.core.queue import enqueue
from portal.operations import autoscaler, workers
from portal.operations.autoscaler import Target
from tests.operations.metrics.test_metrics_port import shown
from tests.operations.metrics.test_scrape import samples
from tests.ports import free_port
from tests.recorder.processes import caught_up, wait_for
from tests.recorder.rush import a_rush, claims

WORKERS = [sys.executable, "-m", "portal.runtime.cli", "workers"]
BUSY = 300  # seconds that a busy machine may take to start so many processes
BOUNDS = (
    "record=1-2@50 promote=1-1@30 notify=1-1@100 maintain=1-1@50"
    " documents=1-1@5 charges=1-1@5 background=1-1@10"
)
TOKEN = "for tests alone"


class Host:
    """One that has workers only."""

    def __init__(self, var: Path) -> None:
        self.port = free_port()
        self.said = var.with_name("said")
        env = {
            "FAIRSEAT_VAR": str(var),
            "FAIRSEAT_WORKERS": BOUNDS,
            "FAIRSEAT_METRICS_PORT": str(self.port),
            "FAIRSEAT_METRICS_TOKEN": TOKEN,
            "FAIRSEAT_LOG": "json",
        }
        with self.said.open("w") as said:
            self.process = subprocess.Popen(WORKERS, env={**os.environ, **env}, stderr=said)

    def processes(self) -> dict[str, float]:
        """How many there are of each kind, as Prometheus is told."""
        try:
            status, text = shown(self.port, Authorization=f"Bearer {TOKEN}")
        except OSError:
            return {}
        assert status == 200
        found = samples(text).items()
        return {labels[0]: n for (name, labels), n in found if name == "fairseat_processes"}

    def done(self) -> set[str]:
        """The kinds of processes that say in its own log that they have done a job."""
        said = self.said.read_text().splitlines(keepends=True)
        whole = [line for line in said if line.startswith("{") and line.endswith("}\n")]
        lines = [json.loads(line) for line in whole]
        return {line["process"] for line in lines if line.get("outcome") == "done"}


@pytest.fixture
def host(backend: Backend, tmp_path: Path) -> Iterator[Host]:
    assert backend
    host = Host(tmp_path / "var")
    yield host
    host.process.kill()
    host.process.wait()


def test_they_do_all_the_work_are_more_when_asked_and_leave_no_one_behind(
    host: Host, backend: Backend
) -> None:
    wait_for(lambda: host.processes() == dict.fromkeys((*scaling.POOLS, "scheduler"), 1), BUSY)
    rush = a_rush(sections=1, students=3)
    claims(rush, [(student, rush.sections[0]) for student in rush.students])
    enqueue(rush.term, ["record"])
    wait_for(lambda: caught_up(rush.term))
    wait_for(lambda: "record" in host.done())
    autoscaler.set_target(backend.redis, "record", Target(2, time.time()))
    wait_for(lambda: host.processes().get("record") == 2, BUSY)
    family = psutil.Process(host.process.pid).children(recursive=True)
    host.process.terminate()
    assert host.process.wait(BUSY) == 0
    assert not [each for each in family if each.is_running()]
    assert not any(queue.alive for queue in workers.queues(backend.redis))


def test_what_the_portal_has_to_lend_them_is_asked_for(tmp_path: Path) -> None:
    var, needed = tmp_path / "var", ("DATABASE_URL", "REDIS_URL", "SECRET_KEY")
    env = {**os.environ, "FAIRSEAT_VAR": str(var)} | dict.fromkeys(needed, "")
    done = subprocess.run(WORKERS, env=env, check=False, capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith(f"Error: Set {', '.join(needed)}")
    assert not var.exists()
