"""Sections of a pool share seats: a claim is decided by both capacities, counts move together."""

from typing import Any

import pytest

from portal.ledger.types import Claim, LedgerChoice, Outcome, PoolSpec
from tests.ledger.requests import TERM, Desk, codes

POOL = PoolSpec(70, capacity=2, version=1)


@pytest.fixture
def pooled(desk: Desk) -> Desk:
    """Sections 1, 2 and 3 share two seats; each has five of its own."""
    for section in (1, 2, 3):
        desk.section(section, 5, pool=POOL)
    return desk


def counts(desk: Desk) -> dict[int, tuple[int, int, int]]:
    seats = desk.ledger.seats(TERM)
    return {section: (each.taken, each.pool_taken, each.open) for section, each in seats.items()}


def test_a_seat_of_one_is_taken_from_all(pooled: Desk) -> None:
    pooled.claim(501, 1)
    assert counts(pooled) == {1: (1, 1, 1), 2: (0, 1, 1), 3: (0, 1, 1)}
    pooled.claim(502, 2)
    assert counts(pooled) == {1: (1, 2, 0), 2: (1, 2, 0), 3: (0, 2, 0)}
    assert codes(pooled.claim(503, 3, wait=False)) == ["full"]
    assert pooled.claim(503, 3).outcome == Outcome.WAITLISTED


def test_it_says_which_sections_share(pooled: Desk) -> None:
    pooled.section(4, 5)
    assert pooled.ledger.pools(TERM) == {1: 70, 2: 70, 3: 70}
    pooled.section(3, 5, version=2)
    assert pooled.ledger.pools(TERM) == {1: 70, 2: 70}


def test_each_keeps_to_its_own_capacity_too(pooled: Desk) -> None:
    pooled.section(1, 1, pool=POOL, version=2)
    pooled.claim(501, 1)
    assert codes(pooled.claim(502, 1, wait=False)) == ["full"]
    assert pooled.claim(502, 2).outcome == Outcome.ENROLLED


def test_one_event_tells_of_all_counts_that_moved(pooled: Desk) -> None:
    seq = pooled.claim(501, 1).seq
    event = pooled.last_event()
    told = {each["section"]: each["seats"]["pool_taken"] for each in event["also"]}
    assert (event["seats"]["pool_taken"], told) == (1, {2: 1, 3: 1})
    assert {each.seq for each in pooled.ledger.seats(TERM).values()} == {seq}


def test_what_moves_no_seat_tells_of_no_other_section(pooled: Desk) -> None:
    pooled.claim(501, 1)
    pooled.claim(502, 1)
    pooled.claim(503, 1)
    assert "also" not in pooled.last_event()


def test_a_freed_seat_goes_to_who_has_waited_longest_in_any_list(pooled: Desk) -> None:
    pooled.claim(501, 1)
    pooled.claim(502, 1)
    for student, section in ((601, 2), (602, 1), (603, 3)):
        pooled.claim(student, section)
    pooled.drop(501, 1)
    assert pooled.ledger.vacant(TERM) == {1, 2, 3}
    assert pooled.promote(1).promoted == ()
    assert pooled.promote(3).promoted == ()
    assert pooled.promote(2).promoted == (601,)
    assert pooled.ledger.vacant(TERM) == set()


def test_nobody_new_comes_before_who_waits_in_another_list(pooled: Desk) -> None:
    pooled.claim(501, 1)
    pooled.claim(502, 1)
    pooled.claim(601, 2)
    pooled.drop(501, 1)
    assert codes(pooled.claim(701, 3, wait=False)) == ["full"]
    assert codes(pooled.adjust(701, add=3)) == ["full"]
    assert pooled.adjust(601, add=2).outcome == Outcome.ENROLLED


def test_who_can_not_have_it_yet_holds_nobody_up(pooled: Desk) -> None:
    """A list whose own section is full has no claim to a seat of the pool."""
    pooled.section(2, 0, pool=POOL, version=2)
    pooled.claim(601, 2)
    assert pooled.claim(501, 1).outcome == Outcome.ENROLLED


def test_who_was_passed_over_is_asked_again_when_any_seat_of_the_pool_is_freed(
    pooled: Desk,
) -> None:
    pooled.claim(501, 1)
    pooled.claim(502, 1)
    pooled.claim(601, 2)
    pooled.drop(501, 1)
    assert pooled.promote(2, limit=0).passed == (601,)
    assert pooled.claim(503, 1).outcome == Outcome.ENROLLED
    pooled.drop(502, 1)
    assert pooled.last_event()["name"] == "reconsidered"
    assert pooled.promote(2).promoted == (601,)


def test_two_sections_of_a_pool_in_one_wish_are_two_seats(pooled: Desk) -> None:
    pooled.claim(501, 3)
    pair = LedgerChoice(((Claim(1, 400), Claim(2, 400)),))
    [line] = pooled.submit(502, pair).lines
    assert line.outcome == Outcome.REFUSED
    assert counts(pooled)[1] == (0, 1, 1)
    pooled.drop(501, 3)
    [line] = pooled.submit(502, pair).lines
    assert line.outcome == Outcome.ENROLLED
    assert counts(pooled)[3] == (0, 2, 0)


def test_one_can_change_to_another_code_of_a_full_class(pooled: Desk) -> None:
    pooled.claim(501, 1)
    pooled.claim(502, 1)
    assert pooled.claim(501, 2, instead=1, wait=False).outcome == Outcome.ENROLLED
    assert pooled.adjust(502, add=3, drop=1).outcome == Outcome.ENROLLED
    assert counts(pooled) == {1: (0, 2, 0), 2: (1, 2, 0), 3: (1, 2, 0)}


def test_but_not_past_who_waits_for_the_seat_that_would_come_free(pooled: Desk) -> None:
    pooled.claim(501, 1)
    pooled.claim(502, 1)
    pooled.claim(601, 1)
    assert codes(pooled.claim(501, 2, instead=1, wait=False)) == ["full"]


def test_a_larger_pool_calls_the_promoter_and_a_smaller_one_throws_nobody_out(
    pooled: Desk,
) -> None:
    for student in (501, 502, 601):
        pooled.claim(student, 1)
    pooled.clear_woken()
    change = pooled.section(2, 5, pool=PoolSpec(70, 3, 2), version=2)
    assert "promote" in change.wake
    assert pooled.promote(1).promoted == (601,)
    pooled.section(3, 5, pool=PoolSpec(70, 1, 3), version=2)
    assert counts(pooled) == {1: (3, 3, 0), 2: (0, 3, 0), 3: (0, 3, 0)}
    assert {each.pool_capacity for each in pooled.ledger.seats(TERM).values()} == {1}


def test_an_older_version_of_a_pool_changes_nothing(pooled: Desk) -> None:
    pooled.section(2, 5, pool=PoolSpec(70, 9, 1), version=2)
    assert {each.pool_capacity for each in pooled.ledger.seats(TERM).values()} == {2}


def test_a_section_that_leaves_takes_its_seats_along(pooled: Desk) -> None:
    for student in (501, 502):
        pooled.claim(student, 1)
    pooled.claim(601, 2)
    pooled.section(1, 5, pool=None, version=2)
    seats: Any = pooled.ledger.seats(TERM)
    assert (seats[1].pool_capacity, seats[1].open) == (None, 3)
    assert (seats[2].pool_taken, seats[2].open) == (0, 2)
    assert pooled.ledger.vacant(TERM) == {2}


def test_a_pool_without_sections_is_forgotten(desk: Desk) -> None:
    desk.section(1, 5, pool=POOL)
    desk.section(1, 5, version=2)
    assert desk.redis.keys("*pool*") == []


def test_a_canceled_section_gives_its_seats_back_to_the_pool(pooled: Desk) -> None:
    for student, section in ((501, 1), (502, 1), (601, 2)):
        pooled.claim(student, section)
    pooled.section(1, 5, pool=POOL, status="CANCELED", version=2)
    assert counts(pooled)[2] == (0, 0, 2)
    assert pooled.promote(2).promoted == (601,)


def test_a_person_over_capacity_makes_nothing_free_for_the_others(pooled: Desk) -> None:
    for student in (501, 502):
        pooled.claim(student, 1)
    pooled.adjust(503, add=2, overrides=["full"])
    assert counts(pooled) == {1: (2, 3, 0), 2: (1, 3, 0), 3: (0, 3, 0)}
    pooled.drop(501, 1)
    assert counts(pooled)[3] == (0, 2, 0)


def test_a_claim_elsewhere_costs_nothing_more_for_it(pooled: Desk) -> None:
    pooled.section(9)
    pooled.redis.config_resetstat()
    pooled.claim(501, 9)
    assert "cmdstat_smembers" not in pooled.redis.info("commandstats")
