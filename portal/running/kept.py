"""A child that is started again whenever it ends: at once, later and later if it dies young."""

import logging
import time
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import click

from portal.core import logs
from portal.running.children import Child
from portal.running.logfiles import put_aside

YOUNG = 10.0  # seconds: a process that ends sooner may have failed at its start
AT_ONCE = 3  # times in a row that one that dies young is started again at once
LONGEST_WAIT = 30.0
# All else waits for PostgreSQL and the ledger.
LONGEST_WAIT_OF_SERVERS = 5.0

if TYPE_CHECKING:
    from subprocess import Popen

log = logging.getLogger(__name__)


@dataclass
class Kept:
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

    def go_back_to(self, old: "Popen[bytes] | None") -> None:
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
