"""How a restart goes: told by the supervisor in a file, followed by `fairseat restart`."""

import json
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

from portal.running.kept import say

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
