"""A free seat goes to the head of the waitlist unless a reason refuses."""

import pytest

from portal.ledger.types import Candidate, Promotion, Reason, SkipRule
from tests.ledger.requests import OPEN, TERM, Desk, codes, meets


@pytest.fixture
def vacancy(desk: Desk) -> int:
    """Store a section with two free seats and the waiting students 601, 602 and 603."""
    desk.section(1, capacity=2)
    for student in (501, 502, 601, 602, 603):
        desk.claim(student, 1)
    for student in (501, 502):
        desk.drop(student, 1)
    return 1


def test_head_is_promoted_first_while_seats_are_free(desk: Desk, vacancy: int) -> None:
    assert desk.ledger.head(TERM, vacancy, 2) == [601, 602]
    promotion = desk.promote(vacancy)
    assert promotion == Promotion((601, 602), (), more=False, wake=promotion.wake)
    assert desk.roster(vacancy) == [601, 602]
    assert desk.queue(vacancy) == [603]
    assert desk.ledger.vacant(TERM) == set()


def test_promotion_stops_at_a_student_who_is_no_candidate(desk: Desk, vacancy: int) -> None:
    promotion = desk.promote(vacancy, 601, 603)
    assert (promotion.promoted, promotion.more) == ((601,), True)
    assert desk.ledger.vacant(TERM) == {vacancy}


def test_candidates_behind_the_head_are_not_checked(desk: Desk, vacancy: int) -> None:
    assert desk.promote(vacancy, 603, 602).promoted == ()


def test_student_who_cannot_be_promoted_is_skipped_with_the_reasons(
    desk: Desk, vacancy: int
) -> None:
    refused = Candidate(
        601, (), 399, corequisites={"course": 31}, rules=(Reason("hold", {"kind": "bursar"}),)
    )
    willing = Candidate(602, (OPEN,), 400)
    promotion = desk.ledger.promote(TERM, vacancy, [refused, willing], "c")
    assert (promotion.promoted, promotion.skipped, promotion.more) == ((602,), (601,), True)
    assert [reason.code for reason in desk.ledger.registrations(TERM, 601).waiting[0].reasons] == [
        "window_unscheduled",
        "credit_limit",
        "corequisite",
        "hold",
    ]
    assert desk.queue(vacancy) == [601, 603]
    assert desk.ledger.head(TERM, vacancy, 5) == [603]


def test_promotion_checks_conflicts_that_arose_after_joining(desk: Desk, vacancy: int) -> None:
    desk.section(vacancy, capacity=2, times=(meets(1, 9, 10),), version=2)
    desk.section(2, times=(meets(1, 9, 10),))
    desk.section(3, course=vacancy)
    desk.claim(601, 2)
    desk.claim(602, 3)
    assert desk.promote(vacancy).skipped == (601, 602)
    reasons = [desk.ledger.registrations(TERM, who).waiting[0].reasons for who in (601, 602)]
    assert reasons[0] == (Reason("time_conflict", {"section": 2}),)
    assert reasons[1] == (Reason("same_course", {"section": 3}),)


def test_promotion_uses_the_credits_chosen_on_joining(desk: Desk) -> None:
    desk.section(1, capacity=1, credits_min=100, credits_max=400)
    desk.claim(501, 1)
    desk.claim(601, 1, credits=250)
    desk.drop(501, 1)
    desk.promote(1)
    (held,) = desk.ledger.registrations(TERM, 601).enrolled
    assert held.credits == 250


def test_no_student_is_promoted_without_a_free_seat(desk: Desk) -> None:
    desk.section(1, capacity=1)
    desk.claim(501, 1)
    desk.claim(601, 1)
    promotion = desk.promote(1)
    assert (promotion.promoted, promotion.skipped, promotion.more) == ((), (), False)


def test_no_student_is_skipped_in_a_section_that_is_not_open(desk: Desk, vacancy: int) -> None:
    desk.section(vacancy, capacity=2, status="CONFIRMED", version=2)
    assert desk.ledger.vacant(TERM) == set()
    promotion = desk.promote(vacancy)
    assert (promotion.promoted, promotion.skipped, promotion.more) == ((), (), False)
    desk.section(vacancy, capacity=2, version=3)
    assert desk.ledger.vacant(TERM) == {vacancy}


def test_skipped_student_who_rejoins_is_no_longer_skipped(desk: Desk, vacancy: int) -> None:
    desk.promote(vacancy, 601, credit_limit=0)
    desk.leave(601, vacancy)
    desk.claim(601, vacancy)
    assert desk.ledger.registrations(TERM, 601).waiting[0].reasons == ()
    assert desk.ledger.head(TERM, vacancy, 5) == [602, 603, 601]


def test_another_freed_seat_gives_skipped_students_another_chance(desk: Desk) -> None:
    desk.section(1, capacity=1)
    for student in (501, 601, 602):
        desk.claim(student, 1)
    desk.drop(501, 1)
    desk.promote(1, 601, credit_limit=0)
    desk.promote(1, 602)
    assert desk.ledger.head(TERM, 1, 5) == []
    desk.drop(602, 1)
    assert desk.ledger.head(TERM, 1, 5) == [601]


def test_drop_gives_a_skipped_student_another_chance(desk: Desk, vacancy: int) -> None:
    desk.section(2)
    desk.claim(601, 2)
    for student in (601, 602, 603):
        desk.promote(vacancy, student, credit_limit=0)
    assert desk.ledger.vacant(TERM) == set()
    desk.clear_woken()
    assert "promote" in desk.drop(601, 2).wake
    assert desk.ledger.vacant(TERM) == {vacancy}
    assert desk.ledger.head(TERM, vacancy, 5) == [601]
    assert desk.promote(vacancy).promoted == (601,)


def test_reconsidering_gives_all_of_a_section_another_chance(desk: Desk, vacancy: int) -> None:
    desk.promote(vacancy, 601, 602, 603, credit_limit=0)
    change = desk.ledger.reconsider(TERM, vacancy)
    assert desk.last_event()["name"] == "reconsidered"
    assert desk.last_event()["seq"] == change.seq
    assert desk.ledger.vacant(TERM) == {vacancy}
    assert desk.ledger.head(TERM, vacancy, 5) == [601, 602, 603]
    assert desk.ledger.reconsider(TERM, vacancy).seq == 0


def test_reconsidering_one_student_affects_no_other(desk: Desk, vacancy: int) -> None:
    desk.promote(vacancy, 601, 602, 603, credit_limit=0)
    desk.ledger.reconsider(TERM, vacancy, 602)
    assert desk.last_event()["student"] == 602
    assert desk.ledger.head(TERM, vacancy, 5) == [602]
    assert desk.ledger.reconsider(TERM, vacancy, 602).seq == 0


def test_head_leaves_out_any_number_of_skipped_students(desk: Desk) -> None:
    desk.section(1, capacity=1, waitlist=30)
    waiters = list(range(600, 620))
    for student in (501, *waiters):
        desk.claim(student, 1)
    desk.drop(501, 1)
    desk.promote(1, *waiters[:-1], credit_limit=0)
    assert desk.ledger.head(TERM, 1, 2) == [619]
    assert desk.promote(1, 619).promoted == (619,)


def test_many_simultaneous_drops_promote_exactly_one_student_per_seat(desk: Desk) -> None:
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


def test_counts_include_skipped_students(desk: Desk) -> None:
    desk.section(12, capacity=1)
    for student in (501, 601):
        desk.claim(student, 12)
    desk.drop(501, 12)
    assert not desk.ledger.seats(TERM)[12].claimable
    desk.promote(12, credit_limit=0)
    seats = desk.ledger.seats(TERM)[12]
    assert (seats.waiting, seats.skipped, seats.claimable) == (1, 1, True)


def test_repeated_claim_gives_a_skipped_student_another_chance(desk: Desk) -> None:
    desk.section(12, capacity=1)
    for student in (501, 601):
        desk.claim(student, 12)
    desk.drop(501, 12)
    desk.promote(12, credit_limit=0)
    assert codes(desk.claim(601, 12)) == ["already_waiting"]
    assert desk.ledger.vacant(TERM) == {12}
    assert desk.promote(12).promoted == (601,)


def test_new_seat_gives_the_student_another_chance_on_waitlists(desk: Desk) -> None:
    for section in (12, 13):
        desk.section(section, capacity=1)
    for student in (501, 601):
        desk.claim(student, 12)
    desk.drop(501, 12)
    lab_first = {"corequisites": {"course": 13}}
    assert desk.promote(12, **lab_first).skipped == (601,)
    desk.claim(601, 13)
    assert desk.promote(12, **lab_first).promoted == (601,)


def test_position_is_kept_after_any_number_of_skips(desk: Desk, vacancy: int) -> None:
    for _ in range(5):
        assert desk.promote(vacancy, 601, credit_limit=0).skipped == (601,)
        desk.ledger.reconsider(TERM, vacancy)
    assert desk.queue(vacancy) == [601, 602, 603]


def test_position_is_lost_after_the_terms_number_of_skips(desk: Desk, vacancy: int) -> None:
    rule = SkipRule(2)
    assert desk.promote(vacancy, 601, credit_limit=0, passes=rule).skipped == (601,)
    assert desk.queue(vacancy) == [601, 602, 603]
    desk.ledger.reconsider(TERM, vacancy)
    assert desk.promote(vacancy, 601, credit_limit=0, passes=rule).skipped == (601,)
    assert desk.queue(vacancy) == [602, 603]
    assert desk.ledger.registrations(TERM, 601).waiting == ()
    passed, left = desk.events()[-2:]
    assert (passed["name"], passed["lost"]) == ("passed_over", True)
    assert (left["name"], left["student"], left["lost"]) == ("left", 601, True)
    assert desk.ledger.head(TERM, vacancy, 5) == [602, 603]


def test_only_skips_for_the_rules_reasons_count(desk: Desk, vacancy: int) -> None:
    rule = SkipRule(1, ("hold",))
    desk.promote(vacancy, 601, credit_limit=0, passes=rule)
    assert 601 in desk.queue(vacancy)
    desk.ledger.reconsider(TERM, vacancy)
    held = (Reason("hold", {"kind": "bursar"}),)
    desk.promote(vacancy, 601, credit_limit=0, rules=held, passes=rule)
    assert 601 not in desk.queue(vacancy)


def test_skips_start_at_zero_after_a_lost_position(desk: Desk, vacancy: int) -> None:
    desk.promote(vacancy, 601, credit_limit=0, passes=SkipRule(1))
    desk.claim(601, vacancy)
    assert desk.queue(vacancy) == [602, 603, 601]
    desk.promote(vacancy, 602, credit_limit=0)
    desk.promote(vacancy, 603, credit_limit=0)
    desk.promote(vacancy, 601, credit_limit=0, passes=SkipRule(2))
    assert 601 in desk.queue(vacancy)
