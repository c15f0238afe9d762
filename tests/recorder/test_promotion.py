"""A free seat goes to the head of its list, by a real worker, at once."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest
from sqlalchemy import select

from portal.backend import Backend, backend
from portal.core.db import transaction
from portal.core.queue import enqueue
from portal.ledger.types import Decision, Outcome
from portal.people.models import Hold, Student
from portal.recorder.consistency.audit import audit
from portal.recorder.models import WaitlistEntry
from tests.recorder.processes import caught_up, ready, running, wait_for
from tests.recorder.rush import Rush, a_rush, claim, drop, spec


@pytest.fixture
def workers(backend: Backend) -> Iterator[None]:  # noqa: ARG001
    """A worker of each queue that a promotion needs."""
    with running(("worker", "promote"), ("worker", "record")):
        ready("promote", "record")
        yield


def full(seats: int, waiting: int) -> Rush:
    """A full section with a list."""
    rush = a_rush(sections=1, students=seats + waiting + 1, capacity=seats, waitlist=waiting + 1)
    for student in rush.students[: seats + waiting]:
        claim(rush, student, rush.sections[0])
    return rush


def held(rush: Rush, section: int = 0) -> set[int]:
    """Who has a seat in a section, the first unless another is named."""
    roster = backend().redis.hkeys(f"{{t:{rush.term}}}:roster:{section or rush.sections[0]}")
    return {int(student) for student in roster}


def told(rush: Rush, answer: Decision) -> None:
    """What a web node does after a decision."""
    enqueue(rush.term, answer.wake)


@pytest.mark.usefixtures("workers")
def test_a_dropped_seat_is_the_heads_within_a_second() -> None:
    rush = full(seats=1, waiting=2)
    first, second, third, _ = rush.students
    # The first job of a worker also reads the catalogue.
    told(rush, drop(rush, first, rush.sections[0]))
    wait_for(lambda: held(rush) == {second})
    told(rush, drop(rush, second, rush.sections[0]))
    wait_for(lambda: held(rush) == {third})
    wait_for(lambda: caught_up(rush.term))
    assert audit()["clean"]


@pytest.mark.usefixtures("workers")
def test_a_newcomer_can_not_take_it_meanwhile() -> None:
    rush = full(seats=1, waiting=2)
    answer = drop(rush, rush.students[0], rush.sections[0])
    refused = claim(rush, rush.students[3], rush.sections[0], wait=False)
    assert [reason.code for reason in refused.reasons] == ["full"]
    told(rush, answer)
    wait_for(lambda: held(rush) == {rush.students[1]})


@pytest.mark.usefixtures("workers")
def test_a_seat_that_a_promotion_frees_goes_to_its_own_list_without_the_clock() -> None:
    rush = a_rush(sections=2, students=3, capacity=1)
    new, old = rush.sections
    leaver, swapper, last = rush.students
    claim(rush, leaver, new)
    claim(rush, swapper, old)
    claim(rush, swapper, new, instead=old)
    claim(rush, last, old)
    told(rush, drop(rush, leaver, new))
    wait_for(lambda: held(rush) == {swapper} and held(rush, old) == {last})


@pytest.mark.usefixtures("workers")
def test_many_drops_at_once_promote_as_many() -> None:
    rush = full(seats=20, waiting=30)
    for student in rush.students[:15]:
        told(rush, drop(rush, student, rush.sections[0]))
    wait_for(lambda: len(held(rush)) == 20)
    assert held(rush) == set(rush.students[15:35])
    wait_for(lambda: caught_up(rush.term))
    assert audit()["clean"]


@pytest.mark.usefixtures("workers")
def test_added_seats_are_the_lists() -> None:
    rush = full(seats=1, waiting=3)
    change = backend().ledger.put_section(
        rush.term, spec(rush.sections[0], capacity=3, waitlist=4, version=2)
    )
    enqueue(rush.term, change.wake)
    wait_for(lambda: held(rush) == set(rush.students[:3]))


@pytest.mark.usefixtures("workers")
def test_a_head_with_a_hold_is_passed_over_and_keeps_the_place() -> None:
    rush = full(seats=1, waiting=2)
    first, second, third, _ = rush.students
    with transaction() as session:
        session.add(Hold(student_id=second, kind="financial", reason="Fee unpaid", office="Bursar"))
    told(rush, drop(rush, first, rush.sections[0]))
    wait_for(lambda: held(rush) == {third})
    wait_for(lambda: caught_up(rush.term))
    with transaction() as session:
        place = session.scalars(select(WaitlistEntry).filter_by(student_id=second)).one()
    assert place.state == "passed"
    assert [reason["code"] for reason in place.reasons] == ["hold"]
    assert audit()["clean"]


@pytest.mark.usefixtures("workers")
def test_a_head_without_a_record_stops_nobody() -> None:
    rush = full(seats=1, waiting=2)
    first, second, third, _ = rush.students
    with transaction() as session:
        session.get_one(Student, second).deleted_at = datetime.now(UTC)
    told(rush, drop(rush, first, rush.sections[0]))
    wait_for(lambda: held(rush) == {third})


@pytest.mark.usefixtures("workers")
def test_nobody_is_promoted_once_the_window_is_shut() -> None:
    rush = full(seats=1, waiting=1)
    answer = drop(rush, rush.students[0], rush.sections[0])
    backend().ledger.close_window(rush.term, rush.window, "max")
    told(rush, answer)
    wait_for(lambda: not backend().ledger.vacant(rush.term))
    assert held(rush) == set()
    standing = backend().ledger.registrations(rush.term, rush.students[1])
    assert [reason.code for reason in standing.waiting[0].reasons] == ["window_ended"]


def test_a_promoter_that_was_killed_is_made_good_for(backend: Backend) -> None:  # noqa: ARG001
    rush = full(seats=1, waiting=1)
    drop(rush, rush.students[0], rush.sections[0])  # and nobody calls
    with running(("worker", "promote"), ("scheduler",)):
        wait_for(lambda: held(rush) == {rush.students[1]})
        assert claim(rush, rush.students[2], rush.sections[0]).outcome is Outcome.WAITLISTED
