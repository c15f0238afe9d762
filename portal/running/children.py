"""Child processes that never outlive this one, each in a session and with a log of its own."""

import ctypes
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path

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
