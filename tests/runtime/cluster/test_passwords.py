"""Servers and sentinels of the ledger listen on loopback, where every local user can connect."""

import pytest
from redis import Redis
from redis.exceptions import AuthenticationError

from portal.core import redis_clients
from tests import demo_cluster
from tests.runtime.cluster.replicated_ledger import Stage, until

pytestmark = pytest.mark.slow


def test_no_one_commands_a_server_or_a_sentinel_without_the_password(stage: Stage) -> None:
    for port in (*stage.at.servers, *stage.at.sentinels):
        for password in (None, "wrong"):
            with Redis(port=port, password=password) as redis, pytest.raises(AuthenticationError):
                redis.ping()


def test_sentinels_know_each_other_by_the_password(stage: Stage) -> None:
    for number in (1, 2, 3):
        with redis_clients.commands(stage.at.sentinel_url(number), size=1) as redis:
            until(lambda redis=redis: len(redis.sentinel_sentinels(demo_cluster.NAME)) == 2)  # type: ignore[misc]
            others = redis.sentinel_sentinels(demo_cluster.NAME)
            assert not [each for each in others if each["is_disconnected"]]
