"""Sums over sections, of which some share their seats."""

from portal.ledger.types import SeatCounts
from portal.registration.seat_counts import Totals, totals


def seats(
    section: int, taken: int = 0, waiting: int = 0, pool: tuple[int, int] | None = None
) -> SeatCounts:
    """Of a section with 10 seats of its own; `pool` = capacity and seats taken."""
    shared = pool or (None, 0)
    return SeatCounts(section, 10, taken, waiting, 5, "OPEN", 1, 0, 0, *shared)


def test_sections_are_added_up() -> None:
    assert totals([seats(1, 4, 1), seats(2, 12)], {}) == Totals(20, 16, 6, 1)
    assert totals([], {}) == Totals()


def test_seats_that_are_shared_count_once() -> None:
    three = [seats(each, 1, pool=(12, 3)) for each in (1, 2, 3)]
    assert totals(three, {1: 70, 2: 70, 3: 70}) == Totals(12, 3, 9, 0)
    assert totals([*three, seats(4, 2)], {1: 70, 2: 70, 3: 70}) == Totals(22, 5, 17, 0)


def test_two_pools_are_no_one_pool() -> None:
    four = [seats(each, pool=(12, 0)) for each in (1, 2, 3, 4)]
    assert totals(four, {1: 70, 2: 70, 3: 71, 4: 71}) == Totals(24, 0, 24, 0)


def test_what_the_other_sections_of_the_pool_have_taken_is_not_offered() -> None:
    assert totals([seats(1, 2, pool=(12, 9))], {1: 70}) == Totals(5, 2, 3, 0)


def test_a_pool_larger_than_its_sections_offers_no_more_than_they_do() -> None:
    assert totals([seats(1, 2, pool=(99, 2))], {1: 70}) == Totals(10, 2, 8, 0)


def test_a_pool_that_was_made_smaller_has_nothing_free() -> None:
    two = [seats(1, 6, pool=(8, 11)), seats(2, 5, pool=(8, 11))]
    assert totals(two, {1: 70, 2: 70}) == Totals(8, 11, 0, 0)
