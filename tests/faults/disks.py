"""Small disks for the ledger's servers: only this process sees them, and they end with it."""

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

SIZE = "256m"  # a server compacts its append-only file once it has 64 MB
APART = "FAIRSEAT_FAULTS_APART"  # set where this process sees file systems of its own


def mountable() -> bool:
    """Return whether this machine lets its root have file systems that others don't see."""
    unshare = shutil.which("unshare")
    if unshare is None or os.geteuid():
        return False
    tried = subprocess.run([unshare, "-m", "true"], capture_output=True, check=False)
    return tried.returncode == 0


def apart(arguments: list[str]) -> None:
    """Begin the suite again, in a process that does; returns in that process alone."""
    if APART in os.environ:
        return
    os.environ[APART] = "yes"
    command = ["unshare", "-m", sys.executable, "-m", "tests.faults", *arguments]
    os.execvp(command[0], command)  # noqa: S606  no shell is needed


@contextmanager
def mounted(folder: Path) -> Iterator[None]:
    """A disk of its own for each server of the ledger in `folder`, before they are started."""
    folder.mkdir(mode=0o700)
    disks = [folder / "ledger" / f"valkey-{number}" for number in (1, 2, 3)]
    for own in disks:
        own.mkdir(mode=0o700, parents=True)
        command = ["mount", "-t", "tmpfs", "-o", f"size={SIZE},mode=700", "none", str(own)]
        subprocess.run(command, check=True)
    try:
        yield
    finally:
        command = ["umount", *map(str, disks)]
        subprocess.run(command, check=False)
