"""The data folder (`var/`): one process at a time owns it, and others find what it runs."""

import contextlib
import fcntl
import json
import os
import secrets
import shutil
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path

from portal.core.errors import CommandError

TIMEOUT = 30.0
OPEN = (
    "The data folder {0} is open to other users, and not ours to close, as it holds other things."
    " Name a folder of its own, FAIRSEAT_VAR=…, or close it: chmod 700 {0}"
)
OF_OTHERS = (
    "The data folder {0} belongs to another account (number {1}), which could read all that is in"
    " it. Run Fairseat as that account, or give the folder to yours: chown -R {2} {0}"
)


class StartupError(CommandError):
    """The portal cannot start; the message says why."""


class FolderError(StartupError):
    """The data folder cannot be used; the message says why."""


@dataclass(frozen=True)
class Run:
    """What the owner of a data folder runs, for commands in other terminals."""

    pid: int
    address: str
    database_url: str
    redis_url: str
    sockets: str
    owner_url: str = ""
    queue_redis_url: str = ""


class DataFolder:
    """A data folder. The servers inherit its lock, so it is free only when they are gone."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.lock = -1
        self.abandoned = False  # whether its last owner was killed
        try:
            path.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._close()
            (path / "log").mkdir(mode=0o700, exist_ok=True)
        except OSError as error:
            raise FolderError(f"The data folder {path} can't be used: {error.strerror}.") from error

    def log(self, name: str) -> Path:
        """Return the log of the process `name`."""
        return self.path / "log" / f"{name}.log"

    def emptied(self, name: str) -> Path:
        """Return the subfolder of that name, emptied."""
        below = self.path / name
        shutil.rmtree(below, ignore_errors=True)
        below.mkdir(mode=0o700)
        return below

    def secret(self, name: str, length: int = 48) -> str:
        """Return the secret of that name; the first use makes and stores it."""
        file = self.path / name
        if not file.exists():
            partial = file.with_name(f"{name}.{os.getpid()}")
            partial.touch(mode=0o600)
            partial.write_text(secrets.token_urlsafe(length))
            with contextlib.suppress(FileExistsError):
                os.link(partial, file)
            partial.unlink()
        return file.read_text()

    def own(self) -> Run | None:
        """Own the folder and return None, or return what its live owner runs; raise FolderError."""
        deadline = time.monotonic() + TIMEOUT
        while not self._try_lock():
            run = self._run()
            if run:
                return run
            # Its owner was killed and the servers are still stopping, or it is just starting.
            if time.monotonic() > deadline:
                raise FolderError(f"Another process uses the data folder {self.path}.")
            time.sleep(0.2)
        self._sweep()
        return None

    def announce(self, run: Run) -> None:
        """Announce to other terminals what runs here."""
        self._write("run.json", asdict(run))

    def note(self, pids: Mapping[str, int]) -> None:
        """Announce to other terminals the process ids by name."""
        self._write("pids.json", pids)

    def supervisor(self) -> int:
        """Return the process id of the supervisor; raise FolderError if none runs."""
        run = self._run()
        if not run:
            raise FolderError(f"Nothing runs on {self.path}.")
        return run.pid

    def pids(self) -> dict[str, int]:
        """Return the processes that run here, by name; raise FolderError if there are none."""
        self.supervisor()
        found: dict[str, int] = json.loads((self.path / "pids.json").read_text())
        return found

    def release(self) -> None:
        if self.lock >= 0:
            (self.path / "run.json").unlink(missing_ok=True)
            (self.path / "pids.json").unlink(missing_ok=True)
            os.close(self.lock)
            self.lock = -1

    def _write(self, name: str, content: Mapping[str, object]) -> None:
        partial = self.path / f"{name}.new"
        partial.touch(mode=0o600)
        partial.write_text(json.dumps(content))
        partial.replace(self.path / name)

    def _close(self) -> None:
        """Close the folder to other users; raise FolderError if it is not ours alone."""
        found = self.path.stat()
        if found.st_uid != os.geteuid():
            raise FolderError(OF_OTHERS.format(self.path, found.st_uid, os.geteuid()))
        if not found.st_mode & 0o077:
            return
        ours = (self.path / "lock").is_file() or (self.path / "cluster" / "lock").is_file()
        if any(self.path.iterdir()) and not ours:
            raise FolderError(OPEN.format(self.path))
        self.path.chmod(0o700)

    def _try_lock(self) -> bool:
        try:
            descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o600)
        except OSError as error:
            raise FolderError(f"The data folder {self.path} can't be used: {error}.") from error
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            return False
        self.lock = descriptor
        return True

    def _run(self) -> Run | None:
        """Return what the owner announced, if it is alive."""
        try:
            run = Run(**json.loads((self.path / "run.json").read_text()))
            os.kill(run.pid, 0)
        except (OSError, ValueError, TypeError):
            return None
        return run

    def _sweep(self) -> None:
        """Remove the sockets of an owner that was killed."""
        with contextlib.suppress(OSError, ValueError, KeyError):
            left = Path(json.loads((self.path / "run.json").read_text())["sockets"])
            if left.name.startswith("fairseat-"):
                shutil.rmtree(left, ignore_errors=True)
            (self.path / "run.json").unlink()
            self.abandoned = True
