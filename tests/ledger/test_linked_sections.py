"""Lecture and lab: sections that are had together, or not at all."""

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
    SkipRule,
    Standing,
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
    return Claim(LECTURE, 400, NEEDS_LAB), Claim(lab, 400, NEEDS_LECTURE)


def submit(desk: Desk, student: int, *labs: int, wait: bool = False) -> ChoiceResult:
    options = tuple(pair(lab) for lab in labs)
    [answer] = desk.submit(student, LedgerChoice(options, wait)).lines
    return answer


def drop(desk: Desk, section: int, *along: int) -> Decision:
    return desk.drop(501, section, along=along)


def test_both_are_had_in_one_step_though_each_needs_the_other(desk: Desk) -> None:
    answer = submit(desk, 501, LAB)
    assert [each.outcome for each in answer.taken] == [Outcome.ENROLLED, Outcome.ENROLLED]


def test_one_alone_is_refused(desk: Desk) -> None:
    alone = desk.claim(501, LECTURE, corequisites=NEEDS_LAB)
    assert alone.reasons == (Reason("corequisite", {"missing": [LAB]}),)


def test_neither_is_had_where_one_is_full(desk: Desk) -> None:
    desk.section(LAB, capacity=0, version=2)
    answer = submit(desk, 501, LAB)
    assert [codes(each) for each in answer.refused[0]] == [["together"], ["full"]]
    assert answer.refused[0][0].reasons[0].facts == {"section": LAB}
    assert desk.ledger.standing(TERM, 501).enrolled == ()


def test_another_lab_is_a_fallback_for_the_whole_pair(desk: Desk) -> None:
    desk.section(LAB, capacity=0, version=2)
    answer = submit(desk, 501, LAB, OTHER_LAB)
    assert (answer.rank, [each.section for each in answer.taken]) == (2, [LECTURE, OTHER_LAB])


def test_who_likes_keeps_one_and_waits_for_the_other(desk: Desk) -> None:
    desk.section(LAB, capacity=0, version=2)
    answer = submit(desk, 501, LAB, wait=True)
    assert [each.outcome for each in answer.taken] == [Outcome.ENROLLED, Outcome.WAITLISTED]
    desk.section(LAB, capacity=1, course=LAB, version=3)
    assert desk.promote(LAB, corequisites=NEEDS_LECTURE).promoted == (501,)


def test_a_waitlist_stands_for_a_corequisite_only_where_both_courses_need_each_other(
    desk: Desk,
) -> None:
    desk.section(LAB, capacity=0, version=2)
    one_sided = (Claim(LECTURE, 400, NEEDS_LAB), Claim(LAB, 400))
    [answer] = desk.submit(501, LedgerChoice((one_sided,), wait=True)).lines
    assert answer.refused[0][0].reasons == (
        Reason("corequisite", {"missing": [LAB], "waiting": True}),
    )
    assert desk.ledger.standing(TERM, 501) == Standing()


def waits_for_the_lab(desk: Desk, student: int = 501) -> None:
    desk.section(LAB, capacity=0, version=2)
    assert submit(desk, student, LAB, wait=True).outcome == Outcome.WAITLISTED


def test_a_waitlist_that_a_seat_needs_is_not_left(desk: Desk) -> None:
    waits_for_the_lab(desk)
    refused = desk.leave(501, LAB)
    facts = {"section": LECTURE, "missing": [LAB], "waiting": True}
    assert refused.reasons == (Reason("needed_by", facts),)
    assert desk.queue(LAB) == [501]


def test_a_waitlist_that_was_joined_once_the_corequisite_was_canceled_can_be_left(
    desk: Desk,
) -> None:
    """Leaving only restores what the registrar made."""
    submit(desk, 501, LAB)
    desk.section(LAB, status="CANCELED", version=2)
    desk.section(OTHER_LAB, capacity=0, course=LAB, version=2)
    desk.wait_for_next_millisecond()
    desk.claim(501, OTHER_LAB)
    assert desk.leave(501, OTHER_LAB).outcome == Outcome.LEFT
    assert desk.roster(LECTURE) == [501]


def test_a_later_place_does_not_replace_the_one_that_a_seat_came_with(desk: Desk) -> None:
    """Else the seat could be held alone in two steps."""
    waits_for_the_lab(desk)
    desk.section(OTHER_LAB, capacity=0, course=LAB, version=2)
    desk.wait_for_next_millisecond()
    desk.claim(501, OTHER_LAB)
    assert codes(desk.leave(501, LAB)) == ["needed_by"]
    assert desk.leave(501, OTHER_LAB).outcome == Outcome.LEFT


def test_the_seat_is_dropped_and_the_waitlist_left_in_one_decision(desk: Desk) -> None:
    waits_for_the_lab(desk)
    answer = drop(desk, LECTURE, LAB)
    assert (answer.outcome, answer.left) == (Outcome.DROPPED, (LAB,))
    assert desk.ledger.standing(TERM, 501) == Standing()
    assert desk.ledger.drops(TERM, 501) == {"today": 1}
    assert [each["name"] for each in desk.events()[-2:]] == ["dropped", "left"]


def test_a_seat_does_not_make_way_for_a_place_on_a_waitlist(desk: Desk) -> None:
    """Although the corequisite that is dropped is waited for in another section."""
    submit(desk, 501, LAB)
    desk.section(OTHER_LAB, capacity=0, course=LAB, version=2)
    desk.claim(501, OTHER_LAB, waived=("same_course",))
    assert codes(drop(desk, LAB)) == ["needed_by"]


def test_a_place_that_a_seat_needs_is_not_lost_by_being_skipped(desk: Desk) -> None:
    waits_for_the_lab(desk)
    desk.section(LAB, capacity=1, course=LAB, version=3)
    for _ in range(3):
        desk.promote(LAB, limit=0, passes=SkipRule(1))
        desk.ledger.reconsider(TERM, LAB)
    assert desk.queue(LAB) == [501]
    drop(desk, LECTURE)
    desk.promote(LAB, limit=0, passes=SkipRule(1))
    assert desk.queue(LAB) == []


def test_a_canceled_corequisite_names_the_seats_that_are_left_alone(desk: Desk) -> None:
    waits_for_the_lab(desk)
    desk.section(LAB, status="CANCELED", version=3)
    left = desk.last_event()
    assert (left["name"], left["canceled"], left["alone"]) == ("left", True, [LECTURE])


def test_a_corequisite_taken_out_by_hand_names_the_seat_that_is_left_alone(desk: Desk) -> None:
    submit(desk, 501, LAB)
    assert desk.adjust(501, drop=LAB, overrides=["needed_by"]).outcome == Outcome.DROPPED
    assert desk.last_event()["alone"] == [LECTURE]


def test_a_corequisite_that_is_lost_already_holds_up_no_further_drop(desk: Desk) -> None:
    desk.section(4)
    submit(desk, 501, LAB)
    desk.claim(501, 4)
    desk.adjust(501, drop=LAB, overrides=["needed_by"])
    assert drop(desk, 4).outcome == Outcome.DROPPED
    assert (desk.roster(LECTURE), desk.roster(4)) == ([501], [])
    assert desk.adjust(501, drop=LECTURE).outcome == Outcome.DROPPED


def test_a_promoted_swap_may_give_up_a_corequisite_for_another_section_of_it(desk: Desk) -> None:
    desk.section(OTHER_LAB, course=LAB, capacity=0, version=2)
    submit(desk, 501, LAB)
    desk.submit(501, LedgerChoice(((Claim(OTHER_LAB, 400),),), wait=True, instead=LAB))
    desk.section(OTHER_LAB, course=LAB, capacity=1, version=3)
    assert desk.promote(OTHER_LAB).promoted == (501,)
    assert (desk.roster(LAB), desk.roster(OTHER_LAB)) == ([], [501])


def test_a_promoted_swap_gives_up_no_corequisite(desk: Desk) -> None:
    desk.section(4, capacity=0)
    desk.claim(501, LAB)
    desk.submit(501, LedgerChoice(((Claim(4, 400),),), wait=True, instead=LAB))
    desk.claim(501, LECTURE, corequisites=NEEDS_LAB)
    desk.section(4, capacity=1, version=2)
    assert desk.promote(4).passed == (501,)
    facts = {"section": LECTURE, "missing": [LAB]}
    [waiting] = desk.ledger.standing(TERM, 501).waiting
    assert waiting.reasons == (Reason("needed_by", facts),)
    assert (desk.roster(LAB), desk.roster(4), desk.queue(4)) == ([501], [], [501])


def test_nobody_waits_for_both(desk: Desk) -> None:
    for section in (LECTURE, LAB):
        desk.section(section, capacity=0, version=2)
    answer = submit(desk, 501, LAB, wait=True)
    assert [codes(each) for each in answer.refused[0]] == [["full"], ["full"]]


def test_the_half_that_is_there_already_counts(desk: Desk) -> None:
    desk.claim(501, LECTURE)
    answer = submit(desk, 501, LAB)
    assert answer.outcome == Outcome.ENROLLED
    assert codes(answer.taken[0]) == ["already_enrolled"]
    assert desk.roster(LAB) == [501]


def test_parts_that_clash_with_each_other_are_refused(desk: Desk) -> None:
    times = ((1, 600, 700, 18_500, 18_600),)
    desk.section(LECTURE, times=times, version=2)
    desk.section(LAB, times=times, version=2)
    answer = submit(desk, 501, LAB)
    assert answer.refused[0][1].reasons == (Reason("time_conflict", {"section": LECTURE}),)


def test_neither_is_dropped_from_under_the_other(desk: Desk) -> None:
    submit(desk, 501, LAB)
    refused = drop(desk, LAB)
    assert refused.reasons == (Reason("needed_by", {"section": LECTURE, "missing": [LAB]}),)
    assert desk.roster(LAB) == [501]


def test_both_are_dropped_together_as_one_drop_of_the_day(desk: Desk) -> None:
    submit(desk, 501, LAB)
    assert drop(desk, LAB, LECTURE).outcome == Outcome.DROPPED
    assert desk.ledger.standing(TERM, 501).enrolled == ()
    assert desk.ledger.drops(TERM, 501) == {"today": 1}


def test_nothing_is_dropped_where_one_of_them_is_not_held(desk: Desk) -> None:
    desk.claim(501, LECTURE)
    refused = drop(desk, LECTURE, OTHER_LAB)
    assert refused.reasons == (Reason("not_enrolled", {"section": OTHER_LAB}),)
    assert desk.roster(LECTURE) == [501]


@pytest.mark.parametrize("along", [(LECTURE,), (LAB, LAB), (LAB, LECTURE, LAB)])
def test_a_seat_that_is_named_twice_is_dropped_once(desk: Desk, along: tuple[int, ...]) -> None:
    desk.claim(501, LECTURE)
    desk.claim(501, LAB)
    assert drop(desk, LECTURE, *along).outcome == Outcome.DROPPED
    dropped = [event["section"] for event in desk.events() if event["name"] == "dropped"]
    assert dropped == list(dict.fromkeys((LECTURE, *along)))
    assert desk.redis.get(f"{{t:{TERM}}}:seq") == str(desk.last_event()["seq"]).encode()


def test_a_section_that_is_named_twice_is_not_had_twice(desk: Desk) -> None:
    """Whatever the student is permitted."""
    part = Claim(LECTURE, 400, waived=("same_course", "time_conflict"))
    [answer] = desk.submit(501, LedgerChoice(((part, part),))).lines
    assert [codes(each) for each in answer.refused[0]] == [["together"], ["same_course"]]
    assert desk.roster(LECTURE) == []


@pytest.mark.parametrize("named", list(permutations((LECTURE, LAB, 4))))
def test_the_order_of_naming_does_not_change_the_drops(desk: Desk, named: Sequence[int]) -> None:
    desk.section(4)
    submit(desk, 501, LAB)
    desk.claim(501, 4, corequisites=NEEDS_LECTURE)
    assert drop(desk, *named).outcome == Outcome.DROPPED
    assert desk.ledger.drops(TERM, 501) == {"today": 1}


@pytest.mark.parametrize("named", list(permutations((LECTURE, LAB, 0))))
def test_a_seat_that_is_needed_falls_with_a_pair_whatever_its_number(
    desk: Desk, named: Sequence[int]
) -> None:
    desk.section(9)
    submit(desk, 501, LAB)
    desk.claim(501, 9, corequisites={"all": [NEEDS_LAB, NEEDS_LECTURE]})
    assert drop(desk, *(each or 9 for each in named)).outcome == Outcome.DROPPED
    assert desk.ledger.drops(TERM, 501) == {"today": 1}
