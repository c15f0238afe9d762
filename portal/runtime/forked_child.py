"""Children that are forked from one process that has imported the portal, as imports take long.

The fork server (portal/runtime/fork_server.py) makes each process, and leaves it to the supervisor:
it becomes a child of the supervisor like any other, and outlives the fork server. The supervisor
never waits for imports: meanwhile Python starts what must start.
"""

import json
import os
import select
import socket
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import BinaryIO

from portal.runtime.child_process import STARTED_HERE, Child, Process, prctl

PR_SET_CHILD_SUBREAPER = 36
MODULE = "portal.runtime.fork_server"
IMPORT_TIMEOUT = 60.0  # seconds
FORK_TIMEOUT = 10.0  # seconds before Python starts a process instead
LONGEST_ANSWER = 100  # bytes


class Forked:
    """A process that was forked for this one, with the methods of a Popen."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        """Return its status if it has ended."""
        if self.returncode is None:
            try:
                pid, status = os.waitpid(self.pid, os.WNOHANG)
            except ChildProcessError:  # as Popen does, if the status is lost
                self.returncode = 0
            else:
                self.returncode = os.waitstatus_to_exitcode(status) if pid else None
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        """Wait until it has ended; raise TimeoutExpired."""
        deadline = None if timeout is None else time.monotonic() + timeout
        while (status := self.poll()) is None:
            if deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(MODULE, timeout or 0)
            time.sleep(0.01)
        return status

    def send_signal(self, sig: int) -> None:
        """Send a signal, unless it has ended."""
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, sig)


class ForkServer:
    """The process that has imported the portal. It is started again if it is missing."""

    def __init__(self, log: Path, env: Mapping[str, str]) -> None:
        self._log, self._env = log, env
        self._child: Child | None = None
        self._line: socket.socket | None = None
        self._has_imported = False

    @property
    def children(self) -> list[Child]:
        """Return its process, if it has one."""
        return [self._child] if self._child else []

    @property
    def is_importing(self) -> bool:
        """Return whether it has not imported the portal yet, so that it can't fork."""
        if not self._line or self._has_imported:
            return False
        return not select.select([self._line], [], [], 0)[0]

    def start(self) -> None:
        """Start importing the portal, without waiting."""
        self.stop()
        prepare = prctl()
        if not prepare or prepare(PR_SET_CHILD_SUBREAPER, 1):
            return  # processes could not become children of this one
        self._line, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        with theirs:
            self._line.settimeout(FORK_TIMEOUT)
            command = [sys.executable, "-m", MODULE, str(theirs.fileno())]
            self._child = Child(
                "fork-server", command, self._log, self._env, keep_open=(theirs.fileno(),)
            )
            self._child.start()

    def stop(self) -> None:
        """Stop it. What it has forked runs on."""
        if self._line:
            self._line.close()
        if self._child:
            self._child.kill()
        self._child, self._line, self._has_imported = None, None, False

    def fork(
        self, arguments: Sequence[str], name: str, env: Mapping[str, str], files: Sequence[int]
    ) -> int:
        """Return the process id of a new `fairseat` with these arguments; 0 if that fails.

        It fails while the portal is being imported. The process writes its output and its errors to
        the two open `files`.
        """
        if not self._child or not self._child.alive:
            self.start()
        if not self._line or self.is_importing:
            return 0
        request = {"arguments": list(arguments), "name": name, "env": dict(env)}
        try:
            if not self._has_imported:
                self._answer(self._line)
                self._has_imported = True
            socket.send_fds(self._line, [json.dumps(request).encode()], files)
            return int(self._answer(self._line))
        except (OSError, ValueError):
            self.stop()
            return 0

    def _answer(self, line: socket.socket) -> bytes:
        answer = line.recv(LONGEST_ANSWER)
        if not answer:
            raise OSError("the fork server has ended")
        return answer


@dataclass
class ForkedChild(Child):
    """A `fairseat` command that is forked if possible; otherwise Python starts it."""

    fork_server: ForkServer = field(kw_only=True)

    def _begin(self, log: BinaryIO | None) -> Process:
        files = [log.fileno()] * 2 if log else [1, 2]
        arguments = self.command[3:]  # after `python -m portal.runtime.cli`
        pid = self.fork_server.fork(arguments, self.name, self.whole_env, files)
        return Forked(pid) if pid else super()._begin(log)


def reap_orphans() -> None:
    """Collect ended processes that were left to this one, such as those of a killed web server.

    Those that were started here keep their status for whoever asks.
    """
    if sys.platform == "darwin":  # it has no waitid, and leaves orphans to its first process
        return
    with suppress(ChildProcessError):
        while found := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT):
            if process := STARTED_HERE.pop(found.si_pid, None):
                process.poll()
            else:
                os.waitpid(found.si_pid, os.WNOHANG)
