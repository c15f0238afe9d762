"""The scheduler fences a ledger that is behind the record, and no other."""

import pytest
from rq import Queue
from rq.serializers import JSONSerializer
from sqlalchemy.exc import OperationalError

from portal.backend import Backend, backend
from portal.ledger.errors import LedgerUnavailable
from portal.ledger.function_library import prefix
from portal.operations.scheduler import Lease, tick
from portal.recorder.consistency import fence
from portal.recorder.consistency.restore import restore
from portal.recorder.recorder import drain
from portal.recorder.sweep import Sweeper
from tests import cast as builders
from tests.recorder.processes import recorded
from tests.recorder.rush import Rush, a_rush, claim, claims, everyone_everywhere
from tests.registration.database_outage import away

WHY = "a test"


@pytest.fixture
def rush(backend: Backend) -> Rush:  # noqa: ARG001
    """Return a term that is recorded except for its window's opening."""
    rush = a_rush(sections=2, students=3)
    claims(rush, everyone_everywhere(rush))
    drain(rush.term)
    return rush


@pytest.fixture
def sweeper(rush: Rush) -> Sweeper:  # noqa: ARG001
    """Return a sweeper that has seen the term."""
    sweeper = Sweeper()
    sweeper.read_terms()
    return sweeper


def forget(rush: Rush) -> None:
    """Replace the ledger by an older copy."""
    backend().redis.set(f"{prefix(rush.term)}:seq", 3)


def test_complete_ledger_is_not_fenced(rush: Rush, sweeper: Sweeper) -> None:
    sweeper.turn_windows()
    assert not fence.why(rush.term)


def test_ledger_behind_the_record_is_fenced_until_it_is_restored(
    rush: Rush, sweeper: Sweeper
) -> None:
    forget(rush)
    sweeper.turn_windows()
    assert "at event 3" in fence.why(rush.term)
    with pytest.raises(LedgerUnavailable, match="being restored"):
        claim(rush, rush.students[0], rush.sections[0])
    sweeper.turn_windows()
    restore(rush.term)
    sweeper.read_terms()
    sweeper.turn_windows()
    assert not fence.why(rush.term)


def test_empty_ledger_is_fenced(rush: Rush, sweeper: Sweeper) -> None:
    backend().redis.flushall()
    sweeper.turn_windows()
    assert "at event 0" in fence.why(rush.term)


def another_term(rush: Rush) -> Rush:
    """Return another term with a section and a window, for the same students."""
    term = builders.a_term("Another")
    section = builders.a_section(builders.a_course(), term)
    window = builders.an_open_window(term)
    return Rush(term.id, [section.id], rush.students, window.id)


def test_fence_does_not_affect_other_terms(rush: Rush) -> None:
    healthy = another_term(rush)
    claim(rush, rush.students[0], rush.sections[0])  # an event that is not recorded
    fence.replace(rush.term, WHY)
    queue = Queue("record", connection=backend().redis, serializer=JSONSerializer)
    queue.empty()
    sweeper = Sweeper()
    sweeper.read_terms()
    sweeper.turn_windows()
    events = backend().redis.xrange(f"{prefix(healthy.term)}:journal")
    assert b'"name":"window_opened"' in events[-1][1][b"event"]
    sweeper.enqueue_due()
    assert [job.args[0] for job in queue.jobs] == [healthy.term]


def test_ledger_restored_before_the_fence_is_not_fenced(rush: Rush) -> None:
    assert not fence.put_up(rush.term, WHY, behind=recorded(rush.term))
    assert not fence.why(rush.term)
    assert fence.put_up(rush.term, WHY, behind=recorded(rush.term) + 1)
    assert fence.why(rush.term) == WHY


def test_fence_of_another_process_stays(rush: Rush) -> None:
    held = fence.replace(rush.term, WHY)
    assert not fence.put_up(rush.term, "another", behind=1000)
    assert fence.why(rush.term) == held.token


def test_fence_uses_the_last_known_record_while_postgresql_is_down(
    rush: Rush, sweeper: Sweeper
) -> None:
    forget(rush)
    with away(), pytest.raises(OperationalError):
        tick(sweeper, Lease(backend().redis))
    assert fence.why(rush.term)
