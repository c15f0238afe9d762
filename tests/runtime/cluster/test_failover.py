"""The primary dies or freezes: everyone follows the next one, and nothing that was told is lost."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from sqlalchemy import func, select

from portal.backend import Backend, backend
from portal.core import redis_clients
from portal.core.db import transaction
from portal.core.ledger_servers import OneServer
from portal.core.queue import enqueue
from portal.ledger.client import Ledger
from portal.ledger.errors import LedgerUnavailable
from portal.live.subscription import CHANNELS, Subscription
from portal.recorder.models import LoggedEvent
from portal.runtime.child_process import Child
from tests import commands
from tests.recorder.rush import Rush, a_rush, claim
from tests.runtime.cluster.claimants import claiming
from tests.runtime.cluster.replicated_ledger import Stage, until

pytestmark = pytest.mark.slow

HOWS = [signal.SIGKILL, signal.SIGSTOP]


@pytest.fixture
def rush(clustered: Backend) -> Rush:  # noqa: ARG001
    return a_rush(sections=20, students=100, capacity=100)


@pytest.fixture
def recorder(clustered: Backend, tmp_path: Path) -> Iterator[Child]:
    """A worker as in production."""
    env = {"REDIS_URL": clustered.settings.redis_url}
    child = commands.child("record", "worker", "record", log=tmp_path / "record.log", env=env)
    child.start()
    yield child
    child.stop(5)


@pytest.fixture
def heard(clustered: Backend) -> Iterator[list[Any]]:
    """What the live pages of a process hear."""
    heard: list[Any] = []
    kinds = {channel.rpartition(":")[2] for channel in CHANNELS}
    hear = {kind: lambda _, note: heard.append(note) for kind in kinds}
    redis = redis_clients.subscriber(clustered.settings.redis_url)
    subscription = Subscription(redis, begun=lambda: None, handlers=hear)
    thread = Thread(target=subscription.run)
    thread.start()
    yield heard
    subscription.ended = True
    thread.join()
    redis.close()


def recorded(rush: Rush) -> int:
    with transaction() as session:
        found = (
            select(func.count()).select_from(LoggedEvent).where(LoggedEvent.term_id == rush.term)
        )
        return session.scalar(found) or 0


@pytest.mark.parametrize("how", HOWS)
def test_all_clients_follow_and_no_answered_decision_is_lost(
    how: signal.Signals, stage: Stage, rush: Rush, recorder: Child, heard: Any
) -> None:
    old = stage.primary()
    with claiming(rush) as told:
        enqueue(rush.term, ["record"])
        until(lambda: bool(told.seats and heard and recorded(rush)), recorder.last_output())
        stage.send(how, old)
        until(lambda: stage.promoted(instead_of=old), "nobody is promoted")
        seats, promoted = len(told.seats), time.monotonic()
        until(lambda: len(told.seats) > seats and told.last > promoted, "nobody can claim")
        heard.clear()
        until(lambda: bool(heard), "live pages hear nothing")
        known = recorded(rush)
        enqueue(rush.term, ["record"])
        until(lambda: recorded(rush) > known, f"nothing is recorded: {recorder.last_output()}")
    assert has_functions(stage)
    assert not told.lost()
    if how == signal.SIGSTOP:
        alone_it_promises_nothing(stage, old, rush)
    else:
        stage.servers[old - 1].start()
        until(lambda: stage.role(old) == "slave", "it does not come back")
        assert not told.lost()


def has_functions(stage: Stage) -> bool:
    """Whether the server that was promoted has them; every process loads those that are missing."""
    with redis_clients.commands(stage.at.server_url(stage.primary()), size=1) as redis:
        return bool(redis.function_list(library="fairseat"))


def alone_it_promises_nothing(stage: Stage, old: int, rush: Rush) -> None:
    """One that does not know yet that it was replaced, with a web node that knows no better."""
    stage.send(signal.SIGCONT, old)
    redis = redis_clients.commands(stage.at.server_url(old), size=1)
    newcomer = max(rush.students) + 1
    with redis, pytest.raises(LedgerUnavailable):
        claim(rush, newcomer, rush.sections[0], "alone", ledger=Ledger(OneServer(redis), 1))
    assert not backend().ledger.registrations(rush.term, newcomer).enrolled
