"""`make cluster`: one command runs it all, and nothing of it outlives it."""

import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from portal.runtime.data_folder import DataFolder, StartupError
from portal.runtime.listener import not_ready
from tests import demo_cluster
from tests.ports import free_port
from tests.runtime.cluster.replicated_ledger import until
from tests.runtime.test_up import Up


@pytest.fixture
def cluster(tmp_path: Path) -> Iterator[Up]:
    running = Up(tmp_path / "var", free_port(), "cluster", workers="")
    yield running
    running.end()


def test_it_says_how_to_install_what_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    monkeypatch.setattr(demo_cluster, "HAPROXY_PATHS", "")
    with pytest.raises(StartupError, match="apt-get install --no-install-recommends haproxy"):
        demo_cluster.haproxy_program()


def test_whoever_is_killed_comes_back_and_an_end_leaves_no_one(cluster: Up) -> None:
    cluster.start()
    folder = DataFolder(cluster.var / "cluster")
    known = folder.pids()
    expected = {"valkey-1", "valkey-2", "valkey-3", "sentinel-1", "sentinel-2", "sentinel-3"}
    expected |= {"postgres", "haproxy", "web-1", "web-2", "scheduler-1", "scheduler-2"}
    expected |= {"record-1", "record-2", "promote-1", "promote-2", "maintain-1"}
    assert expected <= known.keys()
    for name in ("web-1", "valkey-1"):
        psutil.Process(known[name]).kill()
        until(lambda: folder.pids()[name] != known[name], f"{name} stays away")  # noqa: B023
        until(lambda: not not_ready(cluster.address), f"it does not serve without {name}")
    family = cluster.family()
    cluster.process.send_signal(signal.SIGINT)
    said, _ = cluster.process.communicate(timeout=120)
    assert cluster.process.returncode == 0, said
    until(lambda: not [each for each in family if each.is_running()], "it left somebody")
