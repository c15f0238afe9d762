"""200 students compete for 10 seats, and many drop at once."""

from collections import defaultdict

import pytest

from portal.ledger.types import PoolSpec
from tests.ledger.crowd import Reply, drop_all, promote_until, storm, throng, together
from tests.ledger.requests import TERM, Desk
from tests.soak import rounds

pytestmark = pytest.mark.slow

PROCESSES = 4
ROUNDS = rounds(15, soak=1000)
CROWD = 200
SEATS = 10
PLACES = 20


def test_200_students_never_get_more_than_10_seats(desk: Desk, address: str) -> None:
    sections = list(range(1, ROUNDS + 1))
    for section in sections:
        desk.section(section, SEATS, waitlist=PLACES, credits_min=0)
    size = CROWD // PROCESSES
    shares = [(storm, address, seed, size, sections) for seed in range(PROCESSES)]
    answered: dict[int, list[Reply]] = defaultdict(list)
    for share in together(shares):
        for section, replies in zip(sections, share, strict=True):
            answered[section] += replies

    for section in sections:
        assert len(answered[section]) == CROWD
        enrolled = in_order(answered[section], "enrolled")
        waiting = in_order(answered[section], "waitlisted")
        assert (len(enrolled), len(waiting)) == (SEATS, PLACES)
        # First come, first served: no later request has a better answer.
        assert enrolled[-1]["seq"] < waiting[0]["seq"]
        assert [reply["position"] for reply in waiting] == list(range(1, PLACES + 1))
        # The answers agree with the seats.
        assert desk.roster(section) == [reply["student"] for reply in enrolled]
        assert desk.queue(section) == [reply["student"] for reply in waiting]
    numbers = [event["seq"] for event in desk.events()]
    assert numbers == list(range(1, 2 + ROUNDS + ROUNDS * CROWD + 1))


def test_pool_is_never_oversold_by_four_processes(desk: Desk, address: str) -> None:
    pool = PoolSpec(70, capacity=7, version=1)
    for section, capacity in ((1, 4), (2, 5), (3, 3)):
        desk.section(section, capacity, waitlist=9, pool=pool)
    crowd = list(range(501, 541))
    done = together([(throng, address, seed, crowd[seed::4]) for seed in range(4)])

    events = [event for event in desk.events() if event["name"] in {"enrolled", "promoted"}]
    for event in events:
        counts = event["seats"]
        assert counts["taken"] <= counts["capacity"]
        assert counts["pool_taken"] <= 7
    seats = desk.ledger.seats(TERM)
    held = {section: len(desk.roster(section)) for section in (1, 2, 3)}
    assert {section: each.taken for section, each in seats.items()} == held
    assert {each.pool_taken for each in seats.values()} == {sum(held.values())}
    # Every move is one seat given and one freed.
    moved = sum(event["name"] == "enrolled" and event["cause"] == "adjust" for event in events)
    assert moved > 0
    came = sum(each["enrolled"] + each["promoted"] for each in done)
    went = sum(each["dropped"] for each in done) + moved
    assert came - went == sum(held.values())


def in_order(replies: list[Reply], outcome: str) -> list[Reply]:
    return sorted(
        (reply for reply in replies if reply["outcome"] == outcome), key=lambda reply: reply["seq"]
    )


def test_many_simultaneous_drops_promote_exactly_one_student_per_seat(
    desk: Desk, address: str
) -> None:
    seats, waiters, dropped = 60, 80, 40
    desk.section(12, seats, waitlist=waiters)
    for student in range(1, seats + waiters + 1):
        desk.claim(student, 12)
    leaving = list(range(1, dropped + 1))
    drops = [(drop_all, address, leaving[0::2]), (drop_all, address, leaving[1::2])]
    together([*drops, *[(promote_until, address, waiters - dropped)] * 3])

    assert desk.ledger.seats(TERM)[12].taken == seats
    assert desk.ledger.vacant(TERM) == set()
    promoted = [event["student"] for event in desk.events() if event["name"] == "promoted"]
    assert promoted == list(range(seats + 1, seats + dropped + 1))
    assert desk.queue(12) == list(range(seats + dropped + 1, seats + waiters + 1))
