"""A child that is started again whenever it ends."""

import logging
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from portal.ops import logs
from portal.running.children import Child

HEALTHY = 30.0  # seconds: whoever lived that long has not failed at its start
LONGEST_WAIT = 30.0

if TYPE_CHECKING:
    from subprocess import Popen

log = logging.getLogger(__name__)


@dataclass
class Kept:
    """A child that is started again when it ends, later and later if it fails at once."""

    child: Child
    started: float = 0.0
    failures: int = 0
    due: float | None = None
    leaving: bool = False

    def start(self) -> None:
        """Start it now."""
        self.started, self.due, self.leaving = time.monotonic(), None, False
        self.child.start()

    def ask_to_leave(self) -> None:
        """Have it end, to be started again at once; does not wait."""
        self.leaving = self.child.alive
        self.child.ask_to_stop()

    def go_back_to(self, old: "Popen[bytes] | None") -> None:
        """Let go of what does not start, and look after what runs still."""
        self.child.kill()
        self.child.process, self.due, self.failures = old, None, 0

    def look_after(self) -> None:
        """Notice its end and plan its next start, or make the planned one."""
        now = time.monotonic()
        if self.due is not None:
            if now >= self.due:
                self.start()
        elif not self.child.alive and self.leaving:
            self.start()
        elif not self.child.alive:
            self.failures = 0 if now - self.started > HEALTHY else self.failures + 1
            wait = min(LONGEST_WAIT, 0.5 * 2.0**self.failures) if self.failures > 1 else 0.0
            self.due = now + wait
            later = f"in {wait:.0f} s" if wait else "now"
            status = self.child.process.returncode if self.child.process else "?"
            say(f"{self.child.name} ended (status {status}); starting it again {later}.")
            if not self.child.aloud:
                say(f"  Its log is {self.child.log}")


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
