"""The ledger counts its decisions for the operations page."""

from collections import Counter

from portal.core.recent_slots import MINUTES, SLOT, SLOTS
from portal.ledger.tally import Tally, tally
from tests.ledger.requests import OPEN, TERM, Desk

KEEP = 20 * 60_000


def counted(desk: Desk) -> Tally:
    return tally(desk.ledger, [TERM], desk.ledger.now())


def test_tally_counts_seats_waitlist_positions_and_refusals(desk: Desk) -> None:
    desk.section(1, capacity=1, waitlist=1)
    for student in (501, 502, 503):
        desk.claim(student, 1)
    desk.drop(501, 1)
    desk.drop(501, 1)  # refused, and no claim
    found = counted(desk)
    assert found.claims == 3
    assert found.total["dropped"] == 1
    assert sorted(found.reasons) == [("not_enrolled", 1), ("waitlist_full", 1)]


def test_each_reason_of_a_refusal_counts(desk: Desk) -> None:
    desk.section(1)
    desk.claim(501, 1, windows=[], credit_limit=0)
    assert dict(counted(desk).reasons) == {"window_unscheduled": 1, "credit_limit": 1}


def test_replayed_answer_is_not_counted_again(desk: Desk) -> None:
    desk.section(1)
    for _ in range(2):
        desk.claim(501, 1, idempotency_key="the same")
    assert counted(desk).claims == 1


def test_tally_expires(desk: Desk) -> None:
    desk.section(1)
    desk.claim(501, 1)
    stored = list(desk.redis.keys("*:tally:*"))
    assert stored
    assert all(KEEP - 60_000 < desk.redis.pttl(key) <= KEEP for key in stored)


def test_tally_of_a_window_leaves_out_other_windows_and_admins(desk: Desk) -> None:
    desk.section(1, capacity=5)
    desk.claim(501, 1)
    desk.claim(502, 1, windows=[])  # refused: no window is open for this student
    of = {each: tally(desk.ledger, [TERM], desk.ledger.now(), each) for each in (OPEN, 0, 999)}
    assert [each.total["enrolled"] for each in of.values()] == [1, 0, 0]
    assert [dict(each.reasons) for each in of.values()] == [{}, {"window_unscheduled": 1}, {}]
    assert counted(desk).claims == 2


def test_rate_covers_ten_seconds() -> None:
    slots = [Counter({"enrolled": 60})] * (SLOTS - 1)
    slots += [Counter({"enrolled": 20, "refused claim": 4}), Counter({"waitlisted": 5, "left": 9})]
    found = Tally(at=SLOT * 1000 + SLOT // 2, slots=tuple(slots))
    assert found.rate == (24 / 2 + 5) / 10


def test_seats_of_the_last_minute_and_of_each_minute_of_the_clock() -> None:
    slots = [Counter({"enrolled": 2, "promoted": 1, "waitlisted": 9})] * (SLOTS + 1)
    found = Tally(at=60 * 60_000 + 25_000, slots=tuple(slots))  # 25 s into a minute
    assert found.seats_per_minute == 3 * 6.5
    minutes = found.seats_by_minute
    assert len(minutes) == MINUTES
    assert minutes[-2:] == [(59 * 60_000, 18), (60 * 60_000, 9)]


def test_rate_does_not_jump_when_a_slot_ends() -> None:
    busy, nothing = Counter({"enrolled": 50}), Counter[str]()
    before = Tally(at=SLOT * 1000 - 1, slots=(nothing, busy))
    after = Tally(at=SLOT * 1000, slots=(busy, nothing))
    assert before.rate == after.rate == 5.0
