"""Seats that are kept for a cohort: others neither see nor take them, until they fall open."""

from typing import Any

import pytest

from portal.ledger.types import Outcome, PoolSpec, ReserveSpec
from tests.ledger.requests import OPEN, TERM, Desk, codes, facts

JUNIORS = 61
MINE: dict[str, Any] = {"reserves": (JUNIORS,)}


@pytest.fixture
def kept(desk: Desk) -> Desk:
    """Section 1 has three seats, of which two are kept for juniors."""
    desk.section(1, 3, reserves=(ReserveSpec(JUNIORS, 2),))
    return desk


def seats(desk: Desk) -> tuple[int, int, int]:
    found = desk.ledger.seats(TERM)[1]
    return found.taken, found.kept, found.open


def test_others_see_and_take_only_what_is_not_kept(kept: Desk) -> None:
    assert seats(kept) == (0, 2, 1)
    kept.claim(501, 1)
    assert seats(kept) == (1, 2, 0)
    refused = kept.claim(502, 1, wait=False)
    keepers = {"kept": 2, "kept_for": [JUNIORS]}
    assert facts(refused, "full") == {"waiting": 0, "waitlist_capacity": 5, **keepers}
    assert codes(kept.adjust(502, add=1)) == ["full"]


def test_who_it_is_for_takes_a_kept_seat_first(kept: Desk) -> None:
    kept.claim(701, 1, **MINE)
    assert seats(kept) == (1, 1, 1)
    assert kept.last_event()["reserve"] == JUNIORS
    kept.claim(702, 1, **MINE)
    kept.claim(703, 1, **MINE)
    assert "reserve" not in kept.last_event()
    assert kept.ledger.reserved(TERM, 1) == {JUNIORS: 2}
    assert codes(kept.claim(704, 1, wait=False, **MINE)) == ["full"]


def test_of_two_reserves_the_first_that_keeps_a_seat_gives_it(desk: Desk) -> None:
    desk.section(1, 4, reserves=(ReserveSpec(61, 1), ReserveSpec(62, 1)))
    for student in (501, 502):
        desk.claim(student, 1, reserves=(62, 61))
    assert desk.ledger.reserved(TERM, 1) == {61: 1, 62: 1}


def test_a_kept_seat_that_is_given_up_is_kept_again(kept: Desk) -> None:
    kept.claim(701, 1, **MINE)
    kept.drop(701, 1)
    assert (seats(kept), kept.ledger.reserved(TERM, 1)) == ((0, 2, 1), {})


def test_it_skips_those_it_is_not_for_without_a_mark(kept: Desk) -> None:
    for student, cohort in ((501, {}), (701, MINE), (702, MINE), (601, {}), (703, MINE)):
        kept.claim(student, 1, **cohort)
    before = len(kept.events())
    kept.drop(701, 1)
    assert kept.ledger.vacant(TERM) == {1}
    assert kept.ledger.head(TERM, 1, 9) == [601, 703]
    said = kept.promote(1, 601)
    assert (said.aside, said.promoted, said.passed, said.more) == ((601,), (), (), True)
    assert kept.ledger.head(TERM, 1, 9) == [703]
    assert kept.promote(1, 703, **MINE).promoted == (703,)
    assert [event["name"] for event in kept.events()[before:]] == ["dropped", "promoted"]
    assert kept.ledger.standing(TERM, 601).waiting[0].reasons == ()
    assert (kept.queue(1), kept.ledger.vacant(TERM)) == ([601], set())


def test_a_kept_seat_that_nobody_in_line_may_have_is_a_newcomers(kept: Desk) -> None:
    kept.claim(501, 1)
    kept.claim(601, 1)
    assert (kept.queue(1), kept.ledger.vacant(TERM)) == ([601], set())
    assert kept.claim(701, 1, **MINE).outcome == Outcome.ENROLLED


def test_but_not_before_those_in_line_were_asked(kept: Desk) -> None:
    for student, cohort in ((501, {}), (701, MINE), (702, MINE), (703, MINE)):
        kept.claim(student, 1, **cohort)
    kept.drop(701, 1)
    assert kept.claim(704, 1, **MINE).outcome == Outcome.WAITLISTED
    assert codes(kept.adjust(704, add=1)) == ["full"]
    assert kept.promote(1, **MINE).promoted == (703,)


def test_who_waits_for_a_kept_seat_gets_any_other_in_turn(kept: Desk) -> None:
    for student, cohort in ((501, {}), (701, MINE), (702, MINE), (601, {}), (703, MINE)):
        kept.claim(student, 1, **cohort)
    kept.drop(501, 1)
    assert kept.promote(1).promoted == (601,)


def test_who_was_set_aside_while_the_pool_was_full_is_not_asked_twice(desk: Desk) -> None:
    pool = PoolSpec(70, capacity=2, version=1)
    desk.section(1, 2, reserves=(ReserveSpec(JUNIORS, 1),), pool=pool)
    desk.section(2, 2, pool=pool)
    for student in (501, 502):
        desk.claim(student, 2)
    for student in (601, 602):
        assert desk.claim(student, 1).outcome == Outcome.WAITLISTED
    for student in (501, 502):
        desk.drop(student, 2)
    said = desk.promote(1, 601, 602)
    assert (said.promoted, said.aside, said.more) == ((601,), (), False)
    assert desk.claim(701, 1, **MINE).outcome == Outcome.ENROLLED


def test_it_falls_open_by_the_ledgers_clock_and_belongs_to_the_list(desk: Desk) -> None:
    until = desk.ledger.now() + 300
    desk.section(1, 1, reserves=(ReserveSpec(JUNIORS, 1, until),))
    desk.claim(601, 1)
    assert (desk.queue(1), desk.ledger.vacant(TERM)) == ([601], set())
    desk.clear_woken()
    while desk.ledger.now() <= until:
        desk.ledger.turn(TERM)
    desk.ledger.turn(TERM)
    assert desk.last_event()["name"] == "reserve_opened"
    assert (seats(desk), desk.ledger.vacant(TERM)) == ((0, 0, 1), {1})
    assert desk.promote(1).promoted == (601,)
    desk.ledger.turn(TERM)
    assert [event["name"] for event in desk.events()].count("reserve_opened") == 1


def test_one_whose_time_is_over_keeps_nothing(desk: Desk) -> None:
    desk.section(1, 1, reserves=(ReserveSpec(JUNIORS, 1, desk.ledger.now() - 1),))
    assert seats(desk) == (0, 0, 1)
    assert desk.claim(501, 1).outcome == Outcome.ENROLLED


def test_a_reserve_that_comes_later_asks_everyone_in_line(desk: Desk) -> None:
    desk.section(1, 1)
    for student in (501, 601, 701):
        desk.claim(student, 1)
    desk.section(1, 2, reserves=(ReserveSpec(JUNIORS, 1),), version=2)
    assert desk.ledger.vacant(TERM) == {1}
    assert desk.promote(1, 601).aside == (601,)
    assert desk.promote(1, 701, **MINE).promoted == (701,)


def test_a_smaller_reserve_throws_nobody_out_and_sets_seats_free(kept: Desk) -> None:
    for student in (701, 702):
        kept.claim(student, 1, **MINE)
    kept.section(1, 3, reserves=(ReserveSpec(JUNIORS, 1),), version=2)
    assert (seats(kept), kept.roster(1)) == ((2, 0, 1), [701, 702])


def test_fewer_seats_than_are_kept_are_all_kept(kept: Desk) -> None:
    kept.section(1, 1, reserves=(ReserveSpec(JUNIORS, 2),), version=2)
    assert seats(kept) == (0, 2, 0)
    assert kept.claim(701, 1, **MINE).outcome == Outcome.ENROLLED
    assert codes(kept.claim(702, 1, wait=False, **MINE)) == ["full"]


def test_by_hand_a_kept_seat_can_be_given_away_by_name(kept: Desk) -> None:
    kept.claim(501, 1)
    assert kept.adjust(502, add=1, overrides=["full"]).outcome == Outcome.ENROLLED
    assert seats(kept) == (2, 2, 0)
    assert kept.claim(701, 1, **MINE).outcome == Outcome.ENROLLED
    assert codes(kept.claim(702, 1, wait=False, **MINE)) == ["full"]


def test_a_section_without_reserves_asks_for_none(desk: Desk) -> None:
    desk.section(1, 1)
    desk.redis.config_resetstat()
    desk.claim(501, 1, windows=[OPEN])
    assert "cmdstat_scard" not in desk.redis.info("commandstats")
