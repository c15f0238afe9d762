"""More seats go to waiting students; fewer seats remove no student."""

from tests.ledger.requests import TERM, Desk, codes


def test_larger_capacity_promotes_one_student_per_new_seat(desk: Desk) -> None:
    desk.section(1, capacity=1)
    for student in (501, 601, 602, 603):
        desk.claim(student, 1)
    desk.clear_woken()
    assert "promote" in desk.section(1, capacity=3, version=2).wake
    assert codes(desk.claim(701, 1, wait=False)) == ["full"]
    assert desk.promote(1).promoted == (601, 602)
    assert desk.queue(1) == [603]


def test_smaller_capacity_frees_no_seat_until_it_is_met(desk: Desk) -> None:
    desk.section(1, capacity=3)
    for student in (501, 502, 503, 601):
        desk.claim(student, 1)
    desk.section(1, capacity=1, version=2)
    assert desk.roster(1) == [501, 502, 503]
    for student, open_ in ((501, 0), (502, 0), (503, 1)):
        assert desk.ledger.vacant(TERM) == set()
        desk.drop(student, 1)
        assert desk.ledger.seats(TERM)[1].open == open_
    assert desk.promote(1).promoted == (601,)


def test_smaller_waitlist_keeps_its_students(desk: Desk) -> None:
    desk.section(1, capacity=1, waitlist=3)
    for student in (501, 601, 602, 603):
        desk.claim(student, 1)
    desk.section(1, capacity=1, waitlist=1, version=2)
    assert desk.queue(1) == [601, 602, 603]
    assert codes(desk.claim(701, 1)) == ["waitlist_full"]
    desk.drop(501, 1)
    assert desk.promote(1).promoted == (601,)


def test_zero_capacity_keeps_all_students(desk: Desk) -> None:
    desk.section(1, capacity=1, waitlist=1)
    for student in (501, 601):
        desk.claim(student, 1)
    desk.section(1, capacity=0, waitlist=0, version=2)
    seats = desk.ledger.seats(TERM)[1]
    assert (seats.taken, seats.waiting, seats.open) == (1, 1, 0)
    desk.drop(501, 1)
    assert desk.ledger.vacant(TERM) == set()
