"""Reserved seats: other students neither see nor take them until the reserve ends."""

from typing import Any

import pytest

from portal.ledger.types import Outcome, PoolSpec, ReserveSpec
from tests.ledger.requests import OPEN, TERM, Desk, codes, facts

JUNIORS = 61
MINE: dict[str, Any] = {"reserves": (JUNIORS,)}


@pytest.fixture
def reserved(desk: Desk) -> Desk:
    """Store section 1 with three seats, two of them reserved for juniors."""
    desk.section(1, 3, reserves=(ReserveSpec(JUNIORS, 2),))
    return desk


def seats(desk: Desk) -> tuple[int, int, int]:
    found = desk.ledger.seats(TERM)[1]
    return found.taken, found.kept, found.open


def test_other_students_see_and_take_only_unreserved_seats(reserved: Desk) -> None:
    assert seats(reserved) == (0, 2, 1)
    reserved.claim(501, 1)
    assert seats(reserved) == (1, 2, 0)
    refused = reserved.claim(502, 1, wait=False)
    keepers = {"kept": 2, "kept_for": [JUNIORS]}
    assert facts(refused, "full") == {"waiting": 0, "waitlist_capacity": 5, **keepers}
    assert codes(reserved.adjust(502, add=1)) == ["full"]


def test_student_of_the_cohort_takes_a_reserved_seat_first(reserved: Desk) -> None:
    reserved.claim(701, 1, **MINE)
    assert seats(reserved) == (1, 1, 1)
    assert reserved.last_event()["reserve"] == JUNIORS
    reserved.claim(702, 1, **MINE)
    reserved.claim(703, 1, **MINE)
    assert "reserve" not in reserved.last_event()
    assert reserved.ledger.reserved(TERM, 1) == {JUNIORS: 2}
    assert codes(reserved.claim(704, 1, wait=False, **MINE)) == ["full"]


def test_first_reserve_with_a_seat_gives_it(desk: Desk) -> None:
    desk.section(1, 4, reserves=(ReserveSpec(61, 1), ReserveSpec(62, 1)))
    for student in (501, 502):
        desk.claim(student, 1, reserves=(62, 61))
    assert desk.ledger.reserved(TERM, 1) == {61: 1, 62: 1}


def test_dropped_reserved_seat_is_reserved_again(reserved: Desk) -> None:
    reserved.claim(701, 1, **MINE)
    reserved.drop(701, 1)
    assert (seats(reserved), reserved.ledger.reserved(TERM, 1)) == ((0, 2, 1), {})


def test_reserved_seat_sets_other_students_aside_without_skipping_them(reserved: Desk) -> None:
    for student, cohort in ((501, {}), (701, MINE), (702, MINE), (601, {}), (703, MINE)):
        reserved.claim(student, 1, **cohort)
    before = len(reserved.events())
    reserved.drop(701, 1)
    assert reserved.ledger.vacant(TERM) == {1}
    assert reserved.ledger.head(TERM, 1, 9) == [601, 703]
    answer = reserved.promote(1, 601)
    assert (answer.aside, answer.promoted, answer.skipped, answer.more) == ((601,), (), (), True)
    assert reserved.ledger.head(TERM, 1, 9) == [703]
    assert reserved.promote(1, 703, **MINE).promoted == (703,)
    assert [event["name"] for event in reserved.events()[before:]] == ["dropped", "promoted"]
    assert reserved.ledger.registrations(TERM, 601).waiting[0].reasons == ()
    assert (reserved.queue(1), reserved.ledger.vacant(TERM)) == ([601], set())


def test_new_student_gets_a_reserved_seat_that_no_waiting_student_may_have(reserved: Desk) -> None:
    reserved.claim(501, 1)
    reserved.claim(601, 1)
    assert (reserved.queue(1), reserved.ledger.vacant(TERM)) == ([601], set())
    assert reserved.claim(701, 1, **MINE).outcome == Outcome.ENROLLED


def test_new_student_gets_no_reserved_seat_before_waiting_students_are_checked(
    reserved: Desk,
) -> None:
    for student, cohort in ((501, {}), (701, MINE), (702, MINE), (703, MINE)):
        reserved.claim(student, 1, **cohort)
    reserved.drop(701, 1)
    assert reserved.claim(704, 1, **MINE).outcome == Outcome.WAITLISTED
    assert codes(reserved.adjust(704, add=1)) == ["full"]
    assert reserved.promote(1, **MINE).promoted == (703,)


def test_student_waiting_for_a_reserved_seat_gets_any_other_seat_in_turn(reserved: Desk) -> None:
    for student, cohort in ((501, {}), (701, MINE), (702, MINE), (601, {}), (703, MINE)):
        reserved.claim(student, 1, **cohort)
    reserved.drop(501, 1)
    assert reserved.promote(1).promoted == (601,)


def test_student_set_aside_while_the_pool_was_full_is_checked_once(desk: Desk) -> None:
    pool = PoolSpec(70, capacity=2, version=1)
    desk.section(1, 2, reserves=(ReserveSpec(JUNIORS, 1),), pool=pool)
    desk.section(2, 2, pool=pool)
    for student in (501, 502):
        desk.claim(student, 2)
    for student in (601, 602):
        assert desk.claim(student, 1).outcome == Outcome.WAITLISTED
    for student in (501, 502):
        desk.drop(student, 2)
    answer = desk.promote(1, 601, 602)
    assert (answer.promoted, answer.aside, answer.more) == ((601,), (), False)
    assert desk.claim(701, 1, **MINE).outcome == Outcome.ENROLLED


def test_reserve_ends_by_the_ledgers_clock_and_its_seats_go_to_the_waitlist(desk: Desk) -> None:
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


def test_ended_reserve_reserves_no_seat(desk: Desk) -> None:
    desk.section(1, 1, reserves=(ReserveSpec(JUNIORS, 1, desk.ledger.now() - 1),))
    assert seats(desk) == (0, 0, 1)
    assert desk.claim(501, 1).outcome == Outcome.ENROLLED


def test_new_reserve_checks_every_waiting_student(desk: Desk) -> None:
    desk.section(1, 1)
    for student in (501, 601, 701):
        desk.claim(student, 1)
    desk.section(1, 2, reserves=(ReserveSpec(JUNIORS, 1),), version=2)
    assert desk.ledger.vacant(TERM) == {1}
    assert desk.promote(1, 601).aside == (601,)
    assert desk.promote(1, 701, **MINE).promoted == (701,)


def test_smaller_reserve_frees_seats_and_removes_no_student(reserved: Desk) -> None:
    for student in (701, 702):
        reserved.claim(student, 1, **MINE)
    reserved.section(1, 3, reserves=(ReserveSpec(JUNIORS, 1),), version=2)
    assert (seats(reserved), reserved.roster(1)) == ((2, 0, 1), [701, 702])


def test_all_seats_are_reserved_if_there_are_fewer_than_reserves_ask_for(reserved: Desk) -> None:
    reserved.section(1, 1, reserves=(ReserveSpec(JUNIORS, 2),), version=2)
    assert seats(reserved) == (0, 2, 0)
    assert reserved.claim(701, 1, **MINE).outcome == Outcome.ENROLLED
    assert codes(reserved.claim(702, 1, wait=False, **MINE)) == ["full"]


def test_admin_can_override_a_reserve(reserved: Desk) -> None:
    reserved.claim(501, 1)
    assert reserved.adjust(502, add=1, overrides=["full"]).outcome == Outcome.ENROLLED
    assert seats(reserved) == (2, 2, 0)
    assert reserved.claim(701, 1, **MINE).outcome == Outcome.ENROLLED
    assert codes(reserved.claim(702, 1, wait=False, **MINE)) == ["full"]


def test_section_without_reserves_checks_no_one(desk: Desk) -> None:
    desk.section(1, 1)
    desk.redis.config_resetstat()
    desk.claim(501, 1, windows=[OPEN])
    assert "cmdstat_scard" not in desk.redis.info("commandstats")
