"""The ledger of these tests is a cluster; jobs and limits are where they are everywhere."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from portal import backend as connections
from portal.backend import Backend
from tests.recorder.rush import Rush, a_rush, a_rush_of
from tests.valkey_cluster import ValkeyCluster


@pytest.fixture(scope="package")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ValkeyCluster]:
    """Three primaries, each with a replica."""
    cluster = ValkeyCluster(tmp_path_factory.mktemp("cluster"))
    yield cluster
    cluster.end()


@pytest.fixture
def backend(backend: Backend, cluster: ValkeyCluster) -> Iterator[Backend]:
    """Empty tables and an empty ledger; each primary has its replica."""
    with in_cluster(backend, cluster) as clustered:
        yield clustered


@contextmanager
def in_cluster(portal: Backend, cluster: ValkeyCluster) -> Iterator[Backend]:
    """The portal with its ledger in the cluster, which is empty and whole at the start."""
    cluster.heal()
    cluster.empty()
    plain = portal.settings.redis_url
    settings = replace(portal.settings, redis_url=cluster.url, queue_redis_url=plain, replicas=1)
    clustered = connections.connect(settings)
    yield clustered
    clustered.ledger.servers.close()
    clustered.redis.close()
    connections.connect(portal.settings)


@pytest.fixture
def rushes(backend: Backend, cluster: ValkeyCluster) -> list[Rush]:  # noqa: ARG001
    return two_rushes(cluster)


def two_rushes(cluster: ValkeyCluster) -> list[Rush]:
    """Return a term of each of two primaries, with two sections of two seats for five students."""
    first = a_rush(sections=2, students=5, capacity=2, waitlist=5)
    return [first, elsewhere(cluster, first)]


def elsewhere(cluster: ValkeyCluster, rush: Rush) -> Rush:
    """Return a term of the same students on another primary."""
    for number in range(1011, 1100):
        name, code = f"Term {number}", f"MTH-{number}"
        found = a_rush_of(rush.students, sections=2, capacity=2, waitlist=5, name=name, code=code)
        if cluster.primary_of(found.term) != cluster.primary_of(rush.term):
            return found
    raise AssertionError("all terms are on one primary")
