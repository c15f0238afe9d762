"""A flooded queue with a hanging worker does not delay the other queues."""

from pathlib import Path

from rq import Queue

from portal.backend import Backend, backend
from portal.core.queue import enqueue
from portal.ledger.types import Decision
from tests.recorder import slow_jobs
from tests.recorder.processes import caught_up, ready, running, wait_for
from tests.recorder.rush import Rush, a_rush, claim, drop
from tests.recorder.test_kill import busy


def enqueue_workers(rush: Rush, answer: Decision) -> None:
    """Enqueue the workers of a decision, as a web process does."""
    enqueue(rush.term, answer.wake)


def test_many_notifications_do_not_delay_other_queues(backend: Backend, tmp_path: Path) -> None:
    rush = a_rush(sections=1, students=2, capacity=1, waitlist=1)
    (section,), (first, second) = rush.sections, rush.students
    with running(("worker", "notify"), ("worker", "record"), ("worker", "promote")):
        ready("notify", "record", "promote")
        for _ in range(500):
            slow_jobs.call("notify", slow_jobs.UNTIL, tmp_path / "never")
        wait_for(lambda: busy(backend))
        for student in rush.students:
            enqueue_workers(rush, claim(rush, student, section))
        enqueue_workers(rush, drop(rush, first, section))
        wait_for(lambda: seated(rush) == {second})
        wait_for(lambda: caught_up(rush.term))
        assert Queue("notify", connection=backend.redis).count >= 499


def seated(rush: Rush) -> set[int]:
    roster = backend().redis.hkeys(f"{{t:{rush.term}}}:roster:{rush.sections[0]}")
    return {int(student) for student in roster}
