"""The servers of a cluster that a process remembers between two answers."""

from typing import Any

import pytest
from redis import Redis
from redis.crc import key_slot
from redis.exceptions import TimeoutError as LateReply
from redis.exceptions import TryAgainError

from portal.core import redis_clients
from portal.core.ledger_servers import Cluster, ClusterServers
from portal.core.redis_clients import Address
from portal.ledger.client import Ledger
from portal.ledger.function_library import prefix

A, B, C, D = ((host, 6379) for host in "abcd")


class Told:
    """What the cluster's servers say, and who was asked."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.ranges: Any = []
        self.asked: list[Address] = []
        self.up: set[Address] = set()
        monkeypatch.setattr(Cluster, "_ask", self._ask)

    def _ask(self, host: str, port: int) -> tuple[str, Any]:
        self.asked.append((host, port))
        if (host, port) in self.up:
            return "ok", self.ranges
        raise OSError("away")


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Told:
    return Told(monkeypatch)


def a_cluster() -> Cluster:
    return Cluster(redis_clients.cluster("redis+cluster://a"))


def shard(*addresses: Address) -> list[Any]:
    """One range of all slots, as servers tell of it."""
    return [0, 16383, *([host.encode(), port, b"id"] for host, port in addresses)]


def test_servers_that_have_left_are_forgotten_and_those_given_are_not(told: Told) -> None:
    cluster, told.up = a_cluster(), {A}
    told.ranges = [shard(B, C)]
    assert cluster.address(7) == B
    told.up, told.ranges = {B}, [shard(D)]
    assert cluster.address(7) == D
    told.asked, told.up = [], set()
    with pytest.raises(redis_clients.NoConnection, match="away"):
        cluster.address(7)
    assert sorted(told.asked) == [A, D]


@pytest.mark.parametrize("host", [None, b""])
def test_a_server_that_does_not_know_its_host_is_the_one_that_answers(
    told: Told, host: bytes | None
) -> None:
    told.up, told.ranges = {A}, [[0, 16383, [host, 7000, b"id"]]]
    assert a_cluster().address(7) == ("a", 7000)


def test_a_silent_primary_is_waited_for_once_in_a_pass_and_others_are_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    homes = {1: A, 2: A, 3: A, 4: B, 5: A}
    monkeypatch.setattr(
        Cluster,
        "address",
        lambda _, slot: next(
            home for term, home in homes.items() if key_slot(prefix(term).encode()) == slot
        ),
    )
    ledger = Ledger(ClusterServers("redis+cluster://a"))
    asked: list[int] = []
    failures: list[Exception] = []

    def ask(redis: Redis, terms: list[int]) -> list[int]:
        asked.extend(terms)
        found = redis.connection_pool.find()
        if found == A and failures:
            raise failures[0]
        return terms

    def answers() -> list[int]:
        asked.clear()
        return ledger.ask_servers(homes, ask)

    assert answers() == [1, 2, 3, 4, 5]
    failures.append(LateReply("silent"))
    assert answers() == [4]
    assert asked == [1, 4]
    homes[3] = B  # a replica was promoted, or the term has moved
    assert answers() == [3, 4]
    assert asked == [1, 3, 4]
    failures[0] = TryAgainError("a term that is being moved concerns no other")
    assert answers() == [3, 4]
    assert asked == [1, 2, 3, 4, 5]
