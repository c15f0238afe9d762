"""Connections and memory of a process are sampled even after an error."""

from threading import enumerate as threads
from typing import Any, cast

import pytest
from prometheus_client import REGISTRY

from portal.backend import Backend
from portal.core import resources
from portal.core.ledger_servers import ClusterServers

KIND = "tests"


class FlakyEngine:
    """Fails at the first sample, lets the second one pass, and ends the thread at the third."""

    def __init__(self, backend: Backend) -> None:
        self.samples, self.real = 0, backend.engine

    @property
    def pool(self) -> Any:
        self.samples += 1
        if self.samples == 1:
            raise OSError("Too many open files")
        if self.samples == 3:
            raise SystemExit
        return self.real.pool


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")  # SystemExit
def test_error_is_logged_and_the_next_sample_counts(
    backend: Backend, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(resources, "EVERY", 0.01)
    resources.watch(KIND, cast("Any", FlakyEngine(backend)), backend.ledger.servers)
    for thread in threads():
        if thread.name == "resources":
            thread.join(10)
    assert "Too many open files" in caplog.text
    assert REGISTRY.get_sample_value("fairseat_memory_bytes", {"kind": KIND})


def test_in_a_cluster_the_fullest_pool_of_connections_counts(backend: Backend) -> None:
    servers = ClusterServers("redis+cluster://a", max_connections=4, timeout=0.1)
    full, _ = (servers.of(tag).connection_pool for tag in ("{t:1}", "{t:2}"))
    for _ in range(3):
        full.pool.get_nowait()
    resources.sample(KIND, backend.engine, servers)
    found = [
        REGISTRY.get_sample_value(f"fairseat_pool_{name}", {"kind": KIND, "store": "ledger"})
        for name in ("connections", "limit")
    ]
    assert found == [3, 4]
