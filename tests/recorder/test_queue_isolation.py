"""A queue that is flooded, and whose worker hangs, keeps no other from its work."""

from pathlib import Path

from rq import Queue

from portal.backend import Backend, backend
from portal.core.queue import enqueue
from portal.ledger.types import Decision
from tests.recorder import slow_jobs
from tests.recorder.processes import caught_up, ready, running, wait_for
from tests.recorder.rush import Rush, a_rush, claim, drop
from tests.recorder.test_kill import busy


def told(rush: Rush, answer: Decision) -> None:
    """What a web node does after a decision."""
    enqueue(rush.term, answer.wake)


def test_a_flood_of_notices_starves_nobody(backend: Backend, tmp_path: Path) -> None:
    rush = a_rush(sections=1, students=2, capacity=1, waitlist=1)
    (section,), (first, second) = rush.sections, rush.students
    with running(("worker", "notify"), ("worker", "record"), ("worker", "promote")):
        ready("notify", "record", "promote")
        for _ in range(500):
            slow_jobs.call("notify", slow_jobs.UNTIL, tmp_path / "never")
        wait_for(lambda: busy(backend))
        for student in rush.students:
            told(rush, claim(rush, student, section))
        told(rush, drop(rush, first, section))
        wait_for(lambda: seated(rush) == {second})
        wait_for(lambda: caught_up(rush.term))
        assert Queue("notify", connection=backend.redis).count >= 499


def seated(rush: Rush) -> set[int]:
    roster = backend().redis.hkeys(f"{{t:{rush.term}}}:roster:{rush.sections[0]}")
    return {int(student) for student in roster}
