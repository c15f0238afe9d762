"""Sections of a pool share seats: both capacities decide a claim, and counts change together."""

from typing import Any

import pytest

from portal.ledger.types import Claim, LedgerChoice, Outcome, PoolSpec
from tests.ledger.requests import TERM, Desk, codes

POOL = PoolSpec(70, capacity=2, version=1)


@pytest.fixture
def pooled(desk: Desk) -> Desk:
    """Store sections 1, 2 and 3, which share two seats; each has five of its own."""
    for section in (1, 2, 3):
        desk.section(section, 5, pool=POOL)
    return desk


def counts(desk: Desk) -> dict[int, tuple[int, int, int]]:
    seats = desk.ledger.seats(TERM)
    return {section: (each.taken, each.pool_taken, each.open) for section, each in seats.items()}


def test_seat_of_a_pool_is_taken_from_all_its_sections(pooled: Desk) -> None:
    pooled.claim(501, 1)
    assert counts(pooled) == {1: (1, 1, 1), 2: (0, 1, 1), 3: (0, 1, 1)}
    pooled.claim(502, 2)
    assert counts(pooled) == {1: (1, 2, 0), 2: (1, 2, 0), 3: (0, 2, 0)}
    assert codes(pooled.claim(503, 3, wait=False)) == ["full"]
    assert pooled.claim(503, 3).outcome == Outcome.WAITLISTED


def test_ledger_returns_the_sections_of_a_pool(pooled: Desk) -> None:
    pooled.section(4, 5)
    assert pooled.ledger.pools(TERM) == {1: 70, 2: 70, 3: 70}
    pooled.section(3, 5, version=2)
    assert pooled.ledger.pools(TERM) == {1: 70, 2: 70}


def test_section_in_a_pool_respects_its_own_capacity(pooled: Desk) -> None:
    pooled.section(1, 1, pool=POOL, version=2)
    pooled.claim(501, 1)
    assert codes(pooled.claim(502, 1, wait=False)) == ["full"]
    assert pooled.claim(502, 2).outcome == Outcome.ENROLLED


def test_event_has_all_changed_counts_of_the_pool(pooled: Desk) -> None:
    seq = pooled.claim(501, 1).seq
    event = pooled.last_event()
    result = {each["section"]: each["seats"]["pool_taken"] for each in event["also"]}
    assert (event["seats"]["pool_taken"], result) == (1, {2: 1, 3: 1})
    assert {each.seq for each in pooled.ledger.seats(TERM).values()} == {seq}


def test_event_without_a_seat_has_no_other_section(pooled: Desk) -> None:
    pooled.claim(501, 1)
    pooled.claim(502, 1)
    pooled.claim(503, 1)
    assert "also" not in pooled.last_event()


def test_freed_seat_of_a_pool_goes_to_the_longest_waiting_student(pooled: Desk) -> None:
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


def test_new_student_does_not_overtake_another_waitlist_of_the_pool(pooled: Desk) -> None:
    pooled.claim(501, 1)
    pooled.claim(502, 1)
    pooled.claim(601, 2)
    pooled.drop(501, 1)
    assert codes(pooled.claim(701, 3, wait=False)) == ["full"]
    assert codes(pooled.adjust(701, add=3)) == ["full"]
    assert pooled.adjust(601, add=2).outcome == Outcome.ENROLLED


def test_student_who_cannot_have_the_seat_blocks_no_one(pooled: Desk) -> None:
    """The waitlist of a full section has no claim to a seat of the pool."""
    pooled.section(2, 0, pool=POOL, version=2)
    pooled.claim(601, 2)
    assert pooled.claim(501, 1).outcome == Outcome.ENROLLED


def test_freed_seat_of_a_pool_gives_skipped_students_another_chance(
    pooled: Desk,
) -> None:
    pooled.claim(501, 1)
    pooled.claim(502, 1)
    pooled.claim(601, 2)
    pooled.drop(501, 1)
    assert pooled.promote(2, credit_limit=0).skipped == (601,)
    assert pooled.claim(503, 1).outcome == Outcome.ENROLLED
    pooled.drop(502, 1)
    assert pooled.last_event()["name"] == "reconsidered"
    assert pooled.promote(2).promoted == (601,)


def test_two_sections_of_a_pool_in_one_alternative_need_two_seats(pooled: Desk) -> None:
    pooled.claim(501, 3)
    pair = LedgerChoice(((Claim(1, 400), Claim(2, 400)),))
    [line] = pooled.submit(502, pair).results
    assert line.outcome == Outcome.REFUSED
    assert counts(pooled)[1] == (0, 1, 1)
    pooled.drop(501, 3)
    [line] = pooled.submit(502, pair).results
    assert line.outcome == Outcome.ENROLLED
    assert counts(pooled)[3] == (0, 2, 0)


def test_student_can_swap_within_a_full_pool(pooled: Desk) -> None:
    pooled.claim(501, 1)
    pooled.claim(502, 1)
    assert pooled.claim(501, 2, swap_out=1, wait=False).outcome == Outcome.ENROLLED
    assert pooled.adjust(502, add=3, drop=1).outcome == Outcome.ENROLLED
    assert counts(pooled) == {1: (0, 2, 0), 2: (1, 2, 0), 3: (1, 2, 0)}


def test_swap_within_a_full_pool_does_not_overtake_waiting_students(pooled: Desk) -> None:
    pooled.claim(501, 1)
    pooled.claim(502, 1)
    pooled.claim(601, 1)
    assert codes(pooled.claim(501, 2, swap_out=1, wait=False)) == ["full"]


def test_larger_pool_enqueues_the_promoter_and_smaller_pool_removes_no_student(
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


def test_section_that_leaves_a_pool_takes_its_seats(pooled: Desk) -> None:
    for student in (501, 502):
        pooled.claim(student, 1)
    pooled.claim(601, 2)
    pooled.section(1, 5, pool=None, version=2)
    seats: Any = pooled.ledger.seats(TERM)
    assert (seats[1].pool_capacity, seats[1].open) == (None, 3)
    assert (seats[2].pool_taken, seats[2].open) == (0, 2)
    assert pooled.ledger.vacant(TERM) == {2}


def test_pool_without_sections_is_removed(desk: Desk) -> None:
    desk.section(1, 5, pool=POOL)
    desk.section(1, 5, version=2)
    assert desk.redis.keys("*pool*") == []


def test_a_canceled_section_gives_its_seats_back_to_the_pool(pooled: Desk) -> None:
    for student, section in ((501, 1), (502, 1), (601, 2)):
        pooled.claim(student, section)
    pooled.section(1, 5, pool=POOL, status="CANCELED", version=2)
    assert counts(pooled)[2] == (0, 0, 2)
    assert pooled.promote(2).promoted == (601,)


def test_section_over_capacity_frees_no_seat_of_its_pool(pooled: Desk) -> None:
    for student in (501, 502):
        pooled.claim(student, 1)
    pooled.adjust(503, add=2, overrides=["full"])
    assert counts(pooled) == {1: (2, 3, 0), 2: (1, 3, 0), 3: (0, 3, 0)}
    pooled.drop(501, 1)
    assert counts(pooled)[3] == (0, 2, 0)


def test_claim_outside_the_pool_needs_no_more_commands(pooled: Desk) -> None:
    pooled.section(9)
    pooled.redis.config_resetstat()
    pooled.claim(501, 9)
    assert "cmdstat_smembers" not in pooled.redis.info("commandstats")
