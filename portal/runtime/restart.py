"""The portal's own processes replaced, one after the other, while the others serve."""

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
PATIENCE = 60.0  # seconds for a web server to start, or to end
NOTICED = 3.0  # seconds until a balancer that looks each second sends visitors to a node again
BRIEFLY = 20.0  # seconds that others wait for a worker: one with a long job ends after that
NOT_STARTED = "{} does not start, so no more are restarted. Its log is {}"


def renew(
    crew: Sequence[SupervisedChild], wait: Callable[[], None], tell: Callable[[str], None]
) -> str:
    """Replace each of them; `wait` passes a moment in which the others are looked after.

    Where a web server does not start, the old ones go on and nothing else is touched: gives what
    to say of that, else "".
    """
    web = [kept for kept in crew if STARTED in kept.child.env]
    others = [kept for kept in crew if kept not in web and kept.child.name != "haproxy"]
    for number, kept in enumerate((*web, *others), 1):
        name = kept.child.name
        tell(f"{name} ({number} of {len(web) + len(others)})")
        if kept not in web:
            if not _renew(kept, wait):
                tell(f"  {name} has a job in hand; it is replaced when that is done.")
        elif not _renew_web(kept, wait):
            return NOT_STARTED.format(name, kept.child.log)
    return ""


def reset(started: Path) -> None:
    """Say that no web server has touched the file yet.

    It is there in advance: a full disk keeps nobody from touching a file, only from making one.
    """
    with suppress(OSError):  # a file that can't be made says the same
        started.touch()
        os.utime(started, (0, 0))


def serves(started: Path) -> bool:
    """Whether a web server has touched the file."""
    try:
        return started.stat().st_mtime > 0
    except OSError:
        return False


def until_started(crew: Sequence[SupervisedChild], wait: Callable[[], None]) -> None:
    """Wait until each web server among them serves, but not for ever for one that can't."""
    for kept in crew:
        if STARTED in kept.child.env:
            _until(partial(serves, Path(kept.child.env[STARTED])), wait)


def _renew_web(kept: SupervisedChild, wait: Callable[[], None]) -> bool:
    started = Path(kept.child.env[STARTED])
    reset(started)
    if not kept.child.keep_open:  # a node with a door of its own, which only one can open
        kept.ask_to_leave()
        if not _until(partial(serves, started), wait):
            return False
        _until(lambda: False, wait, NOTICED)
        return True
    old = kept.child.process
    try:
        kept.start()
    except OSError:  # such as a full disk
        _serve_on(started)
        return False
    if not _until(partial(serves, started), wait):
        kept.go_back_to(old)
        _serve_on(started)
        return False
    if old:
        old.send_signal(signal.SIGTERM)
        if not _until(lambda: old.poll() is not None, wait):
            old.kill()
    return True


def _serve_on(started: Path) -> None:
    """Say that the old web server still serves."""
    with suppress(OSError):  # the starting page does not begin beside a process that lives
        started.touch()


def _renew(kept: SupervisedChild, wait: Callable[[], None]) -> bool:
    old = kept.child.process
    kept.ask_to_leave()
    return _until(lambda: kept.child.process is not old, wait, BRIEFLY)


def _until(holds: Callable[[], bool], wait: Callable[[], None], patience: float = PATIENCE) -> bool:
    deadline = time.monotonic() + patience
    while not holds():
        if time.monotonic() > deadline:
            return False
        wait()
    return True


# How a restart goes: told by the supervisor in a file, followed by `fairseat restart`.

FILE = "restart.jsonl"  # its first line has an id, its last one says how it ended
BEGINS = 300.0  # seconds for a restart to begin: another may be under way, or the start
LOOK = 0.2  # seconds between two looks


class RestartError(RuntimeError):
    """Not everything was replaced; the message says why."""


class Progress:
    """What the supervisor tells of one restart; a full disk does not keep it from going on."""

    def __init__(self, folder: Path) -> None:
        self._file = folder / FILE
        self._begun = False  # else its lines would go to the file of the restart before
        with suppress(OSError):
            draft = self._file.with_suffix(".new")
            draft.write_text(json.dumps({"id": time.time_ns()}) + "\n")
            draft.replace(self._file)
            self._begun = True

    def tell(self, line: str) -> None:
        """Say a line here and there."""
        say(line)
        self._write(line=line)

    def end(self, failure: str = "") -> None:
        """Say that it is over, and why it failed if it did."""
        say(failure or "Restarted.")
        self._write(failure=failure)

    def _write(self, **told: str) -> None:
        if not self._begun:
            return
        with suppress(OSError), self._file.open("a") as file:
            file.write(json.dumps(told) + "\n")


def latest(folder: Path) -> int:
    """The id of the newest restart there was, 0 where there was none."""
    try:
        with (folder / FILE).open() as file:
            return int(json.loads(file.readline())["id"])
    except (OSError, ValueError):
        return 0


def follow(folder: Path, after: int, *, alive: Callable[[], bool]) -> Iterator[str]:
    """The lines of the restart after that one, until it is over; raises RestartError.

    `alive` says whether the supervisor is there.
    """
    deadline = time.monotonic() + BEGINS
    while latest(folder) == after:
        _look_again(alive)
        if time.monotonic() > deadline:
            raise RestartError(f"No restart has begun within {BEGINS:.0f} s.")
    with (folder / FILE).open() as file:
        for told in _lines(file.readline, alive):
            if "line" in told:
                yield told["line"]
            if told.get("failure"):
                raise RestartError(told["failure"])


def _lines(read: Callable[[], str], alive: Callable[[], bool]) -> Iterator[dict[str, Any]]:
    """Each line once it is there whole, up to the one that says how it ended."""
    text = ""
    while True:
        text += read()
        if not text.endswith("\n"):
            _look_again(alive)
            continue
        told: dict[str, Any] = json.loads(text)
        yield told
        if "failure" in told:
            return
        text = ""


def _look_again(alive: Callable[[], bool]) -> None:
    if not alive():
        raise RestartError("The portal was stopped meanwhile.")
    time.sleep(LOOK)
