"""A swap drops the old seat only together with getting the new one."""

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
    return desk.claim(student, NEW, swap_out=OLD, **fields)


def names(desk: Desk, last: int) -> list[tuple[str, int]]:
    return [(event["name"], event["section"]) for event in desk.events()[-last:]]


def test_swap_exchanges_seats_in_one_step(desk: Desk) -> None:
    answer = swap(desk)
    assert (answer.outcome, answer.swap_out) == (Outcome.ENROLLED, OLD)
    assert (desk.roster(OLD), desk.roster(NEW)) == ([], [501])
    assert names(desk, 2) == [("dropped", OLD), ("enrolled", NEW)]


def test_swapped_seat_causes_no_refusal(desk: Desk) -> None:
    """The same course, and the credits of both would be too many."""
    assert swap(desk, credit_limit=400).outcome == Outcome.ENROLLED


def test_refused_swap_keeps_the_old_seat(desk: Desk) -> None:
    refused = swap(desk, rules=[Reason("hold")])
    assert codes(refused) == ["hold"]
    assert desk.roster(OLD) == [501]


def test_swap_does_not_count_as_a_drop(desk: Desk) -> None:
    swap(desk)
    assert desk.ledger.drops(TERM, 501) == {}


def test_old_seat_of_a_swap_goes_to_its_waitlist(desk: Desk) -> None:
    desk.claim(502, OLD)
    assert "promote" in swap(desk).wake
    assert desk.promote(OLD).promoted == (502,)


def test_swap_of_a_seat_not_held_is_refused(desk: Desk) -> None:
    refused = swap(desk, student=502)
    assert refused.reasons == (Reason("not_enrolled", {"section": OLD}),)


def test_old_seat_is_kept_while_the_swap_waits(desk: Desk) -> None:
    desk.claim(502, NEW)
    answer = swap(desk)
    assert (answer.outcome, answer.swap_out) == (Outcome.WAITLISTED, OLD)
    assert desk.roster(OLD) == [501]
    [position] = desk.ledger.registrations(TERM, 501).waiting
    assert position.swap_out == OLD


def test_old_seat_is_dropped_when_the_swap_is_promoted(desk: Desk) -> None:
    desk.claim(502, NEW)
    desk.claim(503, OLD)
    swap(desk)
    desk.drop(502, NEW)
    desk.clear_woken()
    assert desk.promote(NEW).promoted == (501,)
    assert names(desk, 2) == [("dropped", OLD), ("promoted", NEW)]
    assert (desk.roster(NEW), desk.ledger.vacant(TERM)) == ([501], {OLD})


def test_waiting_swap_without_the_old_seat_is_a_normal_position(desk: Desk) -> None:
    desk.claim(502, NEW)
    swap(desk)
    desk.drop(501, OLD)
    desk.drop(502, NEW)
    assert desk.promote(NEW).promoted == (501,)


def test_skipped_swap_keeps_the_old_seat(desk: Desk) -> None:
    desk.claim(502, NEW)
    swap(desk)
    desk.drop(502, NEW)
    assert desk.promote(NEW, rules=(Reason("hold"),)).skipped == (501,)
    assert desk.roster(OLD) == [501]


def test_swap_that_breaks_a_corequisite_is_refused(desk: Desk) -> None:
    desk.section(3)
    desk.section(4)
    desk.claim(501, 3, corequisites={"course": OLD})
    refused = desk.claim(501, 4, swap_out=OLD)
    assert refused.reasons == (Reason("needed_by", {"section": 3, "missing": [OLD]}),)
    assert swap(desk).outcome == Outcome.ENROLLED  # another section of that course is allowed


def test_key_of_a_swap_replays_it_and_refuses_a_plain_claim(desk: Desk) -> None:
    swap(desk, idempotency_key="k")
    assert swap(desk, idempotency_key="k").replayed
    with pytest.raises(KeyReused):
        desk.claim(501, NEW, idempotency_key="k")


def test_waiting_student_who_asks_for_a_swap_keeps_the_position(desk: Desk) -> None:
    desk.section(3, capacity=1)
    desk.claim(502, 3)
    desk.claim(501, 3)
    desk.drop(502, 3)
    assert desk.promote(3, credit_limit=400).skipped == (501,)
    answer = desk.claim(501, 3, swap_out=OLD)
    assert (answer.outcome, answer.position, answer.swap_out) == (Outcome.WAITLISTED, 1, OLD)
    assert desk.promote(3, credit_limit=400).promoted == (501,)
    assert desk.roster(OLD) == []


def test_seat_cannot_be_swapped_for_itself_and_another(desk: Desk) -> None:
    """Otherwise the other section would be taken without its linked one."""
    desk.section(3)
    both = Claim(3, 400, {"course": OLD}), Claim(OLD, 400)
    [answer] = desk.submit(501, LedgerChoice((both,), swap_out=OLD)).results
    assert [codes(each) for each in answer.refused[0]] == [["together"], ["already_enrolled"]]
    assert (desk.roster(OLD), desk.roster(3)) == ([501], [])


def test_dependents_of_the_old_seat_count_in_any_order_of_parts(desk: Desk) -> None:
    for section in (3, 4, 5):
        desk.section(section)
    desk.claim(501, 3, corequisites={"course": OLD})
    desk.claim(501, 4)
    both = LedgerChoice(((Claim(4, 400), Claim(5, 400)),), swap_out=OLD)
    [answer] = desk.submit(501, both).results
    assert [codes(each) for each in answer.refused[0]] == [["already_enrolled"], ["needed_by"]]
    assert desk.roster(OLD) == [501]
