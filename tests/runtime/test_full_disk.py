"""`fairseat up` outlives a full disk, and comes back by itself once there is space again."""

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis import Redis
from redis.exceptions import RedisError

from portal.runtime.listener import not_ready
from tests.ports import free_port
from tests.runtime.test_up import Up, remember, remembered

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("up")]
SIZE = "160m"
TIMEOUT = 240.0


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """A small disk."""
    disk = tmp_path / "disk"
    disk.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=755", "tmpfs", str(disk)]
    undo = ["umount", "--lazy", str(disk)]
    mounted = subprocess.run(command, capture_output=True, text=True, check=False)
    if mounted.returncode:
        pytest.skip(f"no small disk can be mounted here: {mounted.stderr.strip()}")
    yield disk
    subprocess.run(undo, check=True)


@pytest.fixture
def up(small: Path, tmp_path: Path) -> Iterator[Up]:
    running = Up(small / "var", free_port(), said=tmp_path / "said")
    running.start()
    yield running
    running.end()


def until(up: Up, holds: Callable[[], bool], why: str) -> None:
    deadline = time.monotonic() + TIMEOUT
    while not holds():
        assert up.process.poll() is None, said(up)
        assert time.monotonic() < deadline, f"{why}\n{said(up)}"
        time.sleep(0.2)


def said(up: Up) -> str:
    assert up.said
    return up.said.read_text()


def fill(disk: Path) -> Path:
    """Leave not a byte on the disk."""
    filler = disk / "filler"
    with filler.open("ab", buffering=0) as out:
        for size in (1 << 20, 1 << 12, 1):
            try:
                while True:
                    out.write(b"x" * size)
            except OSError:
                continue
    return filler


def refused(up: Up) -> bool:
    """Return whether the ledger takes no more, as it can't keep it."""
    with Redis.from_url(up.run().redis_url) as redis:
        try:
            redis.set("more", os.urandom(1 << 16))
        except RedisError:
            return True
    return False


def ends(up: Up, name: str) -> int:
    """How often a process has ended, or could not be started."""
    told = said(up)
    return told.count(f"{name} ended") + told.count(f"{name} can't be started")


def test_it_outlives_a_full_disk_and_serves_again_when_there_is_space(up: Up, small: Path) -> None:
    remember(up.run())
    filler = fill(small)
    until(up, lambda: refused(up), "the disk is not full")
    until(up, lambda: ends(up, "valkey") >= 2, "the ledger does not notice")
    for name in ("record", "scheduler"):  # what can't be started again is tried again as well
        if victim := up.child(name):
            victim.kill()
    until(up, lambda: "can't be written to: No space left on device" in said(up), "it is silent")
    filler.unlink()
    until(up, lambda: not not_ready(up.address), "it does not come back")
    until(up, lambda: not refused(up), "the ledger keeps nothing")
    assert remembered(up.run())
    assert "Traceback" not in said(up)
    until(up, lambda: bool(up.child("record")), "nobody records again")
