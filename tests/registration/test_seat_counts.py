"""Promises to waiting students by the counts of a section, its pool and its reserves."""

from datetime import UTC, datetime, timedelta
from typing import Any

from portal.catalog.views import ReserveView
from portal.ledger.types import SeatCounts
from portal.registration.seat_counts import (
    WaitlistOutlook,
    outlook_in_words,
    reached_waitlists,
    reserved_left,
    waitlist_outlook,
)


def seats(section: int = 1, **counts: Any) -> SeatCounts:
    """Return the counts of a full section of two seats with three waiting students."""
    full = {"capacity": 2, "taken": 2, "waiting": 3, "waitlist_capacity": 9, "status": "OPEN"}
    return SeatCounts(**{"section": section, "seq": 1, **full, **counts})


def test_each_free_seat_goes_to_one_waiting_student() -> None:
    assert waitlist_outlook(seats(capacity=4)) == WaitlistOutlook(waiting=3, open=2)
    assert waitlist_outlook(seats(capacity=9)) == WaitlistOutlook(waiting=3, open=3)


def test_skipped_students_are_promised_nothing() -> None:
    assert waitlist_outlook(seats(capacity=9, skipped=2)) == WaitlistOutlook(waiting=1, open=1)


def test_seats_of_the_pool_must_be_free_too() -> None:
    shared = {"capacity": 9, "pool_capacity": 4}
    assert waitlist_outlook(seats(**shared, pool_taken=4)) == WaitlistOutlook(
        waiting=3, pool_full=True
    )
    assert waitlist_outlook(seats(**shared, pool_taken=3)) == WaitlistOutlook(waiting=3, open=1)


def test_reserved_seats_are_promised_only_to_their_cohort() -> None:
    assert waitlist_outlook(seats(capacity=4, kept=1)) == WaitlistOutlook(
        waiting=3, open=1, reserved=1
    )
    assert waitlist_outlook(seats(capacity=4, kept=5)) == WaitlistOutlook(waiting=3, reserved=2)


def test_nothing_is_promised_without_free_seats() -> None:
    assert waitlist_outlook(seats(capacity=4, status="CLOSED")) == WaitlistOutlook(waiting=0)


def test_text_explains_why_no_student_gets_a_seat() -> None:
    assert list(outlook_in_words(WaitlistOutlook(0))) == []
    assert "all shared seats are taken" in " ".join(
        outlook_in_words(WaitlistOutlook(2, pool_full=True))
    )
    assert "none is free" in " ".join(outlook_in_words(WaitlistOutlook(2)))
    text = " ".join(outlook_in_words(WaitlistOutlook(3, 1, 1)))
    assert "The first student on the waitlist gets a seat at once" in text
    assert "1 seat is reserved" in text


def test_dropped_seat_reaches_all_waitlists_of_its_pool() -> None:
    shared: Any = {"pool_capacity": 2, "pool_taken": 1, "capacity": 2}
    left = seats(1, taken=1, waiting=0, **shared)
    assert set(reached_waitlists(left, [seats(2, taken=0, **shared)])) == {2}
    assert set(reached_waitlists(left, [seats(2, taken=2, **shared)])) == set(), (
        "its own seats are taken"
    )
    assert set(reached_waitlists(seats(1, taken=1, **shared), [seats(2, taken=0, **shared)])) == {
        1,
        2,
    }


def test_skipped_students_are_considered_for_another_seat() -> None:
    assert set(reached_waitlists(seats(taken=1, waiting=1, skipped=1), [])) == {1}


def test_reserve_counts_its_untaken_seats_until_it_ends() -> None:
    past = datetime.now(UTC) - timedelta(hours=1)
    reserves = [ReserveView(1, 3, {}, None), ReserveView(2, 4, {}, past)]
    assert reserved_left(reserves, {1: 1}) == 2
    assert reserved_left(reserves, {1: 5}) == 0
