"""Linked sections, such as lecture and lab, are taken together or not at all."""

from collections.abc import Sequence
from itertools import permutations

import pytest

from portal.ledger.types import (
    ChoiceResult,
    Claim,
    Decision,
    LedgerChoice,
    Outcome,
    Reason,
    Registrations,
    SkipRule,
)
from tests.ledger.requests import TERM, Desk, codes

LECTURE, LAB, OTHER_LAB = 1, 2, 3
NEEDS_LAB, NEEDS_LECTURE = {"course": LAB}, {"course": LECTURE}


@pytest.fixture
def desk(desk: Desk) -> Desk:
    desk.section(LECTURE)
    desk.section(LAB)
    desk.section(OTHER_LAB, course=LAB)
    return desk


def pair(lab: int = LAB) -> tuple[Claim, Claim]:
    return (
        Claim(LECTURE, 400, corequisites=NEEDS_LAB),
        Claim(lab, 400, corequisites=NEEDS_LECTURE),
    )


def submit(desk: Desk, student: int, *labs: int, wait: bool = False) -> ChoiceResult:
    options = tuple(pair(lab) for lab in labs)
    [answer] = desk.submit(student, LedgerChoice(options, wait)).results
    return answer


def drop(desk: Desk, section: int, *along: int) -> Decision:
    return desk.drop(501, section, along=along)


def test_linked_sections_are_taken_in_one_step(desk: Desk) -> None:
    answer = submit(desk, 501, LAB)
    assert [each.outcome for each in answer.taken] == [Outcome.ENROLLED, Outcome.ENROLLED]


def test_linked_section_alone_is_refused(desk: Desk) -> None:
    alone = desk.claim(501, LECTURE, corequisites=NEEDS_LAB)
    assert alone.reasons == (Reason("corequisite", {"missing": [LAB]}),)


def test_neither_linked_section_is_taken_if_one_is_full(desk: Desk) -> None:
    desk.section(LAB, capacity=0, version=2)
    answer = submit(desk, 501, LAB)
    assert [codes(each) for each in answer.refused[0]] == [["together"], ["full"]]
    assert answer.refused[0][0].reasons[0].facts == {"section": LAB}
    assert desk.ledger.registrations(TERM, 501).enrolled == ()


def test_pair_with_another_lab_is_an_alternative(desk: Desk) -> None:
    desk.section(LAB, capacity=0, version=2)
    answer = submit(desk, 501, LAB, OTHER_LAB)
    assert (answer.rank, [each.section for each in answer.taken]) == (2, [LECTURE, OTHER_LAB])


def test_student_can_hold_one_linked_section_and_wait_for_the_other(desk: Desk) -> None:
    desk.section(LAB, capacity=0, version=2)
    answer = submit(desk, 501, LAB, wait=True)
    assert [each.outcome for each in answer.taken] == [Outcome.ENROLLED, Outcome.WAITLISTED]
    desk.section(LAB, capacity=1, course=LAB, version=3)
    assert desk.promote(LAB, corequisites=NEEDS_LECTURE).promoted == (501,)


def test_waitlist_position_meets_a_corequisite_only_if_both_courses_need_each_other(
    desk: Desk,
) -> None:
    desk.section(LAB, capacity=0, version=2)
    one_sided = (Claim(LECTURE, 400, corequisites=NEEDS_LAB), Claim(LAB, 400))
    [answer] = desk.submit(501, LedgerChoice((one_sided,), wait=True)).results
    assert answer.refused[0][0].reasons == (
        Reason("corequisite", {"missing": [LAB], "waiting": True}),
    )
    assert desk.ledger.registrations(TERM, 501) == Registrations()


def waits_for_the_lab(desk: Desk, student: int = 501) -> None:
    desk.section(LAB, capacity=0, version=2)
    assert submit(desk, student, LAB, wait=True).outcome == Outcome.WAITLISTED


def test_waitlist_that_a_seat_needs_cannot_be_left(desk: Desk) -> None:
    waits_for_the_lab(desk)
    refused = desk.leave(501, LAB)
    facts = {"section": LECTURE, "missing": [LAB], "waiting": True}
    assert refused.reasons == (Reason("needed_by", facts),)
    assert desk.queue(LAB) == [501]


def test_waitlist_joined_after_the_corequisite_was_canceled_can_be_left(
    desk: Desk,
) -> None:
    """Leaving only restores what the registrar's cancellation made."""
    submit(desk, 501, LAB)
    desk.section(LAB, status="CANCELED", version=2)
    desk.section(OTHER_LAB, capacity=0, course=LAB, version=2)
    desk.wait_for_next_millisecond()
    desk.claim(501, OTHER_LAB)
    assert desk.leave(501, OTHER_LAB).outcome == Outcome.LEFT
    assert desk.roster(LECTURE) == [501]


def test_later_position_does_not_replace_the_one_taken_with_the_seat(desk: Desk) -> None:
    """Otherwise the seat could be held alone after two steps."""
    waits_for_the_lab(desk)
    desk.section(OTHER_LAB, capacity=0, course=LAB, version=2)
    desk.wait_for_next_millisecond()
    desk.claim(501, OTHER_LAB)
    assert codes(desk.leave(501, LAB)) == ["needed_by"]
    assert desk.leave(501, OTHER_LAB).outcome == Outcome.LEFT


def test_seat_and_needed_waitlist_position_go_in_one_decision(desk: Desk) -> None:
    waits_for_the_lab(desk)
    answer = drop(desk, LECTURE, LAB)
    assert (answer.outcome, answer.left) == (Outcome.DROPPED, (LAB,))
    assert desk.ledger.registrations(TERM, 501) == Registrations()
    assert desk.ledger.drops(TERM, 501) == {"today": 1}
    assert [each["name"] for each in desk.events()[-2:]] == ["dropped", "left"]


def test_seat_is_not_swapped_for_a_waitlist_position(desk: Desk) -> None:
    """Waiting for another section of the dropped corequisite is not enough."""
    submit(desk, 501, LAB)
    desk.section(OTHER_LAB, capacity=0, course=LAB, version=2)
    desk.claim(501, OTHER_LAB, waived=("same_course",))
    assert codes(drop(desk, LAB)) == ["needed_by"]


def test_position_that_a_seat_needs_is_not_lost_by_skips(desk: Desk) -> None:
    waits_for_the_lab(desk)
    desk.section(LAB, capacity=1, course=LAB, version=3)
    for _ in range(3):
        desk.promote(LAB, credit_limit=0, passes=SkipRule(1))
        desk.ledger.reconsider(TERM, LAB)
    assert desk.queue(LAB) == [501]
    drop(desk, LECTURE)
    desk.promote(LAB, credit_limit=0, passes=SkipRule(1))
    assert desk.queue(LAB) == []


def test_cancel_of_a_corequisite_names_the_seats_without_it(desk: Desk) -> None:
    waits_for_the_lab(desk)
    desk.section(LAB, status="CANCELED", version=3)
    left = desk.last_event()
    assert (left["name"], left["canceled"], left["alone"]) == ("left", True, [LECTURE])


def test_adjustment_that_drops_a_corequisite_names_the_seat_without_it(desk: Desk) -> None:
    submit(desk, 501, LAB)
    assert desk.adjust(501, drop=LAB, overrides=["needed_by"]).outcome == Outcome.DROPPED
    assert desk.last_event()["alone"] == [LECTURE]


def test_lost_corequisite_does_not_block_further_drops(desk: Desk) -> None:
    desk.section(4)
    submit(desk, 501, LAB)
    desk.claim(501, 4)
    desk.adjust(501, drop=LAB, overrides=["needed_by"])
    assert drop(desk, 4).outcome == Outcome.DROPPED
    assert (desk.roster(LECTURE), desk.roster(4)) == ([501], [])
    assert desk.adjust(501, drop=LECTURE).outcome == Outcome.DROPPED


def test_promoted_swap_may_replace_a_corequisite_by_another_section(desk: Desk) -> None:
    desk.section(OTHER_LAB, course=LAB, capacity=0, version=2)
    submit(desk, 501, LAB)
    desk.submit(501, LedgerChoice(((Claim(OTHER_LAB, 400),),), wait=True, swap_out=LAB))
    desk.section(OTHER_LAB, course=LAB, capacity=1, version=3)
    assert desk.promote(OTHER_LAB).promoted == (501,)
    assert (desk.roster(LAB), desk.roster(OTHER_LAB)) == ([], [501])


def test_promoted_swap_drops_no_corequisite(desk: Desk) -> None:
    desk.section(4, capacity=0)
    desk.claim(501, LAB)
    desk.submit(501, LedgerChoice(((Claim(4, 400),),), wait=True, swap_out=LAB))
    desk.claim(501, LECTURE, corequisites=NEEDS_LAB)
    desk.section(4, capacity=1, version=2)
    assert desk.promote(4).skipped == (501,)
    facts = {"section": LECTURE, "missing": [LAB]}
    [waiting] = desk.ledger.registrations(TERM, 501).waiting
    assert waiting.reasons == (Reason("needed_by", facts),)
    assert (desk.roster(LAB), desk.roster(4), desk.queue(4)) == ([501], [], [501])


def test_pair_without_any_seat_is_not_waitlisted(desk: Desk) -> None:
    for section in (LECTURE, LAB):
        desk.section(section, capacity=0, version=2)
    answer = submit(desk, 501, LAB, wait=True)
    assert [codes(each) for each in answer.refused[0]] == [["full"], ["full"]]


def test_held_half_of_a_pair_counts(desk: Desk) -> None:
    desk.claim(501, LECTURE)
    answer = submit(desk, 501, LAB)
    assert answer.outcome == Outcome.ENROLLED
    assert codes(answer.taken[0]) == ["already_enrolled"]
    assert desk.roster(LAB) == [501]


def test_conflicting_parts_of_an_alternative_are_refused(desk: Desk) -> None:
    times = ((1, 600, 700, 18_500, 18_600),)
    desk.section(LECTURE, times=times, version=2)
    desk.section(LAB, times=times, version=2)
    answer = submit(desk, 501, LAB)
    assert answer.refused[0][1].reasons == (Reason("time_conflict", {"section": LECTURE}),)


def test_linked_seat_cannot_be_dropped_alone(desk: Desk) -> None:
    submit(desk, 501, LAB)
    refused = drop(desk, LAB)
    assert refused.reasons == (Reason("needed_by", {"section": LECTURE, "missing": [LAB]}),)
    assert desk.roster(LAB) == [501]


def test_linked_seats_drop_together_as_one_drop(desk: Desk) -> None:
    submit(desk, 501, LAB)
    assert drop(desk, LAB, LECTURE).outcome == Outcome.DROPPED
    assert desk.ledger.registrations(TERM, 501).enrolled == ()
    assert desk.ledger.drops(TERM, 501) == {"today": 1}


def test_nothing_is_dropped_if_one_seat_is_not_held(desk: Desk) -> None:
    desk.claim(501, LECTURE)
    refused = drop(desk, LECTURE, OTHER_LAB)
    assert refused.reasons == (Reason("not_enrolled", {"section": OTHER_LAB}),)
    assert desk.roster(LECTURE) == [501]


@pytest.mark.parametrize("along", [(LECTURE,), (LAB, LAB), (LAB, LECTURE, LAB)])
def test_seat_named_twice_is_dropped_once(desk: Desk, along: tuple[int, ...]) -> None:
    desk.claim(501, LECTURE)
    desk.claim(501, LAB)
    assert drop(desk, LECTURE, *along).outcome == Outcome.DROPPED
    dropped = [event["section"] for event in desk.events() if event["name"] == "dropped"]
    assert dropped == list(dict.fromkeys((LECTURE, *along)))
    assert desk.redis.get(f"{{t:{TERM}}}:seq") == str(desk.last_event()["seq"]).encode()


def test_section_named_twice_is_taken_once(desk: Desk) -> None:
    """Permissions make no difference."""
    part = Claim(LECTURE, 400, waived=("same_course", "time_conflict"))
    [answer] = desk.submit(501, LedgerChoice(((part, part),))).results
    assert [codes(each) for each in answer.refused[0]] == [["together"], ["same_course"]]
    assert desk.roster(LECTURE) == []


@pytest.mark.parametrize("named", list(permutations((LECTURE, LAB, 4))))
def test_order_of_sections_does_not_change_the_drops(desk: Desk, named: Sequence[int]) -> None:
    desk.section(4)
    submit(desk, 501, LAB)
    desk.claim(501, 4, corequisites=NEEDS_LECTURE)
    assert drop(desk, *named).outcome == Outcome.DROPPED
    assert desk.ledger.drops(TERM, 501) == {"today": 1}


@pytest.mark.parametrize("named", list(permutations((LECTURE, LAB, 0))))
def test_dependent_seat_drops_with_a_pair_whatever_its_number(
    desk: Desk, named: Sequence[int]
) -> None:
    desk.section(9)
    submit(desk, 501, LAB)
    desk.claim(501, 9, corequisites={"all": [NEEDS_LAB, NEEDS_LECTURE]})
    assert drop(desk, *(each or 9 for each in named)).outcome == Outcome.DROPPED
    assert desk.ledger.drops(TERM, 501) == {"today": 1}
