"""A replica that has left may be the next primary: for a while no answer counts."""

import pytest

from portal.ledger import replicas
from portal.ledger.replicas import GRACE, Company

LATER = GRACE + 1


class Clock:
    """One that stands until it is moved."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(replicas, "monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def looks(company: Company, clock: Clock, there: int, seconds: int) -> list[bool]:
    """What it says each second."""
    found = []
    for _ in range(seconds):
        clock.now += 1
        found.append(company.settled(there))
    return found


def test_nothing_counts_until_it_is_known_not_to_be_promoted(clock: Clock) -> None:
    company = Company()
    assert company.settled(2)
    said = looks(company, clock, 1, int(LATER))
    assert said == [False] * int(GRACE) + [True]


def test_one_that_is_back_is_no_reason_to_wait(clock: Clock) -> None:
    company = Company()
    assert company.settled(2)
    assert not company.settled(1)
    clock.now += 1
    assert company.settled(2)


def test_one_that_left_while_nobody_looked_may_have_left_just_now(clock: Clock) -> None:
    company = Company()
    assert company.settled(2)
    assert not company.settled(1)  # it comes back, which nobody sees
    clock.now += 3600
    assert not company.settled(1)


def test_who_looks_all_the_time_has_waited_when_it_is_asked(clock: Clock) -> None:
    company = Company()
    assert company.settled(2)
    looks(company, clock, 1, int(LATER))
    assert company.settled(1)
