"""Whoever has left the primary may be the next one: what only the others have is not told of."""

import signal

import pytest

from portal.backend import Backend
from portal.ledger import replicas
from portal.ledger.errors import LedgerSilent, LedgerUnavailable
from tests.demo_cluster import in_sync
from tests.recorder.rush import Rush, a_rush, claim
from tests.runtime.cluster.claimants import claiming
from tests.runtime.cluster.replicated_ledger import Stage, until


@pytest.fixture
def rush(clustered: Backend) -> Rush:  # noqa: ARG001
    return a_rush(sections=20, students=100, capacity=100)


def test_a_primary_that_wakes_as_another_is_promoted_tells_nothing_that_is_lost(
    stage: Stage, rush: Rush
) -> None:
    old, others = stage.primary(), stage.replicas()

    def promoted() -> bool:
        return any(stage.role(number) == "master" for number in others)

    with claiming(rush) as told:
        until(lambda: len(told.seats) > 5, "nobody can claim")
        stage.send(signal.SIGSTOP, old)
        until(
            lambda: any(stage.role(number) == "master" for number in others), "nobody is promoted"
        )
        stage.send(signal.SIGCONT, old)
        until(lambda: stage.promoted(instead_of=old), "the sentinels name no other")
        seats = len(told.seats)
        until(lambda: len(told.seats) > seats, "nobody can claim again")
    assert not told.lost()


def test_one_that_has_just_lost_a_replica_tells_nothing_until_it_is_back(
    stage: Stage, rush: Rush
) -> None:
    student, section = rush.students[0], rush.sections[0]
    stage.send(signal.SIGKILL, stage.replicas()[0])
    until(lambda: not in_sync(stage.url, 2), "it is still counted")
    with pytest.raises(LedgerSilent):
        claim(rush, student, section, "key")
    stage.heal()
    assert claim(rush, student, section, "key").replayed


def test_after_a_while_it_goes_on_with_those_that_are_left(
    stage: Stage, rush: Rush, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(replicas, "GRACE", 0.5)
    student, section = rush.students[0], rush.sections[0]
    stage.send(signal.SIGKILL, stage.replicas()[0])

    def told() -> bool:
        try:
            return claim(rush, student, section, "key").outcome == "enrolled"
        except LedgerUnavailable:
            return False

    until(told, "nobody can claim with one replica")
