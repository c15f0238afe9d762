"""A term whose recorder fails, and the job that was given up of it."""

import pytest

from portal.backend import Backend
from portal.core.queue import enqueue
from portal.operations import dead_letters
from portal.operations.dead_letters import DeadLetter
from tests.recorder.poisoned_journal import journal, mark_dead, seq
from tests.recorder.rush import Rush, a_rush


@pytest.fixture
def poisoned(backend: Backend) -> Rush:
    """A term in whose journal there is something that nobody can read."""
    rush = a_rush(sections=1, students=1)
    backend.redis.xadd(journal(rush), {"event": "nonsense"}, id=f"{seq(backend, rush) + 1}-0")
    return rush


@pytest.fixture
def given_up(backend: Backend, poisoned: Rush) -> DeadLetter:
    """A job about it as a worker leaves it behind after its second failure."""
    enqueue(poisoned.term, ["record"])
    mark_dead(backend, "poison")
    (letter,) = dead_letters.letters(backend.redis)
    return letter
