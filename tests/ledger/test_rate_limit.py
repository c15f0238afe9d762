"""The ledger counts a student's requests for decisions, in the step that decides."""

import pytest

from portal.ledger.errors import RateLimited
from portal.ledger.types import Outcome, Rate
from tests.ledger.requests import TERM, Desk

HOUR = 60 * 60 * 1000
TWO = Rate(cost=HOUR, size=2 * HOUR)  # two at once, and one more each hour


@pytest.fixture
def desk(desk: Desk) -> Desk:
    for section in (1, 2, 3):
        desk.section(section)
    return desk


def test_a_request_over_the_limit_decides_nothing_and_says_how_long_to_wait(desk: Desk) -> None:
    for section in (1, 2):
        assert desk.claim(10, section, rate=TWO).outcome is Outcome.ENROLLED
    journal = desk.redis.xlen(f"{{t:{TERM}}}:journal")
    with pytest.raises(RateLimited) as limited:
        desk.claim(10, 3, rate=TWO)
    assert HOUR - 60_000 < limited.value.wait <= HOUR
    assert desk.redis.xlen(f"{{t:{TERM}}}:journal") == journal


def test_each_student_has_a_limit_of_their_own(desk: Desk) -> None:
    for student in (10, 11):
        for section in (1, 2):
            assert desk.claim(student, section, rate=TWO).outcome is Outcome.ENROLLED


def test_claims_drops_and_leaving_a_waitlist_count_together(desk: Desk) -> None:
    desk.claim(10, 1, rate=TWO)
    desk.drop(10, 1, rate=TWO)
    with pytest.raises(RateLimited):
        desk.leave(10, 2, rate=TWO)


def test_a_refused_request_may_be_sent_again_under_its_key(desk: Desk) -> None:
    for section in (1, 2):
        desk.claim(10, section, rate=TWO)
    with pytest.raises(RateLimited):
        desk.claim(10, 3, rate=TWO, idempotency_key="same")
    desk.redis.delete(f"{{t:{TERM}}}:rate:10")
    assert desk.claim(10, 3, rate=TWO, idempotency_key="same").outcome is Outcome.ENROLLED


def test_a_repeated_request_counts_too(desk: Desk) -> None:
    for _ in range(2):
        desk.claim(10, 1, rate=TWO, idempotency_key="same")
    with pytest.raises(RateLimited):
        desk.claim(10, 1, rate=TWO, idempotency_key="same")


def test_the_workers_have_no_limit(desk: Desk) -> None:
    for _ in range(5):
        desk.claim(10, 1)
    assert not desk.redis.exists(f"{{t:{TERM}}}:rate:10")
