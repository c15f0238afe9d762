"""A seat for another: the old one goes only with the new one."""

import pytest

from portal.ledger.errors import KeyReused
from portal.ledger.types import Claim, Decision, LedgerChoice, Outcome, Reason
from tests.ledger.requests import TERM, Desk, codes

OLD, NEW = 1, 2


@pytest.fixture
def desk(desk: Desk) -> Desk:
    desk.section(OLD, capacity=1)
    desk.section(NEW, capacity=1, course=OLD)
    desk.claim(501, OLD)
    return desk


def swap(desk: Desk, student: int = 501, **fields: object) -> Decision:
    return desk.claim(student, NEW, instead=OLD, **fields)


def names(desk: Desk, last: int) -> list[tuple[str, int]]:
    return [(event["name"], event["section"]) for event in desk.events()[-last:]]


def test_one_seat_comes_and_the_other_goes_in_the_same_step(desk: Desk) -> None:
    answer = swap(desk)
    assert (answer.outcome, answer.given_up) == (Outcome.ENROLLED, OLD)
    assert (desk.roster(OLD), desk.roster(NEW)) == ([], [501])
    assert names(desk, 2) == [("dropped", OLD), ("enrolled", NEW)]


def test_what_is_given_up_does_not_stand_in_the_way(desk: Desk) -> None:
    """The same course, and the credits of both would be too many."""
    assert swap(desk, limit=400).outcome == Outcome.ENROLLED


def test_the_old_seat_is_kept_where_the_new_one_is_refused(desk: Desk) -> None:
    refused = swap(desk, rules=[Reason("hold")])
    assert codes(refused) == ["hold"]
    assert desk.roster(OLD) == [501]


def test_a_swap_is_no_drop_of_the_day(desk: Desk) -> None:
    swap(desk)
    assert desk.ledger.drops(TERM, 501) == {}


def test_the_old_seat_goes_to_its_own_waitlist(desk: Desk) -> None:
    desk.claim(502, OLD)
    assert "promote" in swap(desk).wake
    assert desk.promote(OLD).promoted == (502,)


def test_who_does_not_hold_the_old_one_is_told_so(desk: Desk) -> None:
    refused = swap(desk, student=502)
    assert refused.reasons == (Reason("not_enrolled", {"section": OLD}),)


def test_the_old_seat_is_kept_while_waiting_for_the_new_one(desk: Desk) -> None:
    desk.claim(502, NEW)
    answer = swap(desk)
    assert (answer.outcome, answer.given_up) == (Outcome.WAITLISTED, OLD)
    assert desk.roster(OLD) == [501]
    [place] = desk.ledger.standing(TERM, 501).waiting
    assert place.instead == OLD


def test_it_goes_at_the_moment_in_which_the_new_one_comes(desk: Desk) -> None:
    desk.claim(502, NEW)
    desk.claim(503, OLD)
    swap(desk)
    desk.drop(502, NEW)
    desk.clear_woken()
    assert desk.promote(NEW).promoted == (501,)
    assert names(desk, 2) == [("dropped", OLD), ("promoted", NEW)]
    assert (desk.roster(NEW), desk.ledger.vacant(TERM)) == ([501], {OLD})


def test_without_the_old_seat_a_wait_for_a_swap_is_like_any_other(desk: Desk) -> None:
    desk.claim(502, NEW)
    swap(desk)
    desk.drop(501, OLD)
    desk.drop(502, NEW)
    assert desk.promote(NEW).promoted == (501,)


def test_who_is_passed_over_keeps_the_old_seat(desk: Desk) -> None:
    desk.claim(502, NEW)
    swap(desk)
    desk.drop(502, NEW)
    assert desk.promote(NEW, rules=(Reason("hold"),)).passed == (501,)
    assert desk.roster(OLD) == [501]


def test_a_swap_may_not_leave_another_seat_without_what_it_needs(desk: Desk) -> None:
    desk.section(3)
    desk.section(4)
    desk.claim(501, 3, corequisites={"course": OLD})
    refused = desk.claim(501, 4, instead=OLD)
    assert refused.reasons == (Reason("needed_by", {"section": 3, "missing": [OLD]}),)
    assert swap(desk).outcome == Outcome.ENROLLED  # for another section of that course it may


def test_the_same_key_replays_a_swap_and_stands_for_no_plain_claim(desk: Desk) -> None:
    swap(desk, request="k")
    assert swap(desk, request="k").replayed
    with pytest.raises(KeyReused):
        desk.claim(501, NEW, request="k")


def test_a_waiter_who_asks_for_a_swap_keeps_the_place_and_is_asked_again(desk: Desk) -> None:
    desk.section(3, capacity=1)
    desk.claim(502, 3)
    desk.claim(501, 3)
    desk.drop(502, 3)
    assert desk.promote(3, limit=400).passed == (501,)
    answer = desk.claim(501, 3, instead=OLD)
    assert (answer.outcome, answer.position, answer.given_up) == (Outcome.WAITLISTED, 1, OLD)
    assert desk.promote(3, limit=400).promoted == (501,)
    assert desk.roster(OLD) == []


def test_a_seat_does_not_go_for_itself_beside_another(desk: Desk) -> None:
    """Else the other one would be had without what it is taken together with."""
    desk.section(3)
    both = Claim(3, 400, {"course": OLD}), Claim(OLD, 400)
    [answer] = desk.submit(501, LedgerChoice((both,), instead=OLD)).lines
    assert [codes(each) for each in answer.refused[0]] == [["together"], ["already_enrolled"]]
    assert (desk.roster(OLD), desk.roster(3)) == ([501], [])


def test_what_needs_the_old_seat_is_heeded_whatever_the_swap_begins_with(desk: Desk) -> None:
    for section in (3, 4, 5):
        desk.section(section)
    desk.claim(501, 3, corequisites={"course": OLD})
    desk.claim(501, 4)
    [answer] = desk.submit(501, LedgerChoice(((Claim(4, 400), Claim(5, 400)),), instead=OLD)).lines
    assert [codes(each) for each in answer.refused[0]] == [["already_enrolled"], ["needed_by"]]
    assert desk.roster(OLD) == [501]
