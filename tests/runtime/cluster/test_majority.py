"""Which server the portal takes for the primary while its sentinels name different ones."""

import signal
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import pytest
from redis.sentinel import MasterNotFoundError

from portal.core.redis_clients import Address, PatientConnectionPool, parsed, pool
from portal.runtime.child_process import Child
from portal.runtime.embedded_valkey import reached
from tests import demo_cluster
from tests.runtime.cluster.replicated_ledger import until


@dataclass
class Split:
    """Two primaries: the first of three sentinels names the old one, the others the new one."""

    old: Address
    new: Address
    sentinels: list[Child]
    url: str

    def pool(self) -> PatientConnectionPool:
        """The connections of a process that has just started."""
        return pool(parsed(self.url))

    def freeze(self, *numbers: int) -> None:
        """Let only the sentinels with other numbers answer."""
        for number, child in enumerate(self.sentinels, 1):
            assert child.process
            child.process.send_signal(signal.SIGSTOP if number in numbers else signal.SIGCONT)


@pytest.fixture(scope="module")
def split(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Split]:
    folder = tmp_path_factory.mktemp("majority")
    old, new = (demo_cluster.topology(folder / each, "secret") for each in ("old", "new"))
    with (folder / "lock").open("w") as lock:
        servers = [
            demo_cluster.server(at, 1, folder / "log", durable=False, lock=lock.fileno())
            for at in (old, new)
        ]
        sentinels = [
            demo_cluster.sentinel(at, number, folder / "log", lock=lock.fileno())
            for number, at in enumerate((old, new, new), 1)
        ]
        ports = (old.sentinels[0], *new.sentinels[1:])
        urls = [f"redis://:secret@{demo_cluster.HOST}:{port}" for port in ports]
        for child in (*servers, *sentinels):
            child.start()
        for url in (old.server_url(1), new.server_url(1), *urls):
            until(partial(reached, url, lambda redis: bool(redis.ping())))
        hosts = ",".join(f"{demo_cluster.HOST}:{port}" for port in ports)
        yield Split(
            (demo_cluster.HOST, old.servers[0]),
            (demo_cluster.HOST, new.servers[0]),
            sentinels,
            f"redis+sentinel://:secret@{hosts}/{demo_cluster.NAME}?sentinel_password=secret",
        )
        for child in (*sentinels, *servers):
            child.kill()


@pytest.fixture(autouse=True)
def all_answer(split: Split) -> None:
    split.freeze()


def test_connections_lead_to_the_server_that_most_sentinels_name(split: Split) -> None:
    found = split.pool()
    for _ in range(3):
        connection = found.get_connection()
        assert (connection.host, connection.port) == split.new
        connection.disconnect()
        found.release(connection)
    assert found.is_primary(split.new)
    assert not found.is_primary(split.old)


def test_where_one_sentinel_is_left_connections_follow_it_but_no_server_is_the_primary(
    split: Split,
) -> None:
    split.freeze(2, 3)
    found = split.pool()
    connection = found.get_connection()
    assert (connection.host, connection.port) == split.old
    found.release(connection)
    assert not found.is_primary(split.old)
    assert not found.is_primary(split.new)


def test_while_those_that_answer_disagree_there_is_no_connection(split: Split) -> None:
    split.freeze(2)
    with pytest.raises(MasterNotFoundError):
        split.pool().get_connection()


def test_the_error_of_each_sentinel_that_does_not_answer_is_named(split: Split) -> None:
    password = split.url.replace("sentinel_password=secret", "sentinel_password=wrong")
    with pytest.raises(MasterNotFoundError, match=r"(127\.0\.0\.1:\d+: .*password.*){3}"):
        pool(parsed(password)).get_connection()
    name = split.url.replace(f"/{demo_cluster.NAME}?", "/other?")
    with pytest.raises(MasterNotFoundError, match=r"no primary of 'other'\.$"):
        pool(parsed(name)).get_connection()
    split.freeze(2)
    with pytest.raises(MasterNotFoundError, match=r"no primary of .*\. 127\.0\.0\.1:\d+: Timeout"):
        split.pool().get_connection()


def test_a_silent_sentinel_is_waited_for_once_and_counts_again_when_it_is_back(
    split: Split,
) -> None:
    split.freeze(2)
    found = split.pool()
    assert not found.is_primary(split.new)  # one of three names it
    split.freeze(1)
    assert found.is_primary(split.new)
    began = time.monotonic()
    for _ in range(20):
        assert found.is_primary(split.new)
    assert time.monotonic() - began < 5  # s; 20 timeouts take 10
