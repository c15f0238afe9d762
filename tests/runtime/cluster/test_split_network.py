"""A partly split network: sentinels promote a replica and can't tell the primary."""

import time
from collections.abc import Iterator

import pytest

from portal.backend import Backend
from portal.ledger import replicas
from portal.ledger.errors import LedgerUnavailable
from tests.recorder.rush import a_rush, claim
from tests.runtime.cluster.replicated_ledger import Stage


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Servers of this file alone: its sentinels forget each other."""
    stage = Stage(tmp_path_factory.mktemp("split"))
    yield stage
    stage.end()


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
