"""Of several requests under one key one is decided at a time, and none that was overtaken."""

from typing import TYPE_CHECKING

import pytest

from portal.seats.ledger import Answer, Outcome, Overtaken
from tests.ledger.desk import TERM, Desk, codes

if TYPE_CHECKING:
    from collections.abc import Callable

KEY = "from the form"
LONG = 60_000


@pytest.fixture
def section(desk: Desk) -> int:
    """A section of one seat."""
    desk.section(12, capacity=1)
    return 12


def take_off(desk: Desk, flight: str, lasts: int = LONG) -> None:
    desk.ledger.take_off(TERM, 501, KEY, flight, lasts)


def test_while_one_is_in_flight_no_other_takes_off(desk: Desk) -> None:
    take_off(desk, "first")
    with pytest.raises(Overtaken):
        take_off(desk, "second")


def test_once_it_is_decided_the_next_takes_off(desk: Desk, section: int) -> None:
    take_off(desk, "first")
    assert desk.claim(501, section, request=KEY, flight="first", windows=[]).reasons
    take_off(desk, "second")


def test_once_it_has_landed_the_next_takes_off(desk: Desk) -> None:
    take_off(desk, "first")
    desk.ledger.land(TERM, 501, KEY, "first")
    take_off(desk, "second")


def test_who_was_overtaken_ends_nobody_elses_flight(desk: Desk) -> None:
    take_off(desk, "first", lasts=0)
    take_off(desk, "second")
    desk.ledger.land(TERM, 501, KEY, "first")
    with pytest.raises(Overtaken):
        take_off(desk, "third")


def test_who_took_longer_is_decided_while_no_other_has_taken_off(desk: Desk, section: int) -> None:
    take_off(desk, "first", lasts=0)
    assert desk.claim(501, section, request=KEY, flight="first").outcome == Outcome.ENROLLED


def test_who_was_overtaken_is_not_decided(desk: Desk, section: int) -> None:
    take_off(desk, "first", lasts=0)
    take_off(desk, "second")
    told = len(desk.events())
    late: list[Callable[[], Answer]] = [
        lambda: desk.claim(501, section, request=KEY, flight="first"),
        lambda: desk.drop(501, section, request=KEY, flight="first"),
        lambda: desk.leave(501, section, request=KEY, flight="first"),
    ]
    for ask in late:
        with pytest.raises(Overtaken):
            ask()
    assert len(desk.events()) == told


def test_who_was_overtaken_by_one_that_was_granted_hears_of_it(desk: Desk, section: int) -> None:
    take_off(desk, "first", lasts=0)
    take_off(desk, "second")
    desk.claim(501, section, request=KEY, flight="second")
    late = desk.claim(501, section, request=KEY, flight="first")
    assert (late.outcome, late.replayed) == (Outcome.ENROLLED, True)


def test_a_flight_that_is_not_known_any_more_is_not_decided(desk: Desk, section: int) -> None:
    take_off(desk, "first")
    [key] = desk.redis.keys("*:flight:*")
    assert 0 < desk.redis.pttl(key) <= LONG
    desk.redis.delete(key)
    with pytest.raises(Overtaken):
        desk.claim(501, section, request=KEY, flight="first")


def test_keys_of_others_are_flights_of_their_own(desk: Desk, section: int) -> None:
    take_off(desk, "first")
    desk.ledger.take_off(TERM, 502, KEY, "second", LONG)
    refused = desk.claim(502, section, request=KEY, flight="second", windows=[])
    assert codes(refused) == ["window_unscheduled"]
