"""The deadlines of a term, decided where a claim is decided: at the ledger's own time."""

import pytest

from portal.ledger.errors import LedgerBehind
from portal.ledger.function_library import prefix
from portal.ledger.types import Claim, LedgerChoice, Outcome, SkipRule
from tests.ledger.requests import DAY, MINUTE, TERM, Desk, codes, facts

ADD, DROP, WITHDRAW = "add_deadline", "drop_deadline", "withdraw_deadline"
NAMES = {"deadlines_set", "deadline_passed"}


@pytest.fixture
def now(desk: Desk) -> int:
    """Open two sections, and return the ledger's time."""
    desk.section(1, capacity=1)
    desk.section(2)
    return desk.ledger.now()


def put(desk: Desk, version: int = 1, **deadlines: int) -> int:
    """Set the deadlines; return the number of the event, 0 if nothing has changed."""
    return desk.ledger.put_deadlines(TERM, deadlines, version).seq


def told(desk: Desk) -> list[tuple[str, str | None]]:
    events = [each for each in desk.events() if each["name"] in NAMES]
    return [(each["name"], each.get("deadline")) for each in events]


def test_claims_are_decided_by_the_millisecond_of_the_deadline(desk: Desk, now: int) -> None:
    desk.section(3, capacity=10_000)
    ends = now + 300
    put(desk, add_deadline=ends)
    answers = [desk.claim(501, 3)]
    while answers[-1].outcome is Outcome.ENROLLED:
        answers.append(desk.claim(501 + len(answers), 3))
    assert all(each.at < ends for each in answers[:-1])
    assert answers[-1].at >= ends
    assert facts(answers[-1], ADD) == {"closes": ends}
    assert told(desk) == [("deadlines_set", None), ("deadline_passed", ADD)]


def test_no_one_joins_a_waitlist_after_the_last_day_to_add(desk: Desk, now: int) -> None:
    desk.claim(501, 1)
    put(desk, add_deadline=now)
    assert codes(desk.claim(502, 1)) == [ADD, "full"]
    assert desk.queue(1) == []


def test_waitlists_stop_after_the_last_day_to_add_and_can_still_be_left(
    desk: Desk, now: int
) -> None:
    for student in (501, 502, 503):
        desk.claim(student, 1)
    put(desk, add_deadline=now)
    desk.drop(501, 1)
    assert desk.ledger.vacant(TERM) == set()
    assert desk.promote(1).promoted == ()
    assert (desk.roster(1), desk.queue(1)) == ([], [502, 503])
    assert desk.leave(503, 1).outcome is Outcome.LEFT


def test_seats_freed_meanwhile_go_to_the_waitlist_after_a_later_deadline(
    desk: Desk, now: int
) -> None:
    desk.claim(501, 1)
    desk.claim(502, 1)
    put(desk, add_deadline=now)
    desk.drop(501, 1)
    desk.clear_woken()
    change = desk.ledger.put_deadlines(TERM, {ADD: now + DAY}, 2)
    assert "promote" in change.wake
    assert desk.ledger.vacant(TERM) == {1}
    assert desk.promote(1).promoted == (502,)


def test_a_free_seat_no_longer_waits_once_the_deadline_passes(desk: Desk, now: int) -> None:
    desk.claim(501, 1)
    desk.claim(502, 1)
    desk.drop(501, 1)
    assert desk.ledger.vacant(TERM) == {1}
    put(desk, add_deadline=now)
    assert desk.ledger.vacant(TERM) == set()


def test_drops_are_refused_after_the_last_day_to_drop(desk: Desk, now: int) -> None:
    desk.claim(501, 1)
    put(desk, drop_deadline=now, withdraw_deadline=now + DAY)
    refused = desk.drop(501, 1)
    assert facts(refused, DROP) == {"closes": now, "withdraw": now + DAY}
    assert desk.roster(1) == [501]


def test_without_a_last_day_to_withdraw_the_refusal_names_none(desk: Desk, now: int) -> None:
    desk.claim(501, 1)
    put(desk, drop_deadline=now)
    assert facts(desk.drop(501, 1), DROP) == {"closes": now}


def test_drops_are_refused_after_the_last_day_to_withdraw(desk: Desk, now: int) -> None:
    desk.claim(501, 1)
    put(desk, withdraw_deadline=now)
    assert facts(desk.drop(501, 1), WITHDRAW) == {"closes": now}


def test_a_swap_drops_a_seat_too(desk: Desk, now: int) -> None:
    desk.claim(501, 1)
    put(desk, drop_deadline=now)
    [result] = desk.submit(501, LedgerChoice(((Claim(2, 400),),), swap_out=1)).results
    assert codes(result.refused[0][0]) == [DROP]
    assert desk.roster(1) == [501]


@pytest.mark.parametrize("name", [ADD, DROP, WITHDRAW])
def test_no_swap_is_attached_to_a_waitlist_position_after_a_deadline(
    desk: Desk, now: int, name: str
) -> None:
    desk.claim(501, 1)
    desk.claim(502, 2)
    desk.submit(502, LedgerChoice(((Claim(1, 400),),), wait=True))
    attach = LedgerChoice(((Claim(1, 400),),), wait=True, swap_out=2)
    put(desk, 1, **{name: now})
    [result] = desk.submit(502, attach).results
    assert codes(result.refused[0][0]) == [name]
    put(desk, 2)
    [result] = desk.submit(502, attach).results
    assert result.outcome is Outcome.WAITLISTED


def test_a_waiting_swap_is_skipped_after_the_last_day_to_drop_until_a_later_one(
    desk: Desk, now: int
) -> None:
    desk.claim(501, 1)
    desk.claim(502, 2)
    desk.submit(502, LedgerChoice(((Claim(1, 400),),), wait=True, swap_out=2))
    desk.drop(501, 1)
    put(desk, drop_deadline=now)
    assert desk.promote(1, passes=SkipRule(1)).skipped == (502,)
    assert desk.queue(1) == [502]  # the skip does not count
    put(desk, 2, drop_deadline=now + DAY)
    assert desk.promote(1).promoted == (502,)
    assert desk.roster(2) == []


def test_a_changed_deadline_holds_from_the_next_decision_on(desk: Desk, now: int) -> None:
    put(desk, add_deadline=now)
    assert codes(desk.claim(501, 1)) == [ADD]
    put(desk, 2, add_deadline=now + MINUTE)
    assert desk.claim(501, 1).outcome is Outcome.ENROLLED
    put(desk, 3)
    put(desk, 4, add_deadline=now)
    assert codes(desk.claim(501, 2)) == [ADD]


def test_older_deadlines_never_replace_newer_ones(desk: Desk, now: int) -> None:
    assert put(desk, 5, add_deadline=now + DAY)
    assert not put(desk, 4, add_deadline=now)
    assert not put(desk, 7, add_deadline=now + DAY)  # the same
    assert not put(desk, 6, add_deadline=now)  # arrives late
    assert desk.claim(501, 1).outcome is Outcome.ENROLLED


def test_a_deadline_that_has_passed_stays_so_on_a_server_whose_clock_is_behind(
    desk: Desk, now: int
) -> None:
    put(desk, add_deadline=now, drop_deadline=now)
    desk.ledger.turn(TERM)
    later = {"add_deadline": now + DAY, "drop_deadline": now + DAY}
    desk.redis.hset(f"{prefix(TERM)}:deadlines", mapping=later)
    assert desk.claim(501, 1).outcome is Outcome.REFUSED


def test_without_deadlines_nothing_is_journaled(desk: Desk, now: int) -> None:
    assert now
    assert not put(desk)
    assert told(desk) == []


def test_each_deadline_passes_once(desk: Desk, now: int) -> None:
    put(desk, add_deadline=now, drop_deadline=now + DAY)
    put(desk, 2, add_deadline=now, drop_deadline=now)
    desk.ledger.turn(TERM)
    passed = [deadline for name, deadline in told(desk) if name == "deadline_passed"]
    assert passed == [ADD, DROP]


def test_admins_can_override_deadlines(desk: Desk, now: int) -> None:
    desk.claim(501, 1)
    put(desk, add_deadline=now, drop_deadline=now)
    assert desk.preview(501, drop=1) == [DROP]
    assert desk.preview(501, add=2, drop=1) == [ADD, DROP]
    assert codes(desk.adjust(501, 2, 1)) == [ADD, DROP]
    moved = desk.adjust(501, 2, 1, overrides=(ADD, DROP))
    assert moved.outcome is Outcome.ENROLLED
    assert desk.last_event()["overrides"] == [ADD, DROP]


def test_a_batch_of_adjustments_obeys_them_too(desk: Desk, now: int) -> None:
    put(desk, add_deadline=now)
    move = desk.adjustment(501, 2)
    assert [codes(each) for each in desk.adjust_batch(move)] == [[ADD]]
    [answer] = desk.adjust_batch(move, overrides=(ADD,))
    assert answer.outcome is Outcome.ENROLLED


def test_a_repeated_request_gets_its_answer_after_the_deadline(desk: Desk, now: int) -> None:
    assert desk.claim(501, 1, idempotency_key="first-key").outcome is Outcome.ENROLLED
    put(desk, add_deadline=now)
    again = desk.claim(501, 1, idempotency_key="first-key")
    assert (again.outcome, again.replayed) == (Outcome.ENROLLED, True)


def test_a_ledger_that_is_behind_takes_no_deadlines(desk: Desk, now: int) -> None:
    with pytest.raises(LedgerBehind):
        desk.ledger.put_deadlines(TERM, {ADD: now}, 1, recorded=1000)
