"""/ready and /health tell how many replicas have what the ledger decides."""

import signal
from typing import Any

import pytest
from flask.testing import FlaskClient

from portal.backend import Backend
from portal.web import monitoring
from tests.runtime.cluster.replicated_ledger import Stage, until


@pytest.fixture(autouse=True)
def asked_anew() -> None:
    """No answer of an earlier test is given again."""
    monitoring.checks.cache_clear()


def told(client: FlaskClient, path: str = "/ready") -> Any:
    return client.get(path).json


def test_they_are_counted(client: FlaskClient) -> None:
    assert told(client)["replicas"] == told(client, "/health")["replicas"] == 2
    assert "replicas" not in told(client)["missing"]


def test_too_few_are_missing(client: FlaskClient, backend: Backend, stage: Stage) -> None:
    backend.redis.config_set("min-replicas-to-write", 0)
    stage.send(signal.SIGKILL, *stage.replicas())
    until(lambda: told(client)["replicas"] == 0)
    assert "replicas" in told(client)["missing"]
    backend.redis.config_set("min-replicas-to-write", 1)
    until(lambda: "ledger" in told(client)["missing"])
    stage.heal()
    until(lambda: not {"ledger", "replicas"} & set(told(client)["missing"]))
