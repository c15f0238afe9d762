"""A ledger that is restored: the next primary has the fence, or all that was done behind it."""

import signal

import pytest

from portal.backend import Backend
from portal.ledger.errors import LedgerSilent, LedgerUnavailable
from portal.recorder.consistency import fence
from portal.recorder.consistency.restore import restore
from portal.recorder.recorder import drain
from tests.demo_cluster import in_sync
from tests.recorder.ledger_dump import dump
from tests.recorder.rush import Rush, a_rush, claim, claims, everyone_everywhere
from tests.runtime.cluster.replicated_ledger import Stage, until


@pytest.fixture
def rush(clustered: Backend) -> Rush:  # noqa: ARG001
    """All of it recorded."""
    rush = a_rush(sections=3, students=4, capacity=2, waitlist=2)
    claims(rush, everyone_everywhere(rush))
    drain(rush.term)
    return rush


def test_nothing_is_deleted_that_no_replica_would_get(stage: Stage, rush: Rush) -> None:
    before, replicas = dump(rush.term), stage.replicas()

    def freeze(step: str, done: int, _all: int) -> None:
        if (step, done) == ("replaying", 0):
            stage.send(signal.SIGSTOP, *replicas)

    with pytest.raises(LedgerSilent):
        restore(rush.term, freeze)
    assert dump(rush.term) == before
    assert fence.why(rush.term)
    stage.heal()
    assert restore(rush.term).report["clean"]
    assert not fence.why(rush.term)


def test_the_next_primary_is_fenced_where_one_dies_in_the_middle(stage: Stage, rush: Rush) -> None:
    before, old = dump(rush.term), stage.primary()

    def fail_over(step: str, _done: int, _all: int) -> None:
        if step == "writing":
            stage.send(signal.SIGKILL, old)
            until(lambda: stage.promoted(instead_of=old), "nobody is promoted")
            until(lambda: in_sync(stage.url), "nobody follows the new one")

    with pytest.raises(fence.Changed):
        restore(rush.term, fail_over)
    assert fence.why(rush.term)
    with pytest.raises(LedgerUnavailable, match="being restored"):
        claim(rush, rush.students[0], rush.sections[0])
    assert restore(rush.term).report["clean"]
    assert dump(rush.term) == before
    assert not fence.why(rush.term)
