"""The starting page: shown at the portal's address while no web server serves there."""

import socket
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from portal.core.settings import ROOT
from portal.running import starting_page
from portal.running.children import Child
from portal.running.kept import Kept
from portal.running.renewal import STARTED, reset, serves

# A web server that ended is back within seconds: so long visitors wait, as that is better than an
# error. Later they are told.
BRIEFLY = 3.0


class StartingPage:
    """Runs its process from `begin` until a web server has started, and while all are down."""

    def __init__(self, door: socket.socket, log: Path) -> None:
        descriptor = door.fileno()
        texts = str(ROOT / "portal" / "translations")
        command = [sys.executable, "-IS", starting_page.__file__, str(descriptor), texts]
        self._child = Child("starting-page", command, log, keep_open=(descriptor,))
        self._down_since: float | None = None

    @property
    def shown(self) -> bool:
        """Whether its process runs."""
        return self._child.alive

    def begin(self) -> None:
        """Answer from now on."""
        self._child.start()

    def end(self) -> None:
        """Answer nobody else; whoever is being answered still is."""
        self._child.stop(patience=1)

    def look_after(self, kept: Sequence[Kept]) -> None:
        """End when a web server serves; begin when all have been down for a while."""
        web = [each.child for each in kept if STARTED in each.child.env]
        for each in web:
            if not each.alive:
                reset(_started(each))
        if any(serves(_started(each)) for each in web):
            self._down_since = None
            self._child.ask_to_stop()  # it answers whom it has taken in, then ends
        elif not self.shown and self._is_down(web):
            self.begin()

    def _is_down(self, web: Sequence[Child]) -> bool:
        """Whether none has served for long; one that is being replaced still does."""
        if any(each.alive for each in web) and self._down_since is None:
            return False
        now = time.monotonic()
        self._down_since = self._down_since or now
        return now - self._down_since > BRIEFLY


def _started(web: Child) -> Path:
    """The file that a web server touches when it serves."""
    return Path(web.env[STARTED])
