"""A waitlist goes by band, then first come, first served."""

import pytest

from portal.ledger.types import Decision, PoolSpec
from tests.ledger.requests import TERM, Desk

ADA, BEN, CLEO, DAN, EVE = 1, 2, 3, 4, 5
SECTION, OTHER = 1, 2


@pytest.fixture
def full(desk: Desk) -> None:
    """A section whose only seat Eve has."""
    desk.section(SECTION, 1)
    desk.claim(EVE, SECTION)


def join(desk: Desk, student: int, band: int | None = None, section: int = SECTION) -> Decision:
    return desk.claim(student, section, wait=True, band=band)


@pytest.mark.usefixtures("full")
def test_a_higher_band_comes_first_and_others_move_back(desk: Desk) -> None:
    assert join(desk, ADA, 2).position == 1
    assert join(desk, BEN, 3).position == 2
    assert join(desk, CLEO, 2).position == 2
    assert join(desk, DAN, 1).position == 1
    assert desk.queue(SECTION) == [DAN, ADA, CLEO, BEN]
    places = {each: desk.ledger.registrations(TERM, each).waiting for each in (ADA, BEN, CLEO, DAN)}
    found = {each: place for each, (place,) in places.items()}
    assert {each: (at.band, at.position) for each, at in found.items()} == {
        ADA: (2, 2),
        BEN: (3, 4),
        CLEO: (2, 3),
        DAN: (1, 1),
    }


@pytest.mark.usefixtures("full")
def test_seats_go_by_band_then_time(desk: Desk) -> None:
    for student, band in ((ADA, 2), (BEN, 2), (CLEO, None)):
        join(desk, student, band)
    given = []
    for holder in (EVE, CLEO, ADA):
        desk.drop(holder, SECTION)
        given += desk.promote(SECTION).promoted
    assert given == [CLEO, ADA, BEN]


@pytest.mark.usefixtures("full")
def test_a_free_seat_is_for_the_waitlist_whatever_the_band_of_a_newcomer(desk: Desk) -> None:
    join(desk, ADA, 3)
    desk.drop(EVE, SECTION)
    refused = desk.claim(BEN, SECTION, wait=False, band=1)
    assert [each.code for each in refused.reasons] == ["full"]
    assert desk.promote(SECTION).promoted == (ADA,)


@pytest.mark.usefixtures("full")
def test_how_many_come_before_a_newcomer_of_a_band(desk: Desk) -> None:
    for student, band in ((ADA, 2), (BEN, 3), (CLEO, 1)):
        join(desk, student, band)
    assert [desk.ledger.ahead(TERM, SECTION, band) for band in (1, 2, 3, 4)] == [1, 2, 3, 3]


@pytest.mark.usefixtures("full")
def test_a_swap_that_is_planned_later_keeps_band_and_place(desk: Desk) -> None:
    desk.section(OTHER, 1)
    desk.claim(ADA, OTHER)
    join(desk, ADA, 2)
    join(desk, BEN, 2)
    assert desk.claim(ADA, SECTION, wait=True, swap_out=OTHER, band=3).position == 1
    (place,) = desk.ledger.registrations(TERM, ADA).waiting
    assert (place.band, place.swap_out) == (2, OTHER)
    desk.drop(EVE, SECTION)
    assert desk.promote(SECTION).promoted == (ADA,)


def test_a_shared_seat_goes_by_band_on_all_waitlists_of_the_pool(desk: Desk) -> None:
    for section in (SECTION, OTHER):
        desk.section(section, 1, pool=PoolSpec(9, 1, 1))
    desk.claim(EVE, SECTION)
    join(desk, ADA, 2, SECTION)
    join(desk, BEN, 1, OTHER)
    desk.drop(EVE, SECTION)
    assert desk.promote(SECTION).promoted == ()
    assert desk.promote(OTHER).promoted == (BEN,)


@pytest.mark.usefixtures("full")
def test_the_first_band_is_stored_as_before_there_were_bands(desk: Desk) -> None:
    seq = join(desk, ADA).seq
    join(desk, BEN, 2)
    queue = desk.redis.zrange("{t:7}:queue:1", 0, -1, withscores=True)
    assert queue[0] == (b"1", seq)
    assert desk.redis.hget("{t:7}:student:1", "w:1").count(b":") == 2
