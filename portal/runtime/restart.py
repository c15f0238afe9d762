"""Replace the portal's own processes one by one, and report that to `fairseat restart`."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Any

from portal.runtime.child_process import SupervisedChild, say

STARTED = "FAIRSEAT_STARTED"  # the file that a web server touches when it serves
PREPARED = "FAIRSEAT_PREPARED"  # the file that it waits for before it serves
TIMEOUT = 60.0  # seconds for a web server to start, or to end
BALANCER_CHECK = 3.0  # seconds before a load balancer uses a node again
WORKER_TIMEOUT = 20.0  # seconds to wait for a worker; a long job ends after that
FILE = "restart.json"
BEGIN_TIMEOUT = 300.0  # seconds: another restart, or the start, may be in progress
INTERVAL = 0.2  # seconds between two reads of the file
NOT_STARTED = "{} does not start, so no more are restarted. Its log is {}"


class RestartError(RuntimeError):
    """Not all processes were replaced; the message says why."""


def replace_all(
    processes: Sequence[SupervisedChild], wait: Callable[[], None], report: Callable[[str], None]
) -> str:
    """Replace each process; `wait` passes a moment and supervises the others meanwhile.

    If a web server does not start, leave the old ones running, replace no other process, and return
    why. Otherwise return "".
    """
    web = [each for each in processes if STARTED in each.child.env]
    others = [each for each in processes if each not in web and each.child.name != "haproxy"]
    for number, each in enumerate((*web, *others), 1):
        name = each.child.name
        report(f"{name} ({number} of {len(web) + len(others)})")
        if each in web:
            if not _replace_web(each, wait):
                return NOT_STARTED.format(name, each.child.log)
        elif not _replace_worker(each, wait):
            report(f"  {name} has a job in hand; it is replaced when that is done.")
    return ""


def forget_started(started: Path) -> None:
    """Note that no web server has touched the file yet.

    Make it in advance: on a full disk a file can still be touched, but not made.
    """
    with suppress(OSError):  # without the file it is the same
        started.touch()
        os.utime(started, (0, 0))


def has_started(started: Path) -> bool:
    """Return whether a web server has touched the file."""
    try:
        return started.stat().st_mtime > 0
    except OSError:
        return False


def wait_for_web(processes: Sequence[SupervisedChild], wait: Callable[[], None]) -> None:
    """Wait until each web server among them serves, or until the timeout."""
    for each in processes:
        if STARTED in each.child.env:
            _until(partial(has_started, Path(each.child.env[STARTED])), wait)


def _replace_web(web: SupervisedChild, wait: Callable[[], None]) -> bool:
    """Start the new web server beside the old one, if they share a listener, then stop the old."""
    started = Path(web.child.env[STARTED])
    forget_started(started)
    if not web.child.keep_open:  # a node has an address that only one process can open
        web.ask_to_restart()
        if not _until(partial(has_started, started), wait):
            return False
        _until(lambda: False, wait, BALANCER_CHECK)
        return True
    old = web.child.process
    try:
        web.start()
    except OSError:  # such as a full disk
        serves = False
    else:
        serves = _until(partial(has_started, started), wait)
        if not serves:
            web.go_back_to(old)
    if not serves:
        with suppress(OSError):  # the starting page does not start beside a running process
            started.touch()
    elif old:
        old.send_signal(signal.SIGTERM)
        if not _until(lambda: old.poll() is not None, wait):
            old.kill()
    return serves


def _replace_worker(worker: SupervisedChild, wait: Callable[[], None]) -> bool:
    old = worker.child.process
    worker.ask_to_restart()
    return _until(lambda: worker.child.process is not old, wait, WORKER_TIMEOUT)


def _until(holds: Callable[[], bool], wait: Callable[[], None], timeout: float = 0.0) -> bool:
    deadline = time.monotonic() + (timeout or TIMEOUT)
    while not holds():
        if time.monotonic() > deadline:
            return False
        wait()
    return True


class RestartLog:
    """What the supervisor says of one restart, on the terminal and in a file for the command.

    A full disk does not stop the restart.
    """

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self._record: dict[str, Any] = {"id": time.time_ns(), "lines": [], "ended": False}
        self._save()

    def write(self, line: str) -> None:
        """Say a line."""
        say(line)
        self._record["lines"].append(line)
        self._save()

    def end(self, failure: str = "") -> None:
        """Say that the restart is over, and why it failed if it did."""
        say(failure or "Restarted.")
        self._record |= {"ended": True, "failure": failure}
        self._save()

    def _save(self) -> None:
        draft = self._file.with_suffix(".new")
        with suppress(OSError):
            draft.write_text(json.dumps(self._record))
            draft.replace(self._file)


def latest(folder: Path) -> dict[str, Any]:
    """Return what was said of the newest restart; its id is 0 if there was none."""
    try:
        found: dict[str, Any] = json.loads((folder / FILE).read_text())
    except (OSError, ValueError):
        return {"id": 0, "lines": [], "ended": False}
    return found


def follow(folder: Path, after: int, *, alive: Callable[[], bool]) -> Iterator[str]:
    """Yield the lines of the restart after that one, until it is over; raise RestartError.

    `alive` says whether the supervisor runs.
    """
    deadline, shown = time.monotonic() + BEGIN_TIMEOUT, 0
    while True:
        restart = latest(folder)
        if restart["id"] not in (0, after):
            yield from restart["lines"][shown:]
            shown = len(restart["lines"])
            if restart["ended"] and restart["failure"]:
                raise RestartError(restart["failure"])
            if restart["ended"]:
                return
        elif time.monotonic() > deadline:
            raise RestartError(f"No restart has begun within {BEGIN_TIMEOUT:.0f} s.")
        if not alive():
            raise RestartError("The portal was stopped meanwhile.")
        time.sleep(INTERVAL)
