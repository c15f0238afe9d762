"""Child processes: each with a session and a log of its own, restarted when it exits."""

import ctypes
import logging
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO, Protocol
from weakref import WeakValueDictionary

import click

from portal.core import logs
from portal.core.private_files import owner_only

PR_SET_PDEATHSIG = 1
LOG_LIMIT = 10_000_000  # bytes of a log before it is rotated
OLD_LOGS = 5  # per process; .1 is the newest
YOUNG = 10.0  # seconds: a process that exits sooner may have failed to start
AT_ONCE = 3  # consecutive early exits after which a process still restarts at once
LONGEST_WAIT = 30.0
LONGEST_WAIT_OF_SERVERS = 5.0  # all other processes wait for PostgreSQL and the ledger

# By process id, for as long as someone may ask for its status.
STARTED_HERE: WeakValueDictionary[int, "Process"] = WeakValueDictionary()

log = logging.getLogger(__name__)


class Process(Protocol):
    """What a child needs of its process: the methods of a Popen."""

    pid: int
    returncode: Any

    def poll(self) -> int | None: ...
    def wait(self, timeout: float | None = None) -> int: ...
    def send_signal(self, sig: int) -> None: ...


@dataclass
class Child:
    """A child process: how it starts and stops. It never outlives its parent."""

    name: str
    command: Sequence[str]
    log: Path
    env: Mapping[str, str] = field(default_factory=dict)
    own_env: bool = False  # whether `env` is its whole environment
    stop_signal: signal.Signals = signal.SIGTERM
    keep_open: tuple[int, ...] = ()  # file descriptors that it inherits
    to_log: bool = True  # otherwise it shares its parent's output
    process: Process | None = None
    log_offset: int = 0  # the offset in its log where this start's output begins

    def start(self) -> None:
        """Start it; its output is appended to its log."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with open(self.log, "ab", opener=owner_only) if self.to_log else nullcontext() as log:
            self.log_offset = log.tell() if log else 0
            self.process = self._begin(log)
        STARTED_HERE[self.process.pid] = self.process

    @property
    def whole_env(self) -> dict[str, str]:
        return dict(self.env) if self.own_env else {**os.environ, **self.env}

    def _begin(self, log: BinaryIO | None) -> Process:
        return subprocess.Popen(  # noqa: S603  our own commands
            self.command,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT if log else None,
            env=self.whole_env,
            pass_fds=self.keep_open,
            # The terminal's Ctrl-C is for the supervisor, which stops all processes in order.
            start_new_session=True,
            preexec_fn=_die_with_parent(os.getpid(), self.stop_signal),  # noqa: PLW1509  no threads
        )

    @property
    def alive(self) -> bool:
        return self.process is not None and self.process.poll() is None

    def ask_to_stop(self) -> None:
        """Send its stop signal, without waiting."""
        if self.process is not None and self.alive:
            self.process.send_signal(self.stop_signal)

    def stop(self, timeout: float = 20.0) -> None:
        """Stop it; kill its whole session after `timeout` seconds."""
        self.ask_to_stop()
        if self.process is None:
            return
        try:
            self.process.wait(timeout)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Kill it and every process of its session at once."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def last_output(self, lines: int = 12) -> str:
        """Return the last lines of output since its start, for an error message."""
        if not self.log.exists():
            return ""
        with self.log.open("rb") as log:
            if self.log_offset <= self.log.stat().st_size:  # otherwise the log was rotated since
                log.seek(self.log_offset)
            output = log.read().decode(errors="replace")
        return "\n".join(output.splitlines()[-lines:])


def prctl() -> Callable[..., int] | None:
    """Return Linux's function for settings of a process; None on other systems."""
    return getattr(ctypes.CDLL(None), "prctl", None) if sys.platform == "linux" else None


def _die_with_parent(parent: int, death_signal: signal.Signals) -> Callable[[], None]:
    setting = prctl()

    def prepare() -> None:
        if setting:
            setting(PR_SET_PDEATHSIG, int(death_signal))
        if os.getppid() != parent:  # the parent died before the line above
            os._exit(1)

    return prepare


@dataclass
class SupervisedChild:
    """A child that is restarted when it exits, with growing delays after early exits."""

    child: Child
    started: float = 0.0
    failures: int = 0
    due: float | None = None  # when it restarts
    longest_wait: float = LONGEST_WAIT  # seconds

    def start(self) -> None:
        self.started, self.due = time.monotonic(), None
        self.child.start()

    def check(self) -> None:
        """Start the process when that is due; if it has exited, plan a restart."""
        rotate(self.child.log)
        if self.due is not None:
            if time.monotonic() >= self.due:
                self._try_to_start()
        elif not self.child.alive:
            status = self.child.process.returncode if self.child.process else "?"
            self._plan_start(f"{self.child.name} ended (status {status})")
            if self.child.to_log:
                say(f"  Its log is {self.child.log}")

    def _try_to_start(self) -> None:
        try:
            self.start()
        except OSError as error:  # such as a full disk
            self._plan_start(f"{self.child.name} can't be started ({error.strerror})")

    def _plan_start(self, why: str) -> None:
        now = time.monotonic()
        self.failures = self.failures + 1 if now - self.started < YOUNG else 0
        excess = self.failures - AT_ONCE
        wait = min(self.longest_wait, 2.0 ** (excess - 1)) if excess > 0 else 0.0
        self.due = now + wait
        say(f"{why}; starting it again {f'in {wait:.0f} s' if wait else 'now'}.")


def rotate(log: Path) -> None:
    """Move the content of a long log to an older file, while its process writes to it.

    Copy it, since the process has the file open. On a full disk, change nothing.
    """
    with suppress(OSError):
        if log.stat().st_size <= LOG_LIMIT:
            return
        newest = _old_log(log, 1)
        partial = newest.with_suffix(".new")
        try:
            with log.open("rb") as now, open(partial, "wb", opener=owner_only) as copy:
                shutil.copyfileobj(now, copy)
        except OSError:
            partial.unlink()
            raise
        for number in range(OLD_LOGS - 1, 0, -1):
            if _old_log(log, number).exists():
                _old_log(log, number).replace(_old_log(log, number + 1))
        partial.replace(newest)
        os.truncate(log, 0)


def _old_log(log: Path, number: int) -> Path:
    return log.with_name(f"{log.name}.{number}")


def say(line: str) -> None:
    """Write a line to the log, or to the terminal if that is where the log goes."""
    if logs.in_json():
        log.info(line.strip())
    else:
        greet(line)


def greet(line: str) -> None:
    """Write a line to the terminal, if it is still open."""
    with suppress(OSError):
        click.echo(line)
