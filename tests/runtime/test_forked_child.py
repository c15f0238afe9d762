"""Children are forked from a process that has imported the portal, or else started by Python."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

from portal.runtime.child_process import Child, prctl
from portal.runtime.forked_child import (
    PR_SET_CHILD_SUBREAPER,
    ForkedChild,
    ForkServer,
    reap_orphans,
)
from tests.runtime.cluster.replicated_ledger import until

pytestmark = pytest.mark.skipif(
    not prctl(), reason="only Linux leaves a process to its grandparent"
)
BROKEN = """
import sys
if "portal.runtime.fork_server" in sys.orig_argv:
    sys.exit("broken")
"""
SLOW = BROKEN.replace('sys.exit("broken")', '__import__("time").sleep(600)')


@pytest.fixture
def server(tmp_path: Path) -> Iterator[ForkServer]:
    found = ForkServer(tmp_path / "server.log", {"PYTHONUNBUFFERED": "1"})
    found.start()
    until(lambda: not found.is_importing)
    yield found
    found.stop()
    reap_orphans()
    if setting := prctl():  # as it is in other tests
        setting(PR_SET_CHILD_SUBREAPER, 0)


def a_child(server: ForkServer, folder: Path, *arguments: str, **env: str) -> ForkedChild:
    command = [sys.executable, "-m", "portal.runtime.cli", *arguments]
    return ForkedChild("a-child", command, folder / "log", env, fork_server=server)


def test_it_is_our_own_child_with_its_own_arguments_output_and_status(
    server: ForkServer, tmp_path: Path
) -> None:
    child = a_child(server, tmp_path, "worker", "nowhere")
    child.start()
    assert child.process
    assert psutil.Process(child.process.pid).ppid() == os.getpid()
    assert child.process.wait(60) == 2
    assert "Usage: fairseat worker" in child.last_output(20)
    assert not child.alive


def test_it_has_its_own_environment(server: ForkServer, tmp_path: Path) -> None:
    for name in ("one", "two"):
        env = {"FAIRSEAT_VAR": str(tmp_path / name), "DATABASE_URL": ""}
        child = a_child(server, tmp_path, "worker", "record", **env)
        child.start()
        assert child.process
        assert child.process.wait(60) == 1
        assert f"Nothing runs on {tmp_path / name}." in child.last_output()


def test_where_nothing_can_be_forked_python_starts_it(
    server: ForkServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(BROKEN)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    server.start()
    until(lambda: not server.is_importing)
    child = a_child(server, tmp_path, "worker", "nowhere")
    child.start()
    assert child.process
    assert child.process.wait(60) == 2
    assert "Usage: " in child.last_output(20)


def test_python_starts_it_while_a_new_fork_server_imports(
    server: ForkServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(SLOW)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    for each in server.children:
        each.kill()
    child = a_child(server, tmp_path, "worker", "nowhere")
    child.start()
    assert child.process
    assert child.process.wait(60) == 2
    assert server.is_importing


def test_a_child_whose_status_no_one_asked_for_holds_up_no_orphans(
    server: ForkServer, tmp_path: Path
) -> None:
    assert server.children
    child = Child("a-child", ["sh", "-c", "exit 3"], tmp_path / "log")
    child.start()
    assert child.process
    started = subprocess.check_output(["/bin/sh", "-c", "sleep 600 > /dev/null & echo $!"])
    orphan = psutil.Process(int(started))
    orphan.kill()
    for each in (psutil.Process(child.process.pid), orphan):
        until(lambda each=each: each.status() == psutil.STATUS_ZOMBIE)
    reap_orphans()
    assert not psutil.pid_exists(orphan.pid)
    assert child.process.poll() == 3


def test_where_no_orphan_can_come_nothing_is_collected(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "darwin")
    monkeypatch.delattr(os, "waitid")
    reap_orphans()
