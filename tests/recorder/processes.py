"""Real workers and schedulers in separate processes that tests can kill."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from sqlalchemy import func, select

from portal.backend import backend
from portal.core.checkpoints import Checkpoint
from portal.core.db import transaction
from portal.recorder.journal import last_seq
from portal.recorder.models import LoggedEvent
from tests import commands
from tests.forked import Forked


def start(*command: str) -> Forked:
    """Start `fairseat` with a command on the servers of the tests."""
    return commands.start(*command)


@contextmanager
def running(*wanted: tuple[str, ...]) -> Iterator[list[Forked]]:
    """Start processes and kill them at the end."""
    processes = [start(*command) for command in wanted]
    try:
        yield processes
    finally:
        for process in processes:
            process.kill()
            process.wait()


def wait_for(what: Callable[[], object], seconds: float = 180.0) -> float:
    """Wait until a condition is true and return the seconds; fail after `seconds`.

    Checking takes at most a third of the time, because what it waits for needs the processor, too.
    """
    began = time.monotonic()
    looked = began
    while not what():
        assert time.monotonic() - began < seconds, "it never came to be"
        time.sleep(max(0.01, 2 * (time.monotonic() - looked)))
        looked = time.monotonic()
    return time.monotonic() - began


def ready(*queues: str) -> None:
    """Wait until a worker of each queue listens."""
    wait_for(lambda: all(backend().redis.smembers(f"rq:workers:{queue}") for queue in queues))


def recorded(term: int) -> int:
    """Return how far the term is recorded."""
    with transaction() as session:
        return session.scalar(select(Checkpoint.seq).where(Checkpoint.term_id == term)) or 0


def caught_up(term: int) -> bool:
    """Return whether everything is recorded."""
    return recorded(term) == last_seq(term)


def events(term: int) -> int:
    """Return the number of events in the log."""
    with transaction() as session:
        return session.scalar(select(func.count()).where(LoggedEvent.term_id == term)) or 0
