"""Totals of sections, also of some that share seats."""

from portal.ledger.types import SeatCounts
from portal.registration.seat_counts import Totals, totals


def seats(
    section: int, taken: int = 0, waiting: int = 0, pool: tuple[int, int] | None = None
) -> SeatCounts:
    """Return the counts of a section with 10 seats; `pool` = capacity and seats taken."""
    shared = pool or (None, 0)
    return SeatCounts(section, 10, taken, waiting, 5, "OPEN", 1, 0, 0, *shared)


def test_totals_add_up_sections() -> None:
    assert totals([seats(1, 4, 1), seats(2, 12)], {}) == Totals(20, 16, 6, 1, over=2)
    assert totals([], {}) == Totals()


def test_taken_free_and_reserved_seats_add_up_to_those_offered_and_those_over_capacity() -> None:
    reserved = SeatCounts(3, 10, 4, 0, 5, "OPEN", 1, 0, 2)
    found = totals([seats(1, 4, 1), seats(2, 12), reserved, seats(4, 2, pool=(8, 11))], {4: 70})
    assert found.reserved == 2
    assert found.taken + found.free + found.reserved == found.offered + found.over


def test_shared_seats_count_once() -> None:
    three = [seats(each, 1, pool=(12, 3)) for each in (1, 2, 3)]
    assert totals(three, {1: 70, 2: 70, 3: 70}) == Totals(12, 3, 9, 0)
    assert totals([*three, seats(4, 2)], {1: 70, 2: 70, 3: 70}) == Totals(22, 5, 17, 0)


def test_two_pools_count_separately() -> None:
    four = [seats(each, pool=(12, 0)) for each in (1, 2, 3, 4)]
    assert totals(four, {1: 70, 2: 70, 3: 71, 4: 71}) == Totals(24, 0, 24, 0)


def test_seats_taken_by_other_sections_of_the_pool_are_not_offered() -> None:
    assert totals([seats(1, 2, pool=(12, 9))], {1: 70}) == Totals(5, 2, 3, 0)


def test_pool_offers_no_more_seats_than_its_sections() -> None:
    assert totals([seats(1, 2, pool=(99, 2))], {1: 70}) == Totals(10, 2, 8, 0)


def test_reduced_pool_has_no_free_seat() -> None:
    two = [seats(1, 6, pool=(8, 11)), seats(2, 5, pool=(8, 11))]
    assert totals(two, {1: 70, 2: 70}) == Totals(8, 11, 0, 0, over=3)
