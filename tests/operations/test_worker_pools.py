"""A supervisor's workers: as many as are asked for; who is too many ends after the job in hand."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from portal.backend import Backend
from portal.operations import autoscaler
from portal.operations import workers as crew
from portal.operations.autoscaler import Target
from portal.runtime.child_process import Child, SupervisedChild
from portal.runtime.worker_pools import WorkerPools
from tests import commands
from tests.recorder import slow_jobs
from tests.recorder.processes import wait_for
from tests.recorder.test_kill import busy


class Crew:
    """One worker that must be there, and the pools."""

    def __init__(self, backend: Backend, folder: Path) -> None:
        self.backend = backend
        self.folder = folder
        self.kept = [SupervisedChild(self.child("notify-1", "worker", "notify"))]
        self.kept[0].start()
        self.pools = WorkerPools(self.kept, self.child, lambda: backend.settings.redis_url)

    def child(self, name: str, *arguments: str) -> Child:
        return commands.child(name, *arguments, log=self.folder / f"{name}.log")

    def ask(self, workers: int) -> None:
        autoscaler.set_target(self.backend.redis, "notify", Target(workers))
        self.look()

    def look(self) -> None:
        self.pools._due = 0  # noqa: SLF001 - now, not in a second
        self.pools.check()

    def pids(self) -> set[int]:
        """Those who listen."""
        self.look()
        hands = [each for queue in crew.queues(self.backend.redis) for each in queue.workers]
        return {int(hand.name.rpartition(":")[2]) for hand in hands}

    def stop(self) -> None:
        for child in (*self.pools.leaving, *(kept.child for kept in self.kept)):
            child.kill()


@pytest.fixture
def hands(backend: Backend, tmp_path: Path) -> Iterator[Crew]:
    found = Crew(backend, tmp_path)
    yield found
    found.stop()


def test_there_are_more_when_more_are_asked_for(hands: Crew) -> None:
    hands.ask(3)
    wait_for(lambda: len(hands.pids()) == 3)
    hands.ask(1)
    wait_for(lambda: len(hands.pids()) == 1)
    wait_for(lambda: hands.look() or not hands.pools.leaving)
    assert [kept.child.name for kept in hands.kept] == ["notify-1"]


def test_no_one_goes_who_must_be_there(hands: Crew) -> None:
    hands.ask(0)
    assert len(hands.kept) == 1
    assert hands.kept[0].child.alive


def test_a_queue_that_only_an_earlier_version_had_gets_no_worker(hands: Crew) -> None:
    autoscaler.set_target(hands.backend.redis, "former", Target(2))
    hands.look()
    assert [kept.child.name for kept in hands.kept] == ["notify-1"]


def test_who_goes_ends_the_job_in_hand_first(hands: Crew, tmp_path: Path) -> None:
    hands.ask(2)
    wait_for(lambda: len(hands.pids()) == 2)
    for _ in range(2):
        slow_jobs.call("notify", slow_jobs.UNTIL, tmp_path / "go")
    wait_for(lambda: len(busy(hands.backend)) == 2)
    hands.ask(1)
    (leaving,) = hands.pools.leaving
    assert leaving.alive
    assert len(busy(hands.backend)) == 2
    (tmp_path / "go").touch()
    wait_for(lambda: not leaving.alive)
    assert leaving.process
    assert leaving.process.returncode == 0
    lines = map(json.loads, (tmp_path / "notify-2.log").read_text().splitlines())
    assert [line["outcome"] for line in lines] == ["done"]


def test_who_was_killed_is_forgotten_at_once(hands: Crew) -> None:
    wait_for(lambda: len(hands.pids()) == 1)
    hands.kept[0].child.kill()
    hands.look()
    assert not hands.pids()
