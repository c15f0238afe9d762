"""Connections and memory of a process are sampled even after an error."""

from threading import enumerate as threads
from typing import Any, cast

import pytest
from prometheus_client import REGISTRY

from portal.backend import Backend
from portal.core import resources

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
