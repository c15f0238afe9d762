"""A waitlist is first come, first served, and has a limited length."""

from portal.ledger.types import Outcome
from tests.ledger.requests import TERM, Desk, codes, facts


def test_full_section_waitlists_students_with_their_positions(desk: Desk) -> None:
    desk.section(12, capacity=1, waitlist=2)
    assert desk.claim(501, 12).outcome == Outcome.ENROLLED
    first, second = desk.claim(502, 12), desk.claim(503, 12)
    assert [first.outcome, second.outcome] == [Outcome.WAITLISTED] * 2
    assert [first.position, second.position] == [1, 2]
    assert desk.queue(12) == [502, 503]
    assert second.seats
    assert second.seats.waiting == 2


def test_a_full_waitlist_is_refused_with_its_size(desk: Desk) -> None:
    desk.section(12, capacity=0, waitlist=1)
    desk.claim(501, 12)
    refused = desk.claim(502, 12)
    assert facts(refused, "waitlist_full") == {"waiting": 1, "waitlist_capacity": 1}


def test_claim_without_waiting_is_refused_as_full(desk: Desk) -> None:
    desk.section(12, capacity=0, waitlist=9)
    refused = desk.claim(501, 12, wait=False)
    assert facts(refused, "full") == {"waiting": 0, "waitlist_capacity": 9}


def test_new_student_cannot_take_a_free_seat_while_students_wait(desk: Desk) -> None:
    desk.section(12, capacity=1)
    desk.claim(501, 12)
    desk.claim(502, 12)
    desk.drop(501, 12)
    assert codes(desk.claim(503, 12, wait=False)) == ["full"]
    assert desk.claim(503, 12).position == 2


def test_skipped_student_keeps_the_position_but_does_not_block_the_seat(desk: Desk) -> None:
    desk.section(12, capacity=1)
    desk.claim(501, 12)
    desk.claim(502, 12)
    desk.drop(501, 12)
    desk.promote(12, 502, credit_limit=0)
    assert desk.claim(503, 12, wait=False).outcome == Outcome.ENROLLED
    assert desk.claim(504, 12).position == 2
    assert desk.queue(12) == [502, 504]


def test_skipped_position_counts_in_the_waitlists_length(desk: Desk) -> None:
    desk.section(12, capacity=1, waitlist=1)
    desk.claim(501, 12)
    desk.claim(502, 12)
    desk.drop(501, 12)
    desk.promote(12, 502, credit_limit=0)
    desk.claim(503, 12)
    assert codes(desk.claim(504, 12)) == ["waitlist_full"]


def test_leaving_needs_no_open_window_and_moves_the_others_up(desk: Desk) -> None:
    desk.section(12, capacity=0)
    desk.claim(501, 12)
    desk.claim(502, 12)
    desk.ledger.close_window(TERM, 1, "registrar")
    answer = desk.leave(501, 12)
    assert answer.outcome == Outcome.LEFT
    assert answer.seats
    assert answer.seats.waiting == 1
    assert desk.ledger.registrations(TERM, 502).waiting[0].position == 1


def test_leave_without_a_waitlist_position_is_refused(desk: Desk) -> None:
    desk.section(12)
    assert codes(desk.leave(501, 12)) == ["not_waiting"]
    assert codes(desk.leave(501, 99)) == ["not_waiting"]


def test_free_seat_is_open_to_all_when_the_last_waiting_student_leaves(desk: Desk) -> None:
    desk.section(12, capacity=1)
    desk.claim(501, 12)
    desk.claim(502, 12)
    desk.drop(501, 12)
    assert desk.ledger.vacant(TERM) == {12}
    desk.leave(502, 12)
    assert desk.ledger.vacant(TERM) == set()
    assert desk.claim(503, 12, wait=False).outcome == Outcome.ENROLLED


def test_student_who_rejoins_is_last(desk: Desk) -> None:
    desk.section(12, capacity=0)
    desk.claim(501, 12)
    desk.claim(502, 12)
    desk.leave(501, 12)
    desk.claim(501, 12)
    assert desk.queue(12) == [502, 501]
