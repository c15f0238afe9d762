"""The address of the portal on this machine: opened before all else, asked until it is ready."""

import json
import socket
import time
import urllib.error
import urllib.request
from typing import Any

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
