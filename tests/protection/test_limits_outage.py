"""While Redis is away, each process counts by itself at once, and no request waits for it."""

import os
from collections.abc import Iterator
from threading import Thread
from time import monotonic

import pytest

from portal.backend import Backend
from portal.core import redis_clients
from portal.core.outage import Outage
from portal.protection.rate_limits import TIMEOUT, Charge, RateLimit, RateLimiter
from portal.runtime import embedded_valkey
from portal.runtime.embedded_servers import Servers
from tests.operations.test_health import stalled, without
from tests.recorder.processes import wait_for

THREE = RateLimit("three", at_once=3, a_minute=0.1)


@pytest.fixture
def shared(backend: Backend) -> Iterator[RateLimiter]:  # noqa: ARG001
    redis = redis_clients.commands(os.environ["REDIS_URL"], timeout=TIMEOUT, size=16)
    yield RateLimiter(redis)
    redis.close()


def soon(shared: RateLimiter, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have it look for Redis all the time."""
    monkeypatch.setattr("portal.core.outage.REST", 0.0)
    assert isinstance(shared._outage, Outage)  # noqa: SLF001


def test_it_counts_on_alone_at_once(shared: RateLimiter, servers: Servers) -> None:
    charge = Charge(THREE, "ada")
    assert shared.spend(charge) == 0
    with without(servers, "valkey", embedded_valkey.answers):
        began = monotonic()
        waits = [shared.spend(charge) for _ in range(5)]
        assert monotonic() - began < TIMEOUT
    assert [wait > 0 for wait in waits] == [False, False, False, True, True]


def test_one_who_hangs_keeps_no_one_waiting_for_long(shared: RateLimiter, servers: Servers) -> None:
    shared.spend(Charge(THREE, "warm"))
    waited: list[float] = []

    def ask(number: int) -> None:
        began = monotonic()
        shared.spend(Charge(THREE, str(number)))
        waited.append(monotonic() - began)

    with stalled(servers, "valkey"):
        threads = [Thread(target=ask, args=(number,)) for number in range(10)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        began = monotonic()
        for number in range(1000):
            shared.spend(Charge(THREE, str(number)))
        assert monotonic() - began < TIMEOUT
    assert max(waited) < 2 * TIMEOUT


def test_it_counts_with_the_others_again_when_redis_is_back(
    shared: RateLimiter, servers: Servers, backend: Backend, monkeypatch: pytest.MonkeyPatch
) -> None:
    soon(shared, monkeypatch)
    with without(servers, "valkey", embedded_valkey.answers):
        shared.spend(Charge(THREE, "ada"))
    wait_for(lambda: shared.spend(Charge(THREE, "ben")) >= 0 and counted(backend, "ben"))


def counted(backend: Backend, who: str) -> bool:
    return bool(backend.redis.exists(Charge(THREE, who).key))
