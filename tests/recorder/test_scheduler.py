"""The scheduler does due work and repeats lost messages; only one acts at a time."""

import pytest
from rq import Queue

from portal.backend import Backend
from portal.core.queue import enqueue
from portal.ledger.types import Outcome
from portal.operations.dead_letters import Watch
from portal.operations.scheduler import LEASE, Lease, tick
from portal.recorder.recorder import drain
from portal.recorder.sweep import Sweeper
from portal.waiting_room import room
from tests import cast
from tests.recorder.processes import caught_up, ready, running, wait_for
from tests.recorder.rush import a_rush, claim, drop, spec


@pytest.fixture
def sweeper(backend: Backend) -> Sweeper:  # noqa: ARG001
    return Sweeper()


def called(backend: Backend, queue: str) -> int:
    """Return how many jobs wait in a queue."""
    return Queue(queue, connection=backend.redis).count


def sweep(sweeper: Sweeper) -> None:
    sweeper.read_terms()
    sweeper.turn_windows()
    sweeper.enqueue_due()


def test_scheduler_enqueues_a_recorder_whose_message_was_lost(
    backend: Backend, sweeper: Sweeper
) -> None:
    rush = a_rush(sections=1, students=1)
    claim(rush, rush.students[0], rush.sections[0])
    sweep(sweeper)
    assert called(backend, "record") == 1


def test_scheduler_enqueues_nothing_if_all_is_recorded(backend: Backend, sweeper: Sweeper) -> None:
    rush = a_rush(sections=1, students=1)
    backend.ledger.turn(rush.term)
    drain(rush.term)
    sweep(sweeper)
    assert called(backend, "record") == called(backend, "promote") == 0


def test_jobs_do_not_pile_up(backend: Backend, sweeper: Sweeper) -> None:
    rush = a_rush(sections=1, students=1)
    claim(rush, rush.students[0], rush.sections[0])
    for _ in range(5):
        sweep(sweeper)
        enqueue(rush.term, ["record"])
    assert called(backend, "record") == 1
    assert called(backend, "maintain") == 1


def test_job_without_progress_is_not_enqueued_every_second(
    backend: Backend, sweeper: Sweeper
) -> None:
    rush = a_rush(sections=1, students=1)
    sweep(sweeper)
    Queue("record", connection=backend.redis).empty()
    sweep(sweeper)
    assert called(backend, "record") == 0
    drain(rush.term)
    claim(rush, rush.students[0], rush.sections[0])
    sweep(sweeper)
    assert called(backend, "record") == 1


def test_scheduler_enqueues_a_promoter_for_a_free_seat(backend: Backend, sweeper: Sweeper) -> None:
    rush = a_rush(sections=1, students=2, capacity=1)
    for student in rush.students:
        claim(rush, student, rush.sections[0])
    drop(rush, rush.students[0], rush.sections[0])
    sweep(sweeper)
    assert called(backend, "promote") == 1


def test_scheduler_sends_new_sections_to_the_ledger(backend: Backend, sweeper: Sweeper) -> None:
    term = cast.a_term()
    section = cast.a_section(cast.a_course(), term)
    backend.redis.flushall()  # the ledger knows nothing of it
    sweep(sweeper)
    assert called(backend, "maintain") == 1
    with running(("worker", "maintain")):
        wait_for(lambda: section.id in backend.ledger.seats(term.id))


def test_scheduler_opens_and_closes_due_windows(backend: Backend, sweeper: Sweeper) -> None:
    rush = a_rush(sections=1, students=1)
    sweep(sweeper)
    drain(rush.term)
    assert backend.ledger.turn(rush.term) == []  # already reported by the sweep


def test_scheduler_ignores_deleted_terms(backend: Backend, sweeper: Sweeper) -> None:
    cast.a_term(deleted_at="2030-01-01")
    sweep(sweeper)
    assert sweeper.terms == []
    assert called(backend, "maintain") == 0


def test_only_one_of_two_schedulers_acts(backend: Backend) -> None:
    first, second = Lease(backend.redis), Lease(backend.redis)
    assert first.held()
    assert not second.held()
    assert first.held()


def test_ended_scheduler_lets_another_act_at_once(backend: Backend) -> None:
    first, second = Lease(backend.redis), Lease(backend.redis)
    assert first.held()
    first.close()
    assert second.held()


def test_scheduler_notices_a_lost_lease(backend: Backend) -> None:
    first, second = Lease(backend.redis), Lease(backend.redis)
    assert first.held()
    backend.redis.delete(LEASE)
    assert second.held()
    assert not first.held()


def test_scheduler_without_the_lease_does_nothing(backend: Backend, sweeper: Sweeper) -> None:
    rush = a_rush(sections=1, students=1)
    claim(rush, rush.students[0], rush.sections[0])
    assert Lease(backend.redis).held()
    tick(sweeper, Lease(backend.redis), Watch(backend.redis).check)
    assert called(backend, "record") == 0


def test_scheduler_admits_waiting_students_at_the_opening(backend: Backend) -> None:
    term = cast.a_term()
    with running(("scheduler",)):
        wait_for(lambda: backend.redis.exists(LEASE))  # it has seen the terms
        window = cast.a_coming_window(term, minutes=1.5 / 60)
        room.enter(term.id, window.id, 7)
        wait_for(lambda: room.state(term.id, window.id).inside == 1)


def test_real_scheduler_and_worker_record_forgotten_events(backend: Backend) -> None:
    rush = a_rush(sections=1, students=1)
    with running(("worker", "record"), ("scheduler",), ("scheduler",)) as processes:
        ready("record")
        wait_for(lambda: caught_up(rush.term))
        answer = claim(rush, rush.students[0], rush.sections[0])
        assert answer.outcome is Outcome.ENROLLED
        wait_for(lambda: caught_up(rush.term))
        backend.ledger.put_section(rush.term, spec(rush.sections[0], capacity=20, version=2))
        wait_for(lambda: caught_up(rush.term))
        for process in processes:
            process.terminate()
        assert [process.wait(60) for process in processes] == [0, 0, 0]
    assert not backend.redis.exists(LEASE)
