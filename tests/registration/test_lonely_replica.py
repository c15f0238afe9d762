"""A replica that has left may become the next primary: for a while no answer counts."""

import pytest

from portal.ledger import replicas
from portal.ledger.replicas import GRACE, ReplicaHistory

LATER = GRACE + 1


class Clock:
    """A clock that stands still until a test moves it."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.now = 1000.0
        monkeypatch.setattr(replicas, "monotonic", lambda: self.now)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return Clock(monkeypatch)


def looks(history: ReplicaHistory, clock: Clock, there: int, seconds: int) -> list[bool]:
    """Return the results of one look per second."""
    found = []
    for _ in range(seconds):
        clock.now += 1
        found.append(history.settled(there))
    return found


def test_no_answer_counts_while_a_replica_may_be_promoted(clock: Clock) -> None:
    history = ReplicaHistory()
    assert history.settled(2)
    result = looks(history, clock, 1, int(LATER))
    assert result == [False] * int(GRACE) + [True]


def test_returned_replica_causes_no_wait(clock: Clock) -> None:
    history = ReplicaHistory()
    assert history.settled(2)
    assert not history.settled(1)
    clock.now += 1
    assert history.settled(2)


def test_unnoticed_departure_counts_from_the_next_look(clock: Clock) -> None:
    history = ReplicaHistory()
    assert history.settled(2)
    assert not history.settled(1)  # it comes back unnoticed
    clock.now += 3600
    assert not history.settled(1)


def test_regular_looks_shorten_the_wait(clock: Clock) -> None:
    history = ReplicaHistory()
    assert history.settled(2)
    looks(history, clock, 1, int(LATER))
    assert history.settled(1)
