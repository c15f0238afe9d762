"""Admin adjustments override only the reasons that they name."""

from typing import Any

import pytest

from portal.ledger.errors import KeyReused
from portal.ledger.types import NOT_OVERRIDABLE, Claim, Outcome, PoolSpec, Reason
from tests.ledger.requests import MINUTE, TERM, Desk, codes, facts, meets

MONDAY = meets(1, 9, 11)


def only(event: dict[str, Any], *fields: str) -> dict[str, Any]:
    return {name: event[name] for name in fields if name in event}


def test_allowed_addition_gives_a_normal_seat(desk: Desk) -> None:
    desk.section(1)
    answer = desk.adjust(501, add=1)
    assert (answer.outcome, answer.registration) == (Outcome.ENROLLED, answer.seq)
    assert [held.section for held in desk.ledger.registrations(TERM, 501).enrolled] == [1]
    assert desk.last_event()["name"] == "enrolled"
    assert desk.drop(501, 1).outcome == Outcome.DROPPED


def test_event_has_the_admin_the_reason_and_the_overrides(desk: Desk) -> None:
    desk.section(1, capacity=0)
    named = ("credit_limit", "full", "hold")
    desk.adjust(501, add=1, overrides=named, credit_limit=0, reason='Dean: "yes"')
    events = only(desk.last_event(), "actor", "cause", "reason", "overrides")
    assert events == {
        "actor": "account:9",
        "cause": "adjust",
        "reason": 'Dean: "yes"',
        "overrides": ["credit_limit", "full"],
    }
    desk.section(2)
    desk.adjust(502, add=2, overrides=named)
    assert "overrides" not in desk.last_event()


def test_reasons_that_are_not_overridden_refuse_and_change_nothing(desk: Desk) -> None:
    desk.section(1, capacity=0, times=(MONDAY,))
    desk.section(2, times=(MONDAY,))
    desk.claim(501, 2)
    before = desk.events()
    requested: dict[str, Any] = {"credit_limit": 400, "windows": [], "part": held_back(1)}
    answer = desk.adjust(501, **requested, overrides=["full", "time_conflict"])
    assert codes(answer) == ["window_unscheduled", "credit_limit", "hold"]
    assert (answer.outcome, answer.seq) == (Outcome.REFUSED, 0)
    assert desk.preview(501, **requested) == [
        "window_unscheduled",
        "time_conflict",
        "credit_limit",
        "hold",
        "full",
    ]
    assert desk.events() == before


def held_back(section: int) -> Claim:
    return Claim(section, 400, rules=(Reason("hold"),))


@pytest.mark.parametrize("code", sorted(NOT_OVERRIDABLE - {"student_unknown"}))
def test_some_reasons_cannot_be_overridden(desk: Desk, code: str) -> None:
    desk.section(1)
    desk.claim(501, 1)
    desk.section(2, status="CANCELED")
    desk.section(3, status="NEW")
    desk.section(4)
    desk.ledger.hold_for_round(TERM, 1, [4])
    asks = {
        "already_enrolled": {"add": 1},
        "not_enrolled": {"drop": 2},
        "section_unknown": {"add": 9},
        "section_canceled": {"add": 2},
        "section_new": {"add": 3},
        "in_round": {"add": 4},
    }
    answer = desk.adjust(501, **asks[code], overrides=[code])
    assert codes(answer) == [code]


def test_admin_can_override_the_status_of_a_confirmed_section(desk: Desk) -> None:
    desk.section(1, status="CONFIRMED")
    assert codes(desk.adjust(501, add=1)) == ["section_confirmed"]
    assert desk.adjust(501, add=1, overrides=["section_confirmed"]).outcome == Outcome.ENROLLED


def test_section_over_capacity_has_no_free_seat_until_it_is_below_again(desk: Desk) -> None:
    desk.section(1, capacity=1)
    desk.claim(501, 1)
    assert facts(desk.adjust(502, add=1), "full") == {"waiting": 0, "waitlist_capacity": 5}
    desk.adjust(502, add=1, overrides=["full"])
    desk.claim(601, 1)
    seats = desk.ledger.seats(TERM)[1]
    assert (seats.taken, seats.capacity, seats.open, seats.waiting) == (2, 1, 0, 1)
    desk.drop(501, 1)
    assert (desk.ledger.seats(TERM)[1].open, desk.ledger.vacant(TERM)) == (0, set())
    desk.drop(502, 1)
    assert desk.ledger.vacant(TERM) == {1}
    assert desk.promote(1).promoted == (601,)


def test_free_seat_belongs_to_the_waitlist_in_adjustments_too(desk: Desk) -> None:
    desk.section(1, capacity=1)
    for student in (501, 601, 602):
        desk.claim(student, 1)
    desk.drop(501, 1)
    assert codes(desk.adjust(701, add=1)) == ["full"]
    assert codes(desk.adjust(602, add=1)) == ["full"]
    assert desk.adjust(601, add=1).outcome == Outcome.ENROLLED


def test_waiting_student_who_is_added_leaves_the_waitlist(desk: Desk) -> None:
    desk.section(1, capacity=1)
    for student in (501, 601, 602):
        desk.claim(student, 1)
    answer = desk.adjust(602, add=1, overrides=["full"])
    assert answer.outcome == Outcome.ENROLLED
    assert desk.last_event()["name"] == "promoted"
    assert (desk.queue(1), desk.roster(1)) == ([601], [501, 602])
    assert desk.ledger.registrations(TERM, 602).waiting == ()


def test_addition_drops_only_the_named_seat(desk: Desk) -> None:
    desk.section(1, capacity=1)
    desk.section(2)
    desk.claim(501, 1)
    desk.claim(601, 2)
    desk.claim(601, 1, swap_out=2)
    desk.adjust(601, add=1, overrides=["full"])
    assert [held.section for held in desk.ledger.registrations(TERM, 601).enrolled] == [1, 2]


def test_move_is_one_step_and_no_drop_of_the_day(desk: Desk) -> None:
    desk.section(1, times=(MONDAY,))
    desk.section(2, times=(MONDAY,), course=1)
    desk.claim(501, 1)
    answer = desk.adjust(501, add=2, drop=1, drop_limit=0)
    assert (answer.outcome, answer.section, answer.swap_out) == (Outcome.ENROLLED, 2, 1)
    dropped, enrolled = desk.events()[-2:]
    assert (dropped["name"], dropped["swap"], dropped["reason"]) == (
        "dropped",
        2,
        "a late request",
    )
    assert (enrolled["name"], enrolled["instead"]) == ("enrolled", 1)
    assert desk.ledger.drops(TERM, 501) == {}


@pytest.mark.parametrize("batch", [False, True])
def test_move_of_a_skipped_student_comes_before_those_behind_them(
    desk: Desk, *, batch: bool
) -> None:
    """The move changes their seats, so the skip no longer counts, alone or in a batch."""
    desk.section(1)
    desk.section(2, capacity=1)
    desk.claim(501, 2)
    desk.claim(601, 1)
    for student in (601, 602):
        assert desk.claim(student, 2).outcome == Outcome.WAITLISTED
    desk.section(2, capacity=2, version=2)
    desk.promote(2, 601, credit_limit=0)  # skipped: too many credits
    assert codes(desk.adjust(601, add=2)) == ["full"]  # the seat belongs to 602
    if batch:
        (answer,) = desk.adjust_batch(desk.adjustment(601, 2, 1))
    else:
        answer = desk.adjust(601, add=2, drop=1)
    assert answer.outcome == Outcome.ENROLLED
    assert (desk.queue(2), desk.roster(1), desk.roster(2)) == ([602], [], [501, 601])


def test_refused_move_keeps_the_old_seat(desk: Desk) -> None:
    desk.section(1)
    desk.section(2, capacity=0)
    desk.claim(501, 1)
    assert codes(desk.adjust(501, add=2, drop=1)) == ["full"]
    assert codes(desk.adjust(502, add=2, drop=1, overrides=["full"])) == ["not_enrolled"]
    assert (desk.roster(1), desk.roster(2)) == ([501], [])


def test_drop_by_an_admin_frees_the_seat_for_waiting_students(desk: Desk) -> None:
    desk.section(1, capacity=1)
    for student in (501, 601):
        desk.claim(student, 1)
    desk.clear_woken()
    answer = desk.adjust(501, drop=1)
    assert (answer.outcome, answer.wake) == (Outcome.DROPPED, ("record", "promote"))
    assert desk.promote(1).promoted == (601,)


def test_drop_by_an_admin_respects_limits_unless_overridden(desk: Desk) -> None:
    desk.section(1)
    desk.section(2)
    desk.claim(501, 1)
    desk.claim(501, 2, corequisites={"course": 1})
    now = desk.ledger.now()
    desk.put_window(8, now + MINUTE, now + 2 * MINUTE)
    strict: dict[str, Any] = {"drop": 1, "windows": [8], "drop_limit": 0}
    assert codes(desk.adjust(501, **strict)) == ["window_before", "drop_limit", "needed_by"]
    named = ["window_before", "drop_limit", "needed_by"]
    assert desk.adjust(501, **strict, overrides=named).outcome == Outcome.DROPPED
    assert desk.ledger.drops(TERM, 501) == {}
    desk.adjust(501, drop=2)
    assert desk.ledger.drops(TERM, 501) == {"today": 1}


def test_adjustment_has_one_effect_per_key(desk: Desk) -> None:
    desk.section(1, capacity=0)
    first = desk.adjust(501, add=1, overrides=["full"], idempotency_key="k")
    again = desk.adjust(501, add=1, overrides=["full"], idempotency_key="k")
    assert {**vars(again), "replayed": False} == vars(first)
    assert desk.roster(1) == [501]
    with pytest.raises(KeyReused):
        desk.adjust(501, drop=1, idempotency_key="k")


def test_retry_is_replayed_when_the_catalogs_credits_changed(desk: Desk) -> None:
    desk.section(1, credits_min=300)
    first = desk.adjust(501, part=Claim(1, 400), idempotency_key="k")
    again = desk.adjust(501, part=Claim(1, 300), idempotency_key="k")
    assert {**vars(again), "replayed": False} == vars(first)
    with pytest.raises(KeyReused):
        desk.adjust(501, part=Claim(1, 300), chosen_credits=300, idempotency_key="k")


def test_refused_adjustment_can_be_sent_with_overrides_under_a_new_key(desk: Desk) -> None:
    desk.section(1, capacity=0)
    assert codes(desk.adjust(501, add=1, idempotency_key="k")) == ["full"]
    answer = desk.adjust(501, add=1, overrides=["full"], idempotency_key="l")
    assert answer.outcome == Outcome.ENROLLED


def test_longer_waiting_student_of_another_section_in_the_pool_comes_first(desk: Desk) -> None:
    for section in (1, 2, 3):
        desk.section(section, capacity=5, pool=PoolSpec(70, capacity=1, version=1))
    desk.claim(501, 1)
    desk.claim(601, 2)
    desk.claim(602, 1)
    desk.drop(501, 1)
    assert codes(desk.adjust(602, add=1)) == ["full"]
    for section in (1, 3):  # with and without waiting students of its own
        assert codes(desk.adjust(701, add=section)) == ["full"]
    assert desk.adjust(601, add=2).outcome == Outcome.ENROLLED
