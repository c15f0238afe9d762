"""A student's registrations are all seats and waitlist positions, read in one call."""

from portal.ledger.types import HeldSeat, Registrations, WaitlistPosition
from tests.ledger.requests import TERM, Desk


def test_unknown_student_has_no_registrations(desk: Desk) -> None:
    assert desk.ledger.registrations(TERM, 501) == Registrations()


def test_registrations_list_seats_and_positions_by_section(desk: Desk) -> None:
    desk.section(12)
    desk.section(9)
    desk.section(30, capacity=0)
    desk.claim(600, 30)
    held = {section: desk.claim(501, section) for section in (12, 9)}
    position = desk.claim(501, 30)
    assert desk.ledger.registrations(TERM, 501) == Registrations(
        tuple(HeldSeat(each, 400, held[each].registration, held[each].at) for each in (9, 12)),
        (WaitlistPosition(30, 400, position.seq, position.at, position=2, size=2),),
    )


def test_registrations_can_be_read_from_a_replica(desk: Desk) -> None:
    desk.section(12)
    desk.claim(501, 12)
    before = desk.events()
    desk.redis.fcall_ro("fairseat_registrations", 1, f"{{t:{TERM}}}", '{"student":501}')
    desk.redis.fcall_ro("fairseat_head", 1, f"{{t:{TERM}}}", '{"section":12,"n":3}')
    assert desk.events() == before


def test_state_has_the_time_the_plan_and_the_counts_of_known_sections(desk: Desk) -> None:
    for section in (12, 9):
        desk.section(section)
    desk.claim(501, 12)
    desk.ledger.count_plan_change(TERM, 501)
    before = desk.ledger.now()
    state = desk.ledger.student_state(TERM, 501, [9, 12, 77])
    assert state.registrations == desk.ledger.registrations(TERM, 501)
    assert before <= state.at <= desk.ledger.now()
    assert state.plan_changes == 1
    assert state.seats == desk.ledger.seats_of(TERM, [9, 12, 77])
    assert desk.ledger.student_state(TERM, 502).plan_changes == 0
