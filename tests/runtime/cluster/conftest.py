"""The ledger of these tests has replicas and sentinels; all else is as everywhere."""

from collections.abc import Iterator
from dataclasses import replace

import pytest
from redis.exceptions import ReadOnlyError

from portal import backend as connections
from portal.backend import Backend
from tests.runtime.cluster.replicated_ledger import Stage, until


@pytest.fixture(scope="package")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A primary, two replicas and three sentinels."""
    stage = Stage(tmp_path_factory.mktemp("stage"))
    yield stage
    stage.end()


@pytest.fixture
def clustered(backend: Backend) -> Backend:
    """The process of the tests, connected to the ledger with replicas."""
    return backend


@pytest.fixture
def backend(backend: Backend, stage: Stage) -> Iterator[Backend]:
    """Empty tables and an empty ledger, with two replicas that follow."""
    settings = replace(backend.settings, redis_url=stage.url, replicas=1)
    clustered = connections.connect(settings)
    until(lambda: _emptied(stage, clustered))
    yield clustered
    clustered.redis.close()
    connections.connect(backend.settings)


def _emptied(stage: Stage, clustered: Backend) -> bool:
    """Empty the ledger; False where the sentinels have just named another primary."""
    stage.heal()
    try:
        clustered.redis.flushall()
    except ReadOnlyError:
        return False
    return True
