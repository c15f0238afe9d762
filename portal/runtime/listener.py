"""The address of the portal on this machine: opened before all else, asked until it is ready."""

import json
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from portal.runtime import starting_page
from portal.runtime.child_process import Child, SupervisedChild
from portal.runtime.restart import STARTED, reset, serves

UNNAMED = "a part that /ready does not name"


class UpError(RuntimeError):
    """The portal can't start; the message says why."""


def address(door: socket.socket) -> str:
    """Where a browser on this machine finds the portal."""
    host, port = door.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def open_door(host: str, port: int, patience: float = 0.0) -> socket.socket:
    """Listen at the address before anything else starts; raises UpError after `patience` s."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    deadline = time.monotonic() + patience
    while True:
        try:
            return socket.create_server((host, port), family=family, backlog=4096)
        except OSError as error:
            if time.monotonic() >= deadline:
                raise UpError(
                    f"Port {port} of {host} can't be opened ({error.strerror}). Stop what uses it,"
                    f" or choose another: PORT={port + 1}"
                ) from error
        time.sleep(0.2)


def not_ready(address: str, token: str = "") -> str:
    """What `/ready` says is missing; "" when all can serve.

    It names parts to this machine and to whoever brings the token of FAIRSEAT_METRICS_TOKEN.
    """
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(f"{address}/ready")  # noqa: S310  ours
    if token and token.isascii() and token.isprintable():  # else no header can carry it
        request.add_header("Authorization", f"Bearer {token}")
    try:
        direct.open(request, timeout=3).close()
    except urllib.error.HTTPError as error:
        return ", ".join(_missing(error.read())) or UNNAMED
    except OSError:
        return "the web server does not answer"
    return ""


def _missing(body: bytes) -> list[str]:
    try:
        answer: Any = json.loads(body)
    except ValueError:
        return ["the web server answers with an error"]
    return [str(part) for part in answer.get("missing", ())] if isinstance(answer, dict) else []


# The starting page: shown at the portal's address while no web server serves there.

# A web server that ended is back within seconds: so long visitors wait, as that is better than an
# error. Later they are told.
BRIEFLY = 3.0


class StartingPage:
    """Runs its process from `begin` until a web server has started, and while all are down."""

    def __init__(self, door: socket.socket, log: Path) -> None:
        descriptor = door.fileno()
        texts = str(Path(__file__).resolve().parents[1] / "translations")
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

    def look_after(self, kept: Sequence[SupervisedChild]) -> None:
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
