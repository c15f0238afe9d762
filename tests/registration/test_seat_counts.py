"""What can be promised to those in line by the counts of a section, its pool and its reserves."""

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
    """Of a full section of two seats, for which three wait."""
    full = {"capacity": 2, "taken": 2, "waiting": 3, "waitlist_capacity": 9, "status": "OPEN"}
    return SeatCounts(**{"section": section, "seq": 1, **full, **counts})


def test_each_free_seat_goes_to_one_in_line() -> None:
    assert waitlist_outlook(seats(capacity=4)) == WaitlistOutlook(waiting=3, open=2)
    assert waitlist_outlook(seats(capacity=9)) == WaitlistOutlook(waiting=3, open=3)


def test_nothing_is_promised_to_whom_was_passed_over() -> None:
    assert waitlist_outlook(seats(capacity=9, passed=2)) == WaitlistOutlook(waiting=1, open=1)


def test_the_shared_seats_have_to_be_free_too() -> None:
    shared = {"capacity": 9, "pool_capacity": 4}
    assert waitlist_outlook(seats(**shared, pool_taken=4)) == WaitlistOutlook(
        waiting=3, pool_full=True
    )
    assert waitlist_outlook(seats(**shared, pool_taken=3)) == WaitlistOutlook(waiting=3, open=1)


def test_kept_seats_are_promised_only_to_whom_they_are_kept_for() -> None:
    assert waitlist_outlook(seats(capacity=4, kept=1)) == WaitlistOutlook(
        waiting=3, open=1, reserved=1
    )
    assert waitlist_outlook(seats(capacity=4, kept=5)) == WaitlistOutlook(waiting=3, reserved=2)


def test_where_nobody_can_come_in_nothing_is_promised() -> None:
    assert waitlist_outlook(seats(capacity=4, status="CLOSED")) == WaitlistOutlook(waiting=0)


def test_the_words_say_why_nobody_gets_one() -> None:
    assert list(outlook_in_words(WaitlistOutlook(0))) == []
    assert "all shared seats are taken" in " ".join(
        outlook_in_words(WaitlistOutlook(2, pool_full=True))
    )
    assert "none is free" in " ".join(outlook_in_words(WaitlistOutlook(2)))
    said = " ".join(outlook_in_words(WaitlistOutlook(3, 1, 1)))
    assert "The first student on the waitlist gets a seat at once" in said
    assert "1 seat is reserved" in said


def test_a_seat_that_is_given_up_goes_to_the_lines_of_all_that_share_it() -> None:
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


def test_who_was_passed_over_is_asked_again_for_another_seat() -> None:
    assert set(reached_waitlists(seats(taken=1, waiting=1, passed=1), [])) == {1}


def test_a_reserve_keeps_what_is_not_held_under_it_until_its_time_is_over() -> None:
    past = datetime.now(UTC) - timedelta(hours=1)
    reserves = [ReserveView(1, 3, {}, None), ReserveView(2, 4, {}, past)]
    assert reserved_left(reserves, {1: 1}) == 2
    assert reserved_left(reserves, {1: 5}) == 0
