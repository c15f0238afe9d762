"""Processes that start in a few milliseconds: forked from one that has imported what they need.

`python -m tests.forked MODULE` is that one. It imports the module, then forks a process for each
line that it reads, which calls the module's `main`.
"""

import atexit
import ctypes
import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from threading import Condition, Lock, Thread
from typing import Any

import psutil

from portal.runtime.child_process import PR_SET_PDEATHSIG, Child

CHILDREN = {signal.SIGCHLD}


def running() -> list[int]:
    """The processes that were forked for tests of this process and still run."""
    found = []
    for each in psutil.Process().children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            parent = each.parent()
            if parent and "tests.forked" in parent.cmdline() and each.status() != "zombie":
                found.append(each.pid)
    return found


class Forked:
    """A process that was forked, with the methods of a Popen that tests need."""

    def __init__(self, pid: int, template: "Template") -> None:
        self.pid = pid
        self._template = template

    @property
    def returncode(self) -> int | None:
        return self._template.ended.get(self.pid)

    def poll(self) -> int | None:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        with self._template.news:
            self._template.news.wait_for(lambda: self.returncode is not None, timeout)
        if self.returncode is None:
            raise subprocess.TimeoutExpired(self._template.module, timeout or 0)
        return self.returncode

    def send_signal(self, number: int) -> None:
        if self.returncode is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Template:
    """The process that others are forked from; starts with the first of them."""

    def __init__(self, module: str) -> None:
        self.module = module
        self.ended: dict[int, int] = {}  # the status of each process that has
        self.news = Condition()
        self._one_by_one = Lock()
        self._begun: list[int] = []
        self._process: subprocess.Popen[bytes] | None = None

    def fork(
        self,
        arguments: Sequence[str],
        env: Mapping[str, str] | None = None,
        out: Path | None = None,
        err: Path | None = None,
    ) -> Forked:
        """Fork a process with this environment (by default ours), which appends to these files."""
        wanted = {
            "arguments": list(arguments),
            "env": dict(os.environ if env is None else env),
            "files": [str(each) if each else "" for each in (out, err)],
        }
        with self._one_by_one, self.news:
            self._ask(json.dumps(wanted).encode() + b"\n")
            assert self.news.wait_for(lambda: self._begun, 120)
            return Forked(self._begun.pop(), self)

    def _ask(self, line: bytes) -> None:
        if not self._process:
            command = [sys.executable, "-m", "tests.forked", self.module]
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(command, stdin=pipe, stdout=pipe, bufsize=0)
            listener = Thread(target=self._listen, args=(self._process,), daemon=True)
            listener.start()
            atexit.register(self._end, self._process, listener)
        assert self._process.stdin
        self._process.stdin.write(line)

    def _listen(self, process: subprocess.Popen[bytes]) -> None:
        assert process.stdout
        rest = b""
        while read := process.stdout.read(65536):
            *lines, rest = (rest + read).split(b"\n")
            with self.news:
                for pid, *status in (json.loads(line) for line in lines):
                    if status:
                        [self.ended[pid]] = status
                    else:
                        self.ended.pop(pid, None)  # an earlier process of that number
                        self._begun.append(pid)
                self.news.notify_all()
        process.stdout.close()

    @staticmethod
    def _end(process: subprocess.Popen[bytes], listener: Thread) -> None:
        if process.stdin:
            process.stdin.close()
        process.wait()
        listener.join()


@dataclass
class ForkedChild(Child):
    """A child process that is forked; `command` is what the template's `main` is given."""

    template: Template = field(kw_only=True)

    def start(self) -> None:
        """Start it; its output is appended to its log."""
        self.log.touch(mode=0o600)
        self.log_offset = self.log.stat().st_size
        env = {**os.environ, **self.env}
        self.process: Any = self.template.fork(self.command, env, self.log, self.log)


def serve(main: Callable[[Sequence[str]], None]) -> None:
    """Fork a process for each line of standard input, and tell there of its begin and its end."""
    signal.signal(signal.SIGCHLD, _tell_of_ends)
    while line := sys.stdin.buffer.readline():
        signal.pthread_sigmask(signal.SIG_BLOCK, CHILDREN)  # so that each begins before it ends
        if not (pid := os.fork()):
            _become(**json.loads(line))
            main(sys.argv[1:])
            sys.exit()
        _tell(pid)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, CHILDREN)
    os._exit(0)


def _become(arguments: list[str], env: dict[str, str], files: list[str]) -> None:
    """Have a session, an environment, arguments and files of its own."""
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, CHILDREN)
    os.setsid()
    if prctl := getattr(ctypes.CDLL(None), "prctl", None):
        prctl(PR_SET_PDEATHSIG, int(signal.SIGTERM))
    os.environ.clear()
    os.environ.update(env)
    sys.argv[1:] = arguments
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    for number, name in enumerate(files, start=1):
        if name:
            with Path(name).open("ab") as file:
                os.dup2(file.fileno(), number)


def _tell_of_ends(*_: object) -> None:
    with suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if not pid:
                return
            _tell(pid, os.waitstatus_to_exitcode(status))


def _tell(*what: int) -> None:
    os.write(1, json.dumps(what).encode() + b"\n")


if __name__ == "__main__":
    gc.disable()  # imports leave no garbage: collecting takes a sixth of the time
    _main = import_module(sys.argv.pop(1)).main
    gc.collect()
    gc.freeze()  # shared memory stays shared
    gc.enable()
    serve(_main)
