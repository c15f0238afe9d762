"""A partly split network: sentinels promote a replica and can't tell the primary."""

import signal
import time
from collections.abc import Iterator

import pytest

from portal import backend as connections
from portal.backend import Backend
from portal.ledger import replicas
from portal.ledger.errors import LedgerUnavailable
from portal.runtime.child_process import Child
from tests.recorder.rush import a_rush, claim
from tests.runtime.cluster.replicated_ledger import Stage


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Servers of this file alone: its sentinels forget each other."""
    stage = Stage(tmp_path_factory.mktemp("split"))
    yield stage
    stage.end()


def test_a_new_process_that_reaches_one_sentinel_tells_nothing_while_a_replica_is_away(
    stage: Stage, clustered: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    rush = a_rush(sections=1, students=1, capacity=1)
    student, section = rush.students[0], rush.sections[0]
    stage.send(signal.SIGKILL, stage.replicas()[0])
    beside_the_portal, *others = stage.sentinels
    assert beside_the_portal.alive
    monkeypatch.setattr(replicas, "_histories", {})
    connections.connect(clustered.settings)
    try:
        for each in others:
            signal_to(each, signal.SIGSTOP)
        with pytest.raises(LedgerUnavailable):
            claim(rush, student, section, "key")
    finally:
        for each in others:
            signal_to(each, signal.SIGCONT)
    assert claim(rush, student, section, "key").outcome == "enrolled"


def test_a_primary_that_most_sentinels_no_longer_name_tells_nothing(
    stage: Stage,
    clustered: Backend,  # noqa: ARG001
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(replicas, "GRACE", 0.5)
    rush = a_rush(sections=1, students=1, capacity=1)
    student, section = rush.students[0], rush.sections[0]
    assert claim(rush, student, section, "key").outcome == "enrolled"
    stage.name(stage.replicas()[0])  # the other replica still confirms what the primary does
    deadline = time.monotonic() + 3
    while time.monotonic() < deadline:
        with pytest.raises(LedgerUnavailable):
            claim(rush, student, section, "key")
        time.sleep(0.1)


def signal_to(child: Child, number: signal.Signals) -> None:
    assert child.process
    child.process.send_signal(number)
