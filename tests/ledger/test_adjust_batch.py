"""Several admin adjustments in one step: every drop counts before any addition."""

from typing import Any

import pytest

from portal.ledger.errors import KeyReused
from portal.ledger.types import Claim, Decision, Outcome, PoolSpec, ReserveSpec
from tests.ledger.requests import DAY, MINUTE, TERM, Desk, codes, meets

MONDAY = meets(1, 9, 11)
DONE = [Outcome.ENROLLED] * 2


def outcomes(answers: list[Decision]) -> list[Outcome]:
    return [each.outcome for each in answers]


def swap(desk: Desk, **fields: Any) -> list[Decision]:
    """Move 501 from 1 to 2, and 502 from 2 to 1."""
    return desk.adjust_batch(desk.adjustment(501, 2, 1), desk.adjustment(502, 1, 2), **fields)


def full(desk: Desk, *sections: int, **facts: Any) -> None:
    """Store sections of one seat, held by 501, 502 and so on."""
    for section in sections:
        desk.section(section, capacity=1, **facts)
        assert desk.claim(500 + section, section).outcome == Outcome.ENROLLED


def rosters(desk: Desk, *sections: int) -> list[list[int]]:
    return [desk.roster(each) for each in sections]


def test_two_students_swap_two_full_sections(desk: Desk) -> None:
    full(desk, 1, 2)
    answer = swap(desk)
    assert [(each.section, each.swap_out) for each in answer] == [(2, 1), (1, 2)]
    assert rosters(desk, 1, 2) == [[502], [501]]


def test_drops_come_before_additions_and_events_name_the_move(desk: Desk) -> None:
    full(desk, 1, 2)
    before = len(desk.events())
    swap(desk)
    events = desk.events()[before:]
    assert [(each["name"], each["student"], each["seats"]["taken"]) for each in events] == [
        ("dropped", 501, 0),
        ("dropped", 502, 0),
        ("enrolled", 501, 1),
        ("enrolled", 502, 1),
    ]
    assert [each.get("swap") or each["instead"] for each in events] == [2, 1, 1, 2]
    assert {(each["reason"], each["actor"], each["cause"]) for each in events} == {
        ("a batch", "account:9", "adjust")
    }
    assert desk.ledger.drops(TERM, 501) == {}


def test_three_students_move_in_a_circle(desk: Desk) -> None:
    full(desk, 1, 2, 3)
    ring = [desk.adjustment(501, 2, 1), desk.adjustment(502, 3, 2), desk.adjustment(503, 1, 3)]
    assert outcomes(desk.adjust_batch(*ring)) == [*DONE, Outcome.ENROLLED]
    assert rosters(desk, 1, 2, 3) == [[503], [501], [502]]


def test_refused_student_and_those_who_need_the_seat_keep_theirs(desk: Desk) -> None:
    full(desk, 1)
    full(desk, 2, times=(MONDAY,))
    desk.section(3, times=(MONDAY,))
    desk.claim(501, 3)
    before = desk.events()
    answer = swap(desk)
    assert outcomes(answer) == [Outcome.REFUSED] * 2
    assert [codes(each) for each in answer] == [["time_conflict"], ["full"]]
    assert desk.events() == before
    assert rosters(desk, 1, 2) == [[501], [502]]
    assert outcomes(swap(desk, overrides=["time_conflict"])) == DONE
    assert [each.get("overrides") for each in desk.events()[-2:]] == [["time_conflict"], None]


def test_seat_freed_by_a_batch_belongs_to_the_waitlist(desk: Desk) -> None:
    full(desk, 1, 2)
    desk.claim(601, 2)
    assert [codes(each) for each in swap(desk)] == [["full"], ["full"]]
    desk.leave(601, 2)
    assert outcomes(swap(desk)) == DONE


def test_seat_freed_by_a_batch_belongs_to_a_skipped_student_too(desk: Desk) -> None:
    full(desk, 1, 2)
    desk.claim(601, 2)
    desk.section(2, capacity=2, version=2)
    desk.promote(2, 601, credit_limit=0)
    desk.adjust(602, add=2, overrides=["full"])
    assert [codes(each) for each in swap(desk)] == [["full"], ["full"]]


def test_pool_seat_freed_by_a_batch_belongs_to_skipped_students_of_all_its_lists(
    desk: Desk,
) -> None:
    full(desk, 1)
    full(desk, 2, pool=PoolSpec(1, 1, 1))
    desk.section(3, pool=PoolSpec(1, 1, 1))
    desk.claim(601, 3)
    desk.section(2, capacity=2, version=2, pool=PoolSpec(1, 2, 2))
    desk.promote(3, 601, credit_limit=0)
    desk.adjust(602, add=2, overrides=["full"])
    assert [codes(each) for each in swap(desk)] == [["full"], ["full"]]


def test_first_waiting_student_may_take_a_freed_seat_in_a_batch(desk: Desk) -> None:
    full(desk, 1, 2)
    desk.claim(501, 2)
    assert outcomes(swap(desk)) == DONE
    assert (desk.queue(2), desk.events()[-2]["name"]) == ([], "promoted")


def test_section_over_capacity_accepts_no_addition(desk: Desk) -> None:
    full(desk, 1, 2)
    desk.adjust(601, add=2, overrides=["full"])
    assert [codes(each) for each in swap(desk)] == [["full"], ["full"]]
    assert outcomes(swap(desk, overrides=["full"])) == DONE
    assert rosters(desk, 1, 2) == [[502], [601, 501]]


def test_reserved_seat_freed_by_a_batch_stays_reserved(desk: Desk) -> None:
    full(desk, 1)
    desk.section(2, capacity=1, reserves=(ReserveSpec(61, 1),))
    assert desk.claim(502, 2, reserves=(61,)).outcome == Outcome.ENROLLED
    assert [codes(each) for each in swap(desk)] == [["full"], ["full"]]
    mine = desk.adjustment(501, 2, 1, part=Claim(2, 400, reserves=(61,)))
    assert outcomes(desk.adjust_batch(mine, desk.adjustment(502, 1, 2))) == DONE
    assert desk.ledger.reserved(TERM, 2) == {61: 1}


def test_batch_frees_a_pool_seat_from_any_of_its_sections(desk: Desk) -> None:
    pool = PoolSpec(8, 1, 1)
    full(desk, 1)
    desk.section(2, capacity=1, pool=pool)
    desk.section(3, capacity=1, pool=pool)
    desk.claim(503, 3)
    ring = [desk.adjustment(501, 2, 1), desk.adjustment(503, 1, 3)]
    desk.claim(601, 3)
    assert [codes(each) for each in desk.adjust_batch(*ring)] == [["full"], ["full"]]
    desk.leave(601, 3)
    assert outcomes(desk.adjust_batch(*ring)) == DONE
    assert rosters(desk, 1, 2, 3) == [[503], [501], []]
    events = [each["seats"] for each in desk.events() if "seats" in each]
    assert {seats.get("pool_taken", 0) for seats in events} <= {0, 1}


def test_batch_has_one_effect_per_key(desk: Desk) -> None:
    full(desk, 1, 2)
    first = swap(desk, keys="k")
    again = swap(desk, keys="k")
    assert [(each.seq, each.section) for each in again] == [
        (each.seq, each.section) for each in first
    ]
    assert all(each.replayed for each in again)
    assert rosters(desk, 1, 2) == [[502], [501]]
    with pytest.raises(KeyReused):
        desk.adjust(501, drop=2, idempotency_key="k-0")


def test_replayed_addition_does_not_give_a_dropped_seat_again(desk: Desk) -> None:
    desk.section(1)
    desk.adjust_batch(desk.adjustment(501, 1), keys="k")
    desk.drop(501, 1)
    answer = desk.adjust_batch(desk.adjustment(501, 1), desk.adjustment(502, 1), keys="k")
    assert [each.replayed for each in answer] == [True, False]
    assert desk.roster(1) == [502]


def test_refused_batch_adjustment_can_be_sent_again(desk: Desk) -> None:
    full(desk, 1, 2)
    desk.claim(601, 2)
    swap(desk, keys="k")
    desk.leave(601, 2)
    assert outcomes(swap(desk, keys="k")) == DONE


def test_a_chain_ends_at_a_free_seat(desk: Desk) -> None:
    full(desk, 1, 2)
    desk.section(3, capacity=1)
    moves = [desk.adjustment(501, 2, 1), desk.adjustment(502, 3, 2), desk.adjustment(503, 1)]
    assert outcomes(desk.adjust_batch(*moves)) == [*DONE, Outcome.ENROLLED]
    assert rosters(desk, 1, 2, 3) == [[503], [501], [502]]


def test_batch_gives_no_more_seats_than_are_free(desk: Desk) -> None:
    desk.section(1, capacity=2)
    answer = desk.adjust_batch(*[desk.adjustment(500 + n, 1) for n in range(1, 4)])
    assert [codes(each) for each in answer] == [[], [], ["full"]]
    assert desk.roster(1) == [501, 502]


def test_two_courses_of_a_student_move_together(desk: Desk) -> None:
    for section, times in ((1, MONDAY), (2, meets(1, 13, 15))):
        desk.section(section, times=(times,))
        desk.section(section + 10, times=(meets(1, 13, 15) if section == 1 else MONDAY,))
        desk.claim(501, section)
    moves = [desk.adjustment(501, 11, 1), desk.adjustment(501, 12, 2)]
    assert outcomes(desk.adjust_batch(*moves)) == DONE
    assert [codes(each) for each in desk.adjust_batch(*moves)] == [
        ["not_enrolled", "already_enrolled"]
    ] * 2


def test_waiting_students_in_a_batch_are_added_in_order(desk: Desk) -> None:
    full(desk, 1)
    for waiter in (601, 602):
        desk.claim(waiter, 1)
    moves = [desk.adjustment(602, 1), desk.adjustment(601, 1)]
    desk.section(1, capacity=3, version=2)
    assert [codes(each) for each in desk.adjust_batch(*moves)] == [["full"], []]
    assert outcomes(desk.adjust_batch(*moves[:1])) == [Outcome.ENROLLED]


def test_same_seat_is_added_and_dropped_once(desk: Desk) -> None:
    full(desk, 1)
    desk.section(2)
    moves = [desk.adjustment(501, None, 1), desk.adjustment(501, None, 1), desk.adjustment(501, 2)]
    answer = desk.adjust_batch(*moves, desk.adjustment(501, 2), overrides=["drop_limit"])
    assert [codes(each) for each in answer] == [[], ["not_enrolled"], [], ["already_enrolled"]]
    assert rosters(desk, 1, 2) == [[], [501]]


def test_batch_respects_windows(desk: Desk) -> None:
    full(desk, 1, 2)
    now = desk.ledger.now()
    desk.put_window(8, now + MINUTE, now + DAY)
    moves = [desk.adjustment(501, 2, 1, windows=(8,)), desk.adjustment(502, 1, 2)]
    assert [codes(each) for each in desk.adjust_batch(*moves)] == [["window_before"], ["full"]]


def test_move_gives_the_student_another_chance_on_waitlists(desk: Desk) -> None:
    full(desk, 2)
    desk.section(1)
    desk.section(3)
    desk.claim(601, 1)
    assert desk.claim(601, 2).outcome == Outcome.WAITLISTED
    desk.section(2, capacity=2, version=2)
    desk.promote(2, 601, credit_limit=0)  # skipped: too many credits
    answer = desk.adjust_batch(desk.adjustment(601, 3, 1), desk.adjustment(701, 2))
    assert outcomes(answer) == [Outcome.ENROLLED, Outcome.REFUSED]
    assert codes(answer[1]) == ["full"]
