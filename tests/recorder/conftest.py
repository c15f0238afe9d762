"""A term whose recorder fails, and its dead letter."""

import pytest

from portal.backend import Backend
from portal.core.queue import enqueue
from portal.operations import dead_letters
from portal.operations.dead_letters import DeadLetter
from tests.recorder.poisoned_journal import journal, mark_dead, seq
from tests.recorder.rush import Rush, a_rush


@pytest.fixture
def poisoned(backend: Backend) -> Rush:
    """Return a term with an unreadable entry in its journal."""
    rush = a_rush(sections=1, students=1)
    backend.redis.xadd(journal(rush), {"event": "nonsense"}, id=f"{seq(backend, rush) + 1}-0")
    return rush


@pytest.fixture
def given_up(backend: Backend, poisoned: Rush) -> DeadLetter:
    """Return a job about it that has failed for the second time."""
    enqueue(poisoned.term, ["record"])
    mark_dead(backend, "poison")
    (letter,) = dead_letters.find_all(backend.redis)
    return letter
