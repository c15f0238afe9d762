"""Connections to the ledger: who waits for one and how long, and what becomes of one at rest."""

from collections.abc import Callable
from queue import Empty, LifoQueue
from typing import Any

import pytest
from redis import Redis
from redis.exceptions import ConnectionError as NoConnection

from portal.backend import Backend
from portal.core.redis_clients import PatientConnectionPool


class Crowded(LifoQueue[Any]):
    """Connections that all others have whenever somebody looks, so many times."""

    looks: list[Callable[[], None]]

    def get(self, block: bool = True, timeout: float | None = None) -> Any:  # noqa: FBT001, FBT002
        if self.looks:
            self.looks.pop()()
            raise Empty
        return super().get(block, timeout)


@pytest.fixture
def lines(backend: Backend) -> PatientConnectionPool:
    """A few of them to a real server."""
    kind = backend.redis.connection_pool.connection_class
    asked = backend.redis.connection_pool.connection_kwargs
    Crowded.looks = []
    return PatientConnectionPool(3, 0.1, connection_class=kind, queue_class=Crowded, **asked)


def test_whoever_waits_goes_on_as_long_as_others_are_answered(lines: PatientConnectionPool) -> None:
    one, other = lines.get_connection(), lines.get_connection()
    Crowded.looks = [lambda: lines.release(one), lambda: lines.release(other)]
    assert lines.get_connection() in {one, other}


def test_whoever_waits_gives_up_once_no_one_is(lines: PatientConnectionPool) -> None:
    other = lines.get_connection()
    Crowded.looks = [lambda: None, lambda: lines.release(other)]
    with pytest.raises(NoConnection):
        lines.get_connection()


def test_an_answer_that_never_came_is_none(lines: PatientConnectionPool) -> None:
    other = lines.get_connection()

    def in_vain() -> None:
        other.disconnect()
        lines.release(other)

    Crowded.looks = [in_vain]
    with pytest.raises(NoConnection):
        lines.get_connection()


def test_one_that_the_server_has_ended_is_made_again(
    lines: PatientConnectionPool, backend: Backend
) -> None:
    redis = Redis.from_pool(lines)
    mine = redis.client_id()
    backend.redis.client_kill_filter(_id=str(mine))
    assert redis.client_id() not in {0, mine}


def test_each_is_given_to_one_at_a_time_and_again(lines: PatientConnectionPool) -> None:
    first, second = lines.get_connection(), lines.get_connection()
    assert first is not second
    lines.release(second)
    assert lines.get_connection() is second
