"""A student's standing is all that they hold and wait for, in one look."""

from portal.ledger.types import HeldSeat, Standing, WaitlistPosition
from tests.ledger.requests import TERM, Desk


def test_a_stranger_stands_nowhere(desk: Desk) -> None:
    assert desk.ledger.standing(TERM, 501) == Standing()


def test_seats_and_places_come_by_section_with_their_numbers(desk: Desk) -> None:
    desk.section(12)
    desk.section(9)
    desk.section(30, capacity=0)
    desk.claim(600, 30)
    held = {section: desk.claim(501, section) for section in (12, 9)}
    place = desk.claim(501, 30)
    assert desk.ledger.standing(TERM, 501) == Standing(
        tuple(HeldSeat(each, 400, held[each].registration, held[each].at) for each in (9, 12)),
        (WaitlistPosition(30, 400, place.seq, place.at, position=2, size=2),),
    )


def test_it_can_be_read_from_a_replica_since_it_writes_nothing(desk: Desk) -> None:
    desk.section(12)
    desk.claim(501, 12)
    before = desk.events()
    desk.redis.fcall_ro("fairseat_standing", 1, f"{{t:{TERM}}}", '{"student":501}')
    desk.redis.fcall_ro("fairseat_head", 1, f"{{t:{TERM}}}", '{"section":12,"n":3}')
    assert desk.events() == before
