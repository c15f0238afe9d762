"""The portal's listener on this machine: opened first, and asked until the portal is ready."""

import json
import os
import socket
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from portal.runtime import starting_page
from portal.runtime.child_process import Child, SupervisedChild
from portal.runtime.data_folder import StartupError

STARTED = "FAIRSEAT_STARTED"  # the file that a web server touches when it serves
PREPARED = "FAIRSEAT_PREPARED"  # the file that it waits for before it serves
UNNAMED = "a part that /ready does not name"
# A restarted web server is back within seconds: visitors wait that long before they see a message.
TOLERATED = 3.0


def address_of(listener: socket.socket) -> str:
    """Return the address at which a browser on this machine finds the portal."""
    host, port = listener.getsockname()[:2]
    host = {"0.0.0.0": "127.0.0.1", "::": "::1"}.get(host, host)  # noqa: S104
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"


def open_listener(host: str, port: int, timeout: float = 0.0) -> socket.socket:
    """Listen at the address; raise StartupError if that fails for `timeout` seconds."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    deadline = time.monotonic() + timeout
    while True:
        try:
            return socket.create_server((host, port), family=family, backlog=4096)
        except OSError as error:
            if time.monotonic() >= deadline:
                raise StartupError(
                    f"Port {port} of {host} can't be opened ({error.strerror}). Stop what uses it,"
                    f" or choose another: PORT={port + 1}"
                ) from error
        time.sleep(0.2)


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


def not_ready(address: str, token: str = "") -> str:
    """Return what `/ready` says is missing; "" if nothing is.

    It names parts to this machine, and to clients with the token of FAIRSEAT_METRICS_TOKEN.
    """
    direct = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    request = urllib.request.Request(f"{address}/ready")  # noqa: S310  ours
    if token and token.isascii() and token.isprintable():  # otherwise no header can carry it
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


class StartingPage:
    """The process that answers until a web server has started, and while all are down."""

    def __init__(self, listener: socket.socket, log: Path) -> None:
        descriptor = listener.fileno()
        texts = str(Path(__file__).resolve().parents[1] / "translations")
        command = [sys.executable, "-IS", starting_page.__file__, str(descriptor), texts]
        self._child = Child("starting-page", command, log, keep_open=(descriptor,))
        self._down_since: float | None = None

    @property
    def shown(self) -> bool:
        """Return whether its process runs."""
        return self._child.alive

    def start(self) -> None:
        self._child.start()

    def stop(self) -> None:
        """Stop accepting new requests."""
        self._child.stop(timeout=1)

    def check(self, processes: Sequence[SupervisedChild]) -> None:
        """Stop when a web server serves; start when all have been down for a while."""
        web = [each.child for each in processes if STARTED in each.child.env]
        files = {each.name: Path(each.env[STARTED]) for each in web}
        for each in web:
            if not each.alive:
                forget_started(files[each.name])
        if any(has_started(each) for each in files.values()):
            self._down_since = None
            self._child.ask_to_stop()  # it answers what it has accepted, then exits
        elif not self.shown and self._all_down(web):
            self.start()

    def _all_down(self, web: Sequence[Child]) -> bool:
        """Return whether all web servers are down for long; one being replaced counts as up."""
        if any(each.alive for each in web) and self._down_since is None:
            return False
        now = time.monotonic()
        self._down_since = self._down_since or now
        return now - self._down_since > TOLERATED
