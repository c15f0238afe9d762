"""A canceled section frees its seats and waitlist, and accepts no claims from the first step."""

import pytest

from portal.ledger.errors import LedgerUnavailable
from portal.ledger.types import Outcome
from tests.ledger.requests import TERM, Desk, codes, meets

MONDAY = meets(1, 9, 11)
SEATS, PLACES = 3, 2


@pytest.fixture
def full(desk: Desk) -> Desk:
    """Fill section 1; two students wait."""
    desk.section(1, SEATS, times=(MONDAY,))
    for student in (501, 502, 503, 601, 602):
        desk.claim(student, 1)
    return desk


def cancel(desk: Desk, version: int = 2) -> None:
    desk.section(1, SEATS, times=(MONDAY,), status="CANCELED", version=version)


def first_step(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run only the first step of a cancellation, which frees two."""
    desk.ledger.at_once = 2

    def dead(*_: object) -> None:
        raise LedgerUnavailable

    with monkeypatch.context() as patch:
        patch.setattr(desk.ledger, "empty", dead)
        cancel(desk)


def test_cancel_frees_seats_and_waitlist_positions_with_an_event_each(full: Desk) -> None:
    cancel(full)
    assert (full.roster(1), full.queue(1), full.ledger.vacant(TERM)) == ([], [], set())
    seats = full.ledger.seats(TERM)[1]
    assert (seats.taken, seats.waiting, seats.status) == (0, 0, "CANCELED")
    events = [(event["name"], event.get("student")) for event in full.events()[-6:]]
    assert events == [
        ("section_set", None),
        ("left", 601),
        ("left", 602),
        ("dropped", 501),
        ("dropped", 502),
        ("dropped", 503),
    ]
    assert all(event["canceled"] for event in full.events()[-5:])


def test_canceled_section_no_longer_counts_for_credits_times_and_course(full: Desk) -> None:
    full.section(2, times=(MONDAY,), course=1)
    assert codes(full.claim(501, 2, credit_limit=400)) == [
        "same_course",
        "time_conflict",
        "credit_limit",
    ]
    cancel(full)
    assert full.claim(501, 2, credit_limit=400).outcome == Outcome.ENROLLED
    assert full.ledger.drops(TERM, 501) == {}


def test_student_waiting_to_swap_into_a_canceled_section_keeps_the_old_seat(full: Desk) -> None:
    full.section(2)
    full.claim(701, 2)
    full.claim(701, 1, swap_out=2)
    cancel(full)
    registrations = full.ledger.registrations(TERM, 701)
    assert [held.section for held in registrations.enrolled] == [2]
    assert registrations.waiting == ()


def test_student_waiting_to_swap_a_canceled_section_keeps_the_position(full: Desk) -> None:
    full.section(2, capacity=1)
    full.claim(701, 2)
    full.claim(501, 2, swap_out=1)
    cancel(full)
    full.drop(701, 2)
    assert full.promote(2).promoted == (501,)


def test_cancel_gives_students_skipped_because_of_it_another_chance(full: Desk) -> None:
    full.section(2, capacity=1, times=(MONDAY,))
    full.claim(701, 2)
    full.claim(501, 2, waived=["time_conflict"])
    full.drop(701, 2)
    assert full.promote(2).skipped == (501,)
    cancel(full)
    assert full.promote(2).promoted == (501,)


def test_no_claim_succeeds_between_the_steps_of_a_cancellation(
    full: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_step(full, monkeypatch)
    assert (full.roster(1), full.queue(1)) == ([501, 502, 503], [])
    assert full.ledger.emptying(TERM) == {1}
    assert "section_canceled" in codes(full.claim(801, 1))
    assert codes(full.adjust(801, add=1, overrides=["section_canceled", "full"])) == [
        "section_canceled"
    ]
    assert full.ledger.empty(TERM, 1).more
    assert full.roster(1) == [503]
    assert not full.ledger.empty(TERM, 1).more
    assert (full.roster(1), full.ledger.emptying(TERM)) == ([], set())


def test_repeated_cancel_continues_the_cancellation(
    full: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_step(full, monkeypatch)
    cancel(full)
    assert (full.roster(1), full.ledger.emptying(TERM)) == ([], set())


def test_promoter_is_enqueued_for_the_rest_of_a_cancellation(
    full: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    full.clear_woken()
    first_step(full, monkeypatch)
    assert full.redis.hget(f"{{t:{TERM}}}:woken", "promote")


def test_reopened_section_keeps_the_seats_not_yet_freed(
    full: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_step(full, monkeypatch)
    full.section(1, SEATS, version=3)
    assert not full.ledger.empty(TERM, 1).more
    assert (full.roster(1), full.ledger.emptying(TERM)) == ([501, 502, 503], set())


def test_cancel_frees_500_seats_in_steps_of_100(desk: Desk) -> None:
    desk.section(1, capacity=400, waitlist=100)
    for student in range(1, 501):
        desk.claim(student, 1)
    desk.redis.config_resetstat()
    desk.section(1, capacity=400, waitlist=100, status="CANCELED", version=2)
    calls = desk.redis.info("commandstats")["cmdstat_fcall"]["calls"]
    assert calls == 5
    assert (desk.roster(1), desk.queue(1)) == ([], [])
