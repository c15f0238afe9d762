"""Child processes that never outlive this one, each in a session and with a log of its own."""

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

import click

from portal.core import logs
from portal.core.private_files import owner_only

PR_SET_PDEATHSIG = 1


@dataclass
class Child:
    """One process to keep: how it starts, and how it is asked to stop."""

    name: str
    command: Sequence[str]
    log: Path
    env: Mapping[str, str] = field(default_factory=dict)
    bare: bool = False  # whether that is all of its environment, without ours
    stop_signal: signal.Signals = signal.SIGTERM
    keep_open: tuple[int, ...] = ()  # file descriptors that it inherits
    aloud: bool = False  # whether it speaks where its parent does, not into its log
    process: subprocess.Popen[bytes] | None = None
    begun: int = 0  # where in its log this start begins

    def start(self) -> None:
        """Start it, appending what it prints to its log."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        with nullcontext() if self.aloud else open(self.log, "ab", opener=owner_only) as log:
            self.begun = log.tell() if log else 0
            self.process = subprocess.Popen(  # noqa: S603  our own commands
                self.command,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT if log else None,
                env=dict(self.env) if self.bare else {**os.environ, **self.env},
                pass_fds=self.keep_open,
                # The terminal's Ctrl-C is for the supervisor, which stops all in order.
                start_new_session=True,
                preexec_fn=_die_with_parent(os.getpid(), self.stop_signal),  # noqa: PLW1509  no threads
            )

    @property
    def alive(self) -> bool:
        """Whether it has been started and runs."""
        return self.process is not None and self.process.poll() is None

    def ask_to_stop(self) -> None:
        """Send its stop signal; does not wait."""
        if self.process is not None and self.alive:
            self.process.send_signal(self.stop_signal)

    def stop(self, patience: float = 20.0) -> None:
        """Stop it, and kill its whole session where `patience` (seconds) runs out."""
        self.ask_to_stop()
        if self.process is None:
            return
        try:
            self.process.wait(patience)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """Kill it and every process of its session at once."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()

    def last_words(self, lines: int = 12) -> str:
        """The end of what it has written to its log since it was started, for an error message."""
        if not self.log.exists():
            return ""
        with self.log.open("rb") as log:
            if self.begun <= self.log.stat().st_size:  # else it was put aside since
                log.seek(self.begun)
            said = log.read().decode(errors="replace")
        return "\n".join(said.splitlines()[-lines:])


def _die_with_parent(parent: int, death_signal: signal.Signals) -> Callable[[], None]:
    prctl = getattr(ctypes.CDLL(None), "prctl", None) if sys.platform == "linux" else None

    def prepare() -> None:
        if prctl:
            prctl(PR_SET_PDEATHSIG, int(death_signal))
        if os.getppid() != parent:  # it died before the line above
            os._exit(1)

    return prepare


# Logs of processes, which don't grow for ever.

LIMIT = 10_000_000  # bytes of a log, until it is put aside
KEPT = 5  # old ones of each, .1 the newest


def put_aside(log: Path) -> None:
    """Put what a log holds aside where it has grown long, while its process goes on writing to it.

    As a copy, since the process has the file open. On a full disk nothing is changed.
    """
    with suppress(OSError):
        if log.stat().st_size <= LIMIT:
            return
        newest = _old(log, 1)
        draft = newest.with_suffix(".new")
        try:
            with log.open("rb") as now, open(draft, "wb", opener=owner_only) as copy:
                shutil.copyfileobj(now, copy)
        except OSError:
            draft.unlink()
            raise
        for number in range(KEPT - 1, 0, -1):
            if _old(log, number).exists():
                _old(log, number).replace(_old(log, number + 1))
        draft.replace(newest)
        os.truncate(log, 0)


def _old(log: Path, number: int) -> Path:
    return log.with_name(f"{log.name}.{number}")


# A child that is started again whenever it ends: at once, later and later if it dies young.

YOUNG = 10.0  # seconds: a process that ends sooner may have failed at its start
AT_ONCE = 3  # times in a row that one that dies young is started again at once
LONGEST_WAIT = 30.0
# All else waits for PostgreSQL and the ledger.
LONGEST_WAIT_OF_SERVERS = 5.0


log = logging.getLogger(__name__)


@dataclass
class SupervisedChild:
    """A child that is started again when it ends, later and later if it dies young."""

    child: Child
    started: float = 0.0
    failures: int = 0
    due: float | None = None
    leaving: bool = False
    longest_wait: float = LONGEST_WAIT  # seconds

    def start(self) -> None:
        """Start it now."""
        self.started, self.due, self.leaving = time.monotonic(), None, False
        self.child.start()

    def ask_to_leave(self) -> None:
        """Have it end, to be started again at once; does not wait."""
        self.leaving = self.child.alive
        self.child.ask_to_stop()

    def go_back_to(self, old: subprocess.Popen[bytes] | None) -> None:
        """Let go of what does not start, and look after what runs still."""
        self.child.kill()
        self.child.process, self.due, self.failures = old, None, 0

    def look_after(self) -> None:
        """Notice its end and plan its next start, or make the planned one."""
        now = time.monotonic()
        put_aside(self.child.log)
        if self.due is not None:
            if now >= self.due:
                self._try_to_start()
        elif not self.child.alive and self.leaving:
            self._try_to_start()
        elif not self.child.alive:
            status = self.child.process.returncode if self.child.process else "?"
            self._plan(f"{self.child.name} ended (status {status})")
            if not self.child.aloud:
                say(f"  Its log is {self.child.log}")

    def _try_to_start(self) -> None:
        """Start it; where that is impossible, as on a full disk, plan to try again."""
        try:
            self.start()
        except OSError as error:
            self._plan(f"{self.child.name} can't be started ({error.strerror})")

    def _plan(self, why: str) -> None:
        now = time.monotonic()
        self.failures = self.failures + 1 if now - self.started < YOUNG else 0
        more = self.failures - AT_ONCE
        wait = min(self.longest_wait, 2.0 ** (more - 1)) if more > 0 else 0.0
        self.due = now + wait
        say(f"{why}; starting it again {f'in {wait:.0f} s' if wait else 'now'}.")


def say(line: str) -> None:
    """One line for whoever watches the terminal, or for the log."""
    if logs.in_json():
        log.info(line.strip())
    else:
        greet(line)


def greet(line: str) -> None:
    """One line for whoever has started this, if they still listen."""
    with suppress(OSError):
        click.echo(line)
