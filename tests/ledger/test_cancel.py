"""A canceled section gives up its seats and its waitlist; nobody gets in from the first step on."""

import pytest

from portal.ledger.errors import LedgerUnavailable
from portal.ledger.types import Outcome
from tests.ledger.requests import TERM, Desk, codes, meets

MONDAY = meets(1, 9, 11)
SEATS, PLACES = 3, 2


@pytest.fixture
def full(desk: Desk) -> Desk:
    """Section 1 is full, with two in line."""
    desk.section(1, SEATS, times=(MONDAY,))
    for student in (501, 502, 503, 601, 602):
        desk.claim(student, 1)
    return desk


def cancel(desk: Desk, version: int = 2) -> None:
    desk.section(1, SEATS, times=(MONDAY,), status="CANCELED", version=version)


def first_step(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """Cancel it, but die after a step of two."""
    desk.ledger.at_once = 2

    def dead(*_: object) -> None:
        raise LedgerUnavailable

    with monkeypatch.context() as patch:
        patch.setattr(desk.ledger, "empty", dead)
        cancel(desk)


def test_seats_and_places_are_given_up_and_each_student_has_an_event(full: Desk) -> None:
    cancel(full)
    assert (full.roster(1), full.queue(1), full.ledger.vacant(TERM)) == ([], [], set())
    seats = full.ledger.seats(TERM)[1]
    assert (seats.taken, seats.waiting, seats.status) == (0, 0, "CANCELED")
    told = [(event["name"], event.get("student")) for event in full.events()[-6:]]
    assert told == [
        ("section_set", None),
        ("left", 601),
        ("left", 602),
        ("dropped", 501),
        ("dropped", 502),
        ("dropped", 503),
    ]
    assert all(event["canceled"] for event in full.events()[-5:])


def test_credits_times_and_the_course_are_free_again(full: Desk) -> None:
    full.section(2, times=(MONDAY,), course=1)
    assert codes(full.claim(501, 2, limit=400)) == ["same_course", "time_conflict", "credit_limit"]
    cancel(full)
    assert full.claim(501, 2, limit=400).outcome == Outcome.ENROLLED
    assert full.ledger.drops(TERM, 501) == {}


def test_who_would_have_swapped_into_it_keeps_the_old_seat(full: Desk) -> None:
    full.section(2)
    full.claim(701, 2)
    full.claim(701, 1, instead=2)
    cancel(full)
    standing = full.ledger.standing(TERM, 701)
    assert [held.section for held in standing.enrolled] == [2]
    assert standing.waiting == ()


def test_who_would_have_swapped_it_away_keeps_the_place_in_line(full: Desk) -> None:
    full.section(2, capacity=1)
    full.claim(701, 2)
    full.claim(501, 2, instead=1)
    cancel(full)
    full.drop(701, 2)
    assert full.promote(2).promoted == (501,)


def test_who_was_passed_over_for_it_elsewhere_is_asked_again(full: Desk) -> None:
    full.section(2, capacity=1, times=(MONDAY,))
    full.claim(701, 2)
    full.claim(501, 2, waived=["time_conflict"])
    full.drop(701, 2)
    assert full.promote(2).passed == (501,)
    cancel(full)
    assert full.promote(2).promoted == (501,)


def test_nobody_gets_in_between_two_steps_and_the_rest_is_given_up_later(
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


def test_to_say_it_again_goes_on_with_it(full: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    first_step(full, monkeypatch)
    cancel(full)
    assert (full.roster(1), full.ledger.emptying(TERM)) == ([], set())


def test_the_promoter_is_called_for_what_is_left(
    full: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    full.clear_woken()
    first_step(full, monkeypatch)
    assert full.redis.hget(f"{{t:{TERM}}}:woken", "promote")


def test_what_is_left_when_it_is_opened_again_stays(
    full: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    first_step(full, monkeypatch)
    full.section(1, SEATS, version=3)
    assert not full.ledger.empty(TERM, 1).more
    assert (full.roster(1), full.ledger.emptying(TERM)) == ([501, 502, 503], set())


def test_500_students_are_released_in_steps_of_a_hundred(desk: Desk) -> None:
    desk.section(1, capacity=400, waitlist=100)
    for student in range(1, 501):
        desk.claim(student, 1)
    desk.redis.config_resetstat()
    desk.section(1, capacity=400, waitlist=100, status="CANCELED", version=2)
    calls = desk.redis.info("commandstats")["cmdstat_fcall"]["calls"]
    assert calls == 5
    assert (desk.roster(1), desk.queue(1)) == ([], [])
