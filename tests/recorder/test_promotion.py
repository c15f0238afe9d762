"""A real worker gives a free seat to the head of its waitlist at once."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from redis.exceptions import ResponseError
from sqlalchemy import select

from portal.backend import Backend, backend
from portal.core.db import transaction
from portal.core.queue import enqueue
from portal.ledger.types import Decision, Outcome
from portal.people.models import Hold, Student
from portal.recorder.consistency.audit import audit
from portal.recorder.models import WaitlistEntry
from portal.recorder.promotion import promote
from tests.recorder.processes import caught_up, ready, running, wait_for
from tests.recorder.rush import Rush, a_rush, claim, drop, spec


@pytest.fixture
def workers(backend: Backend) -> Iterator[None]:  # noqa: ARG001
    """Start a worker for each queue that a promotion needs."""
    with running(("worker", "promote"), ("worker", "record")):
        ready("promote", "record")
        yield


def full(seats: int, waiting: int) -> Rush:
    """Return a full section with a waitlist."""
    rush = a_rush(sections=1, students=seats + waiting + 1, capacity=seats, waitlist=waiting + 1)
    for student in rush.students[: seats + waiting]:
        claim(rush, student, rush.sections[0])
    return rush


def held(rush: Rush, section: int = 0) -> set[int]:
    """Return the students of a section, by default the first."""
    roster = backend().redis.hkeys(f"{{t:{rush.term}}}:roster:{section or rush.sections[0]}")
    return {int(student) for student in roster}


def enqueue_workers(rush: Rush, answer: Decision) -> None:
    """Enqueue the workers of a decision, as a web process does."""
    enqueue(rush.term, answer.wake)


@pytest.mark.usefixtures("workers")
def test_dropped_seat_goes_to_the_head_within_a_second() -> None:
    rush = full(seats=1, waiting=2)
    first, second, third, _ = rush.students
    # The first job of a worker also reads the catalog.
    enqueue_workers(rush, drop(rush, first, rush.sections[0]))
    wait_for(lambda: held(rush) == {second})
    enqueue_workers(rush, drop(rush, second, rush.sections[0]))
    wait_for(lambda: held(rush) == {third})
    wait_for(lambda: caught_up(rush.term))
    assert audit()["clean"]


@pytest.mark.usefixtures("workers")
def test_new_student_cannot_take_a_seat_before_the_promotion() -> None:
    rush = full(seats=1, waiting=2)
    answer = drop(rush, rush.students[0], rush.sections[0])
    refused = claim(rush, rush.students[3], rush.sections[0], wait=False)
    assert [reason.code for reason in refused.reasons] == ["full"]
    enqueue_workers(rush, answer)
    wait_for(lambda: held(rush) == {rush.students[1]})


@pytest.mark.usefixtures("workers")
def test_seat_freed_by_a_promotion_is_promoted_without_the_scheduler() -> None:
    rush = a_rush(sections=2, students=3, capacity=1)
    new, old = rush.sections
    leaver, swapper, last = rush.students
    claim(rush, leaver, new)
    claim(rush, swapper, old)
    claim(rush, swapper, new, swap_out=old)
    claim(rush, last, old)
    enqueue_workers(rush, drop(rush, leaver, new))
    wait_for(lambda: held(rush) == {swapper} and held(rush, old) == {last})


@pytest.mark.usefixtures("workers")
def test_many_simultaneous_drops_promote_as_many_students() -> None:
    rush = full(seats=20, waiting=30)
    for student in rush.students[:15]:
        enqueue_workers(rush, drop(rush, student, rush.sections[0]))
    wait_for(lambda: len(held(rush)) == 20)
    assert held(rush) == set(rush.students[15:35])
    wait_for(lambda: caught_up(rush.term))
    assert audit()["clean"]


@pytest.mark.usefixtures("workers")
def test_added_seats_go_to_the_waitlist() -> None:
    rush = full(seats=1, waiting=3)
    change = backend().ledger.put_section(
        rush.term, spec(rush.sections[0], capacity=3, waitlist=4, version=2)
    )
    enqueue(rush.term, change.wake)
    wait_for(lambda: held(rush) == set(rush.students[:3]))


@pytest.mark.usefixtures("workers")
def test_head_with_a_hold_is_skipped_and_keeps_the_position() -> None:
    rush = full(seats=1, waiting=2)
    first, second, third, _ = rush.students
    with transaction() as session:
        session.add(Hold(student_id=second, kind="financial", reason="Fee unpaid", office="Bursar"))
    enqueue_workers(rush, drop(rush, first, rush.sections[0]))
    wait_for(lambda: held(rush) == {third})
    wait_for(lambda: caught_up(rush.term))
    with transaction() as session:
        position = session.scalars(select(WaitlistEntry).filter_by(student_id=second)).one()
    assert position.state == "passed"
    assert [reason["code"] for reason in position.reasons] == ["hold"]
    assert audit()["clean"]


@pytest.mark.usefixtures("workers")
def test_head_without_a_student_record_blocks_no_one() -> None:
    rush = full(seats=1, waiting=2)
    first, second, third, _ = rush.students
    with transaction() as session:
        session.get_one(Student, second).deleted_at = datetime.now(UTC)
    enqueue_workers(rush, drop(rush, first, rush.sections[0]))
    wait_for(lambda: held(rush) == {third})


def test_section_that_cannot_be_promoted_blocks_no_other(backend: Backend) -> None:
    rush = a_rush(sections=2, students=4, capacity=1)
    first, second, third, fourth = rush.students
    broken, other = sorted(rush.sections)
    for section, holds, waits in ((broken, first, second), (other, third, fourth)):
        claim(rush, holds, section)
        claim(rush, waits, section)
        drop(rush, holds, section)
    backend.redis.set(f"{{t:{rush.term}}}:queue:{broken}", "no list")
    with pytest.raises(ResponseError):
        promote(rush.term, "tests")
    assert held(rush, other) == {fourth}


@pytest.mark.usefixtures("workers")
def test_no_student_is_promoted_after_the_window_closed() -> None:
    rush = full(seats=1, waiting=1)
    answer = drop(rush, rush.students[0], rush.sections[0])
    backend().ledger.close_window(rush.term, rush.window, "max")
    enqueue_workers(rush, answer)
    wait_for(lambda: not backend().ledger.vacant(rush.term))
    assert held(rush) == set()
    registrations = backend().ledger.registrations(rush.term, rush.students[1])
    assert [reason.code for reason in registrations.waiting[0].reasons] == ["window_ended"]


def test_another_promoter_finishes_the_work_of_a_killed_one(backend: Backend) -> None:  # noqa: ARG001
    rush = full(seats=1, waiting=1)
    drop(rush, rush.students[0], rush.sections[0])  # no worker is enqueued
    with running(("worker", "promote"), ("scheduler",)):
        wait_for(lambda: held(rush) == {rush.students[1]})
        assert claim(rush, rush.students[2], rush.sections[0]).outcome is Outcome.WAITLISTED
