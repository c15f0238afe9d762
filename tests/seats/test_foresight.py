"""What can be told before a claim is sent."""

from typing import Any

from portal.seats import foresight
from portal.seats.answers import Held, Reason, Seats, Standing, Waiting
from tests.seats.makers import a_board, a_card, a_meeting, a_profile, course

LIMIT = 2100


def holding(*cards: Any) -> Standing:
    return Standing(enrolled=tuple(Held(card.id, 400, 1, 0) for card in cards))


def foreseen(card: Any, standing: Standing, *others: Any, limit: int = LIMIT) -> list[Reason]:
    return foresight.foreseen(a_profile(), card, a_board(card, *others), standing, limit)


def test_nothing_stands_in_the_way_of_a_free_student() -> None:
    assert foreseen(a_card(), Standing()) == []


def test_what_is_held_already_is_the_only_thing_told() -> None:
    card = a_card(prerequisites=course("A-1"))
    assert foreseen(card, holding(card)) == [Reason("already_enrolled")]


def test_who_waits_already_is_told_the_place() -> None:
    card = a_card()
    waiting = Standing(waiting=(Waiting(card.id, 400, 1, 0, 2, 5),))
    assert foreseen(card, waiting) == [Reason("already_waiting", {"position": 2})]


def test_another_section_of_the_course_is_in_the_way() -> None:
    card, sibling = a_card(), a_card(number="02")
    assert Reason("same_course", {"section": sibling.id}) in foreseen(
        card, holding(sibling), sibling
    )


def test_a_class_at_the_same_time_is_in_the_way() -> None:
    card = a_card(meetings=(a_meeting(mask=1, start=660, end=720),))
    other = a_card("MAT-1010", meetings=(a_meeting(),))
    assert foreseen(card, holding(other), other) == [Reason("time_conflict", {"section": other.id})]


def test_a_class_that_ends_when_this_one_begins_is_not() -> None:
    card = a_card(meetings=(a_meeting(start=710, end=800),))
    other = a_card("MAT-1010", meetings=(a_meeting(),))
    assert foreseen(card, holding(other), other) == []


def test_a_common_exam_block_clashes_with_nothing() -> None:
    card = a_card(meetings=(a_meeting(mask=127, start=480, end=1310, clashes=False),))
    other = a_card("MAT-1010", meetings=(a_meeting(),))
    assert foreseen(card, holding(other), other) == []


def test_dates_that_may_not_overlap_are_left_to_the_ledger() -> None:
    card = a_card(meetings=(a_meeting(dates="Aug 26 – Oct 16"),))
    other = a_card("MAT-1010", meetings=(a_meeting(dates="Oct 17 – Dec 20"),))
    assert foreseen(card, holding(other), other) == []


def test_credits_beyond_the_limit_are_told_as_a_sum() -> None:
    card, other = a_card(), a_card("MAT-1010")
    (reason,) = foreseen(card, holding(other), other, limit=700)
    assert reason == Reason("credit_limit", {"held": 400, "adds": 400, "limit": 700})


def test_a_corequisite_is_told_until_it_is_held() -> None:
    lab = a_card("PHY-2")
    card = a_card("PHY-1", corequisites=course("PHY-2"))
    assert foreseen(card, Standing(), lab) == [Reason("corequisite", {"missing": [lab.course_id]})]
    assert foreseen(card, holding(lab), lab) == []


def test_a_list_that_is_full_leaves_nothing_to_try() -> None:
    full = Seats(1, capacity=2, taken=2, waiting=5, waitlist_capacity=5, status="OPEN", seq=1)
    assert [reason.code for reason in foresight.no_room(full)] == ["waitlist_full"]


def test_a_free_seat_or_a_place_in_line_is_room() -> None:
    assert foresight.no_room(Seats(1, 2, 1, 0, 0, "OPEN", 1)) == []
    assert foresight.no_room(Seats(1, 2, 2, 4, 5, "OPEN", 1)) == []
