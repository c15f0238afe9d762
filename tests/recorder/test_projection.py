"""The effect of each event on the event log and the read models."""

from typing import Any

import pytest
from sqlalchemy import select

from portal.backend import Backend, backend
from portal.core.db import Base, transaction
from portal.core.moments import milliseconds
from portal.ledger.types import Candidate, Reason
from portal.recorder.models import Enrollment, LoggedEvent, SectionSeats, WaitlistEntry
from portal.recorder.recorder import drain
from portal.windows.models import Window
from tests.recorder.rush import Rush, a_rush, claim, drop, leave, spec


@pytest.fixture
def rush(backend: Backend) -> Rush:  # noqa: ARG001
    """Return a section of one seat with a waitlist of two, and three students."""
    return a_rush(sections=1, students=3, capacity=1, waitlist=2)


def one(model: type[Base], **where: Any) -> Any:
    """Record, and return the only row of its kind."""
    with transaction() as session:
        return session.scalars(select(model).filter_by(**where)).one()


def test_new_section_has_its_counts(rush: Rush) -> None:
    drain(rush.term)
    row = one(SectionSeats)
    assert (row.capacity, row.waitlist_capacity, row.prior, row.status) == (1, 2, 0, "OPEN")
    assert (row.enrolled, row.waiting) == (0, 0)


def test_changed_section_keeps_its_students(rush: Rush) -> None:
    claim(rush, rush.students[0], rush.sections[0])
    drain(rush.term)
    grown = spec(rush.sections[0], capacity=5, prior=2, version=2)
    backend().ledger.put_section(rush.term, grown)
    drain(rush.term)
    row = one(SectionSeats)
    assert (row.capacity, row.prior, row.enrolled) == (5, 2, 1)


def test_claim_enrolls_the_student(rush: Rush) -> None:
    answer = claim(rush, rush.students[0], rush.sections[0])
    drain(rush.term)
    row = one(Enrollment)
    assert (row.state, row.credits, row.registration) == ("enrolled", 300, answer.registration)
    assert milliseconds(row.since) == answer.at
    assert one(SectionSeats).enrolled == 1


def test_drop_ends_the_enrollment(rush: Rush) -> None:
    claim(rush, rush.students[0], rush.sections[0])
    drain(rush.term)
    answer = drop(rush, rush.students[0], rush.sections[0])
    drain(rush.term)
    row = one(Enrollment)
    assert (row.state, row.seq, milliseconds(row.since)) == ("dropped", answer.seq, answer.at)
    assert one(SectionSeats).enrolled == 0


def test_waiting_student_has_a_ticket(rush: Rush) -> None:
    claim(rush, rush.students[0], rush.sections[0])
    answer = claim(rush, rush.students[1], rush.sections[0])
    drain(rush.term)
    row = one(WaitlistEntry)
    assert (row.state, row.ticket, row.credits) == ("waiting", answer.seq, 300)
    assert one(SectionSeats).waiting == 1


def test_leave_ends_the_waitlist_entry(rush: Rush) -> None:
    claim(rush, rush.students[0], rush.sections[0])
    claim(rush, rush.students[1], rush.sections[0])
    drain(rush.term)
    leave(rush, rush.students[1], rush.sections[0])
    drain(rush.term)
    assert one(WaitlistEntry).state == "left"
    assert one(SectionSeats).waiting == 0


def test_rejoined_student_is_last(rush: Rush) -> None:
    first, second, third = rush.students
    for student in (first, second, third):
        claim(rush, student, rush.sections[0])
    leave(rush, second, rush.sections[0])
    answer = claim(rush, second, rush.sections[0])
    drain(rush.term)
    row = one(WaitlistEntry, student_id=second)
    assert (row.state, row.ticket) == ("waiting", answer.seq)


def promote(rush: Rush, student: int, *rules: Reason) -> None:
    candidate = Candidate(student, (rush.window,), 10_000, rules=rules)
    backend().ledger.promote(rush.term, rush.sections[0], [candidate], "a test")


def test_promotion_enrolls_the_student(rush: Rush) -> None:
    first, second, _ = rush.students
    claim(rush, first, rush.sections[0])
    claim(rush, second, rush.sections[0])
    drop(rush, first, rush.sections[0])
    promote(rush, second)
    drain(rush.term)
    assert one(WaitlistEntry).state == "promoted"
    assert one(Enrollment, student_id=second).state == "enrolled"
    row = one(SectionSeats)
    assert (row.enrolled, row.waiting) == (1, 0)


def test_skipped_student_keeps_position_and_reasons(rush: Rush) -> None:
    first, second, _ = rush.students
    claim(rush, first, rush.sections[0])
    claim(rush, second, rush.sections[0])
    drop(rush, first, rush.sections[0])
    promote(rush, second, Reason("hold", {"office": "Bursar"}))
    drain(rush.term)
    row = one(WaitlistEntry)
    assert row.state == "passed"
    assert row.reasons == [{"code": "hold", "facts": {"office": "Bursar"}}]
    assert one(SectionSeats).waiting == 1


def test_freed_seat_lets_skipped_students_wait_again(rush: Rush) -> None:
    first, second, third = rush.students
    for student in (first, second):
        claim(rush, student, rush.sections[0])
    drop(rush, first, rush.sections[0])
    promote(rush, second, Reason("hold"))
    claim(rush, third, rush.sections[0])
    drain(rush.term)
    drop(rush, third, rush.sections[0])
    drain(rush.term)
    row = one(WaitlistEntry, student_id=second)
    assert (row.state, row.reasons) == ("waiting", [])


def test_reconsidered_student_waits_again(rush: Rush) -> None:
    first, second, _ = rush.students
    claim(rush, first, rush.sections[0])
    claim(rush, second, rush.sections[0])
    drop(rush, first, rush.sections[0])
    promote(rush, second, Reason("hold"))
    drain(rush.term)
    backend().ledger.reconsider(rush.term, rush.sections[0])
    drain(rush.term)
    assert one(WaitlistEntry).state == "waiting"


def test_window_has_times_and_cohort(backend: Backend, rush: Rush) -> None:
    opens = backend.ledger.now() + 60_000
    cohort = {"years": ["Senior"]}
    backend.ledger.put_window(rush.term, 77, "Seniors", opens, opens + 1234, cohort, "max")
    drain(rush.term)
    row = one(Window, id=77)
    assert (row.term_id, row.name, row.state) == (rush.term, "Seniors", "scheduled")
    assert (milliseconds(row.opens_at), milliseconds(row.closes_at)) == (opens, opens + 1234)
    assert row.cohort == cohort


def test_canceled_window_is_canceled(backend: Backend, rush: Rush) -> None:
    opens = backend.ledger.now() + 60_000
    backend.ledger.put_window(rush.term, 77, "Seniors", opens, opens + 1, {}, "max")
    backend.ledger.cancel_window(rush.term, 77, "max")
    drain(rush.term)
    assert one(Window, id=77).state == "canceled"


def test_opening_and_closing_are_in_the_log(backend: Backend, rush: Rush) -> None:
    backend.ledger.close_window(rush.term, rush.window, "max")
    backend.ledger.turn(rush.term)
    drain(rush.term)
    with transaction() as session:
        found = session.scalars(select(LoggedEvent).filter_by(aggregate=f"window:{rush.window}"))
        names = [event.name for event in found.unique()]
    assert sorted(names) == ["window_closed", "window_opened", "window_set", "window_set"]
    assert one(Window, id=rush.window).state == "closed"


def test_log_has_actor_action_time_and_reason(rush: Rush) -> None:
    answer = claim(rush, rush.students[0], rush.sections[0])
    drain(rush.term)
    event = one(LoggedEvent, seq=answer.seq)
    assert (event.name, event.version) == ("enrolled", 1)
    assert event.aggregate == f"section:{rush.sections[0]}"
    assert event.student_id == rush.students[0]
    actor = f"student:{rush.students[0]}"
    context = {"actor": actor, "correlation": "rush", "cause": "submit", "request": ""}
    context |= {"during": rush.window}
    assert event.context == context
    assert event.payload["seats"]["taken"] == 1
    assert milliseconds(event.occurred_at) == answer.at
    assert event.recorded_at is not None
