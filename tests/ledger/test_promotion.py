"""A free seat goes to the head of the list, if nothing speaks against it any more."""

import pytest

from portal.ledger.types import Candidate, Promotion, Reason, SkipRule
from tests.ledger.requests import OPEN, TERM, Desk, codes, meets


@pytest.fixture
def vacancy(desk: Desk) -> int:
    """A section of two seats, both free, with three waiters 601, 602 and 603."""
    desk.section(1, capacity=2)
    for student in (501, 502, 601, 602, 603):
        desk.claim(student, 1)
    for student in (501, 502):
        desk.drop(student, 1)
    return 1


def test_the_head_is_placed_first_and_only_while_seats_are_free(desk: Desk, vacancy: int) -> None:
    assert desk.ledger.head(TERM, vacancy, 2) == [601, 602]
    promotion = desk.promote(vacancy)
    assert promotion == Promotion((601, 602), (), more=False, wake=promotion.wake)
    assert desk.roster(vacancy) == [601, 602]
    assert desk.queue(vacancy) == [603]
    assert desk.ledger.vacant(TERM) == set()


def test_it_stops_at_one_who_is_no_candidate(desk: Desk, vacancy: int) -> None:
    promotion = desk.promote(vacancy, 601, 603)
    assert (promotion.promoted, promotion.more) == ((601,), True)
    assert desk.ledger.vacant(TERM) == {vacancy}


def test_candidates_beyond_the_head_are_not_asked(desk: Desk, vacancy: int) -> None:
    assert desk.promote(vacancy, 603, 602).promoted == ()


def test_who_can_not_be_placed_is_passed_over_with_the_reasons(desk: Desk, vacancy: int) -> None:
    refused = Candidate(601, (), 399, {"course": 31}, (Reason("hold", {"kind": "bursar"}),))
    willing = Candidate(602, (OPEN,), 400)
    promotion = desk.ledger.promote(TERM, vacancy, [refused, willing], "c")
    assert (promotion.promoted, promotion.passed, promotion.more) == ((602,), (601,), True)
    assert [reason.code for reason in desk.ledger.standing(TERM, 601).waiting[0].reasons] == [
        "window_unscheduled",
        "credit_limit",
        "corequisite",
        "hold",
    ]
    assert desk.queue(vacancy) == [601, 603]
    assert desk.ledger.head(TERM, vacancy, 5) == [603]


def test_it_checks_clashes_that_came_after_joining(desk: Desk, vacancy: int) -> None:
    desk.section(vacancy, capacity=2, times=(meets(1, 9, 10),), version=2)
    desk.section(2, times=(meets(1, 9, 10),))
    desk.section(3, course=vacancy)
    desk.claim(601, 2)
    desk.claim(602, 3)
    assert desk.promote(vacancy).passed == (601, 602)
    reasons = [desk.ledger.standing(TERM, who).waiting[0].reasons for who in (601, 602)]
    assert reasons[0] == (Reason("time_conflict", {"section": 2}),)
    assert reasons[1] == (Reason("same_course", {"section": 3}),)


def test_the_credits_are_those_chosen_when_joining(desk: Desk) -> None:
    desk.section(1, capacity=1, credits_min=100, credits_max=400)
    desk.claim(501, 1)
    desk.claim(601, 1, credits=250)
    desk.drop(501, 1)
    desk.promote(1)
    (held,) = desk.ledger.standing(TERM, 601).enrolled
    assert held.credits == 250


def test_nobody_is_placed_where_no_seat_is_free(desk: Desk) -> None:
    desk.section(1, capacity=1)
    desk.claim(501, 1)
    desk.claim(601, 1)
    promotion = desk.promote(1)
    assert (promotion.promoted, promotion.passed, promotion.more) == ((), (), False)


def test_nobody_is_passed_over_in_a_section_that_is_not_open(desk: Desk, vacancy: int) -> None:
    desk.section(vacancy, capacity=2, status="CONFIRMED", version=2)
    assert desk.ledger.vacant(TERM) == set()
    promotion = desk.promote(vacancy)
    assert (promotion.promoted, promotion.passed, promotion.more) == ((), (), False)
    desk.section(vacancy, capacity=2, version=3)
    assert desk.ledger.vacant(TERM) == {vacancy}


def test_who_was_passed_over_and_left_comes_back_unmarked(desk: Desk, vacancy: int) -> None:
    desk.promote(vacancy, 601, limit=0)
    desk.leave(601, vacancy)
    desk.claim(601, vacancy)
    assert desk.ledger.standing(TERM, 601).waiting[0].reasons == ()
    assert desk.ledger.head(TERM, vacancy, 5) == [602, 603, 601]


def test_another_freed_seat_gives_the_passed_over_another_chance(desk: Desk) -> None:
    desk.section(1, capacity=1)
    for student in (501, 601, 602):
        desk.claim(student, 1)
    desk.drop(501, 1)
    desk.promote(1, 601, limit=0)
    desk.promote(1, 602)
    assert desk.ledger.head(TERM, 1, 5) == []
    desk.drop(602, 1)
    assert desk.ledger.head(TERM, 1, 5) == [601]


def test_an_own_drop_gives_the_dropper_another_chance(desk: Desk, vacancy: int) -> None:
    desk.section(2)
    desk.claim(601, 2)
    for student in (601, 602, 603):
        desk.promote(vacancy, student, limit=0)
    assert desk.ledger.vacant(TERM) == set()
    desk.clear_woken()
    assert "promote" in desk.drop(601, 2).wake
    assert desk.ledger.vacant(TERM) == {vacancy}
    assert desk.ledger.head(TERM, vacancy, 5) == [601]
    assert desk.promote(vacancy).promoted == (601,)


def test_reconsidering_gives_all_of_a_section_another_chance(desk: Desk, vacancy: int) -> None:
    desk.promote(vacancy, 601, 602, 603, limit=0)
    change = desk.ledger.reconsider(TERM, vacancy)
    assert desk.last_event()["name"] == "reconsidered"
    assert desk.last_event()["seq"] == change.seq
    assert desk.ledger.vacant(TERM) == {vacancy}
    assert desk.ledger.head(TERM, vacancy, 5) == [601, 602, 603]
    assert desk.ledger.reconsider(TERM, vacancy).seq == 0


def test_one_of_them_alone_may_be_given_it(desk: Desk, vacancy: int) -> None:
    desk.promote(vacancy, 601, 602, 603, limit=0)
    desk.ledger.reconsider(TERM, vacancy, 602)
    assert desk.last_event()["student"] == 602
    assert desk.ledger.head(TERM, vacancy, 5) == [602]
    assert desk.ledger.reconsider(TERM, vacancy, 602).seq == 0


def test_the_passed_over_are_skipped_however_many_they_are(desk: Desk) -> None:
    desk.section(1, capacity=1, waitlist=30)
    waiters = list(range(600, 620))
    for student in (501, *waiters):
        desk.claim(student, 1)
    desk.drop(501, 1)
    desk.promote(1, *waiters[:-1], limit=0)
    assert desk.ledger.head(TERM, 1, 2) == [619]
    assert desk.promote(1, 619).promoted == (619,)


def test_many_drops_at_once_promote_exactly_as_many_as_there_are_seats(desk: Desk) -> None:
    desk.section(1, capacity=10, waitlist=50)
    for student in range(500, 540):
        desk.claim(student, 1)
    for student in range(500, 507):
        desk.drop(student, 1)
    desk.section(1, capacity=8, waitlist=50, version=2)
    while desk.promote(1).more:
        pass
    assert desk.roster(1) == [507, 508, 509, *range(510, 515)]
    assert desk.queue(1) == list(range(515, 540))


def test_the_counts_tell_who_is_passed_over(desk: Desk) -> None:
    desk.section(12, capacity=1)
    for student in (501, 601):
        desk.claim(student, 12)
    desk.drop(501, 12)
    assert not desk.ledger.seats(TERM)[12].claimable
    desk.promote(12, limit=0)
    seats = desk.ledger.seats(TERM)[12]
    assert (seats.waiting, seats.passed, seats.claimable) == (1, 1, True)


def test_asking_again_gives_who_was_passed_over_another_chance(desk: Desk) -> None:
    desk.section(12, capacity=1)
    for student in (501, 601):
        desk.claim(student, 12)
    desk.drop(501, 12)
    desk.promote(12, limit=0)
    assert codes(desk.claim(601, 12)) == ["already_waiting"]
    assert desk.ledger.vacant(TERM) == {12}
    assert desk.promote(12).promoted == (601,)


def test_a_new_seat_of_ones_own_may_clear_the_way_on_a_list(desk: Desk) -> None:
    for section in (12, 13):
        desk.section(section, capacity=1)
    for student in (501, 601):
        desk.claim(student, 12)
    desk.drop(501, 12)
    lab_first = {"corequisites": {"course": 13}}
    assert desk.promote(12, **lab_first).passed == (601,)
    desk.claim(601, 13)
    assert desk.promote(12, **lab_first).promoted == (601,)


def test_a_place_is_kept_however_often_it_is_passed_over(desk: Desk, vacancy: int) -> None:
    for _ in range(5):
        assert desk.promote(vacancy, 601, limit=0).passed == (601,)
        desk.ledger.reconsider(TERM, vacancy)
    assert desk.queue(vacancy) == [601, 602, 603]


def test_by_the_terms_rule_it_is_lost_after_so_many_passes(desk: Desk, vacancy: int) -> None:
    rule = SkipRule(2)
    assert desk.promote(vacancy, 601, limit=0, passes=rule).passed == (601,)
    assert desk.queue(vacancy) == [601, 602, 603]
    desk.ledger.reconsider(TERM, vacancy)
    assert desk.promote(vacancy, 601, limit=0, passes=rule).passed == (601,)
    assert desk.queue(vacancy) == [602, 603]
    assert desk.ledger.standing(TERM, 601).waiting == ()
    passed, left = desk.events()[-2:]
    assert (passed["name"], passed["lost"]) == ("passed_over", True)
    assert (left["name"], left["student"], left["lost"]) == ("left", 601, True)
    assert desk.ledger.head(TERM, vacancy, 5) == [602, 603]


def test_only_passes_for_reasons_that_the_rule_names_count(desk: Desk, vacancy: int) -> None:
    rule = SkipRule(1, ("hold",))
    desk.promote(vacancy, 601, limit=0, passes=rule)
    assert 601 in desk.queue(vacancy)
    desk.ledger.reconsider(TERM, vacancy)
    held = (Reason("hold", {"kind": "bursar"}),)
    desk.promote(vacancy, 601, limit=0, rules=held, passes=rule)
    assert 601 not in desk.queue(vacancy)


def test_who_lost_a_place_begins_anew(desk: Desk, vacancy: int) -> None:
    desk.promote(vacancy, 601, limit=0, passes=SkipRule(1))
    desk.claim(601, vacancy)
    assert desk.queue(vacancy) == [602, 603, 601]
    desk.promote(vacancy, 602, limit=0)
    desk.promote(vacancy, 603, limit=0)
    desk.promote(vacancy, 601, limit=0, passes=SkipRule(2))
    assert 601 in desk.queue(vacancy)
