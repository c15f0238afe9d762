"""`fairseat` commands in processes of their own, which start in a few milliseconds.

Each is forked from a process that has imported the commands and their jobs already. A test of the
start itself, or of what a process imports, must start Python instead.
"""

import os
import subprocess
import sys
from collections.abc import Mapping
from importlib import import_module
from multiprocessing import get_context
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from tempfile import TemporaryDirectory

FORKING = get_context("forkserver")
FORKING.set_forkserver_preload(["tests.preloaded_commands"])


class Command:
    """A running command, with the methods of a Popen that tests need."""

    def __init__(self, process: ForkServerProcess) -> None:
        self._process = process
        assert process.pid
        self.pid: int = process.pid

    @property
    def returncode(self) -> int | None:
        return self._process.exitcode

    def poll(self) -> int | None:
        return self.returncode

    def kill(self) -> None:
        self._process.kill()

    def terminate(self) -> None:
        self._process.terminate()

    def wait(self, timeout: float | None = None) -> int | None:
        self._process.join(timeout)
        return self.returncode


def start(*arguments: str, env: Mapping[str, str] | None = None) -> Command:
    """Start `fairseat` with these arguments in this environment (by default that of the test)."""
    return _start(arguments, env, None)


def run(*arguments: str, env: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    """Run `fairseat` to its end, and return its status and what it wrote."""
    with TemporaryDirectory() as folder:
        status = _start(arguments, env, folder).wait()
        out, err = ((Path(folder) / name).read_text() for name in ("out", "err"))
    assert status is not None
    return subprocess.CompletedProcess(arguments, status, out, err)


def _start(
    arguments: tuple[str, ...], env: Mapping[str, str] | None, folder: str | None
) -> Command:
    environment = dict(os.environ if env is None else env)
    process = FORKING.Process(target=_fairseat, args=(arguments, environment, folder))
    process.start()
    return Command(process)


def _fairseat(arguments: tuple[str, ...], env: dict[str, str], folder: str | None) -> None:
    """Be the command; with a folder, write into files there."""
    os.environ.clear()
    os.environ.update(env)
    sys.argv = ["fairseat", *arguments]
    for name, number in (("out", 1), ("err", 2)) if folder else ():
        with (Path(folder or "") / name).open("ab") as file:
            os.dup2(file.fileno(), number)
    import_module("portal.runtime.cli").main()
