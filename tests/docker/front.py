"""nginx with the configuration of docker/nginx, in front of nodes of a test."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import requests

from portal.core.settings import ROOT
from portal.runtime.child_process import Child
from tests.docker.programs import find
from tests.ports import free_port
from tests.recorder.processes import wait_for

GIVEN = ROOT / "docker" / "nginx"
# Started as root it would do its work as somebody who may not look into the test's folder.
ALONE = "daemon off; user root;" if os.geteuid() == 0 else "daemon off;"


@dataclass
class Front:
    """An nginx that runs, or is to be checked, in a folder of its own."""

    folder: Path
    child: Child
    plain: int
    port: int

    def ask(self, path: str, method: str = "GET", **more: Any) -> requests.Response:
        """The answer to one request by TLS."""
        known = str(self.folder / "tls" / "fullchain.pem")
        return _ask(method, f"https://{self.host}{path}", verify=known, **more)

    def ask_plainly(self, path: str) -> requests.Response:
        """The answer to one request without TLS."""
        return _ask("GET", f"http://127.0.0.1:{self.plain}{path}")

    @property
    def host(self) -> str:
        return f"127.0.0.1:{self.port}"

    def told(self, field: str, value: str, count: int = 1) -> list[dict[str, Any]]:
        """The lines of its access log with a value, once there are so many: it writes them late."""
        lines: list[dict[str, Any]] = []

        def found() -> bool:
            written = (self.folder / "access.log").read_text().rpartition("\n")[0].splitlines()
            lines[:] = [line for line in map(json.loads, written) if line[field] == value]
            return len(lines) >= count

        wait_for(found)
        return lines


def _ask(method: str, address: str, **more: Any) -> requests.Response:
    with requests.Session() as session:
        session.trust_env = False
        return session.request(method, address, timeout=60, allow_redirects=False, **more)


def front(folder: Path, nodes: Sequence[int]) -> Front:
    """Our configuration, led to other ports and into `folder`."""
    plain, port = free_port(), free_port()
    for name in ("nginx.conf", "pass.conf", "nodes.conf"):
        text = (GIVEN / name).read_text()
        for number, node in enumerate(nodes, start=1):
            text = text.replace(f"172.30.87.1{number}:8000", f"127.0.0.1:{node}")
        text = text.replace("listen 8080", f"listen 127.0.0.1:{plain}")
        text = text.replace("listen 8443", f"listen 127.0.0.1:{port}")
        text = text.replace("/dev/stdout", str(folder / "access.log"))
        text = re.sub(r"/tmp/(nginx)", rf"{folder}/\1", text)  # noqa: S108  theirs
        (folder / name).write_text(text)
    certificate(folder / "tls")
    command = [find("nginx") or "nginx", "-c", str(folder / "nginx.conf"), "-e", "stderr"]
    child = Child("nginx", [*command, "-g", ALONE], folder / "nginx.log")
    return Front(folder, child, plain, port)


def certificate(folder: Path) -> None:
    """A key and what it is certified by, for this machine."""
    folder.mkdir()
    command = "req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost"
    subprocess.run(
        [
            shutil.which("openssl") or "openssl",
            *command.split(),
            *("-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost"),
            *("-keyout", str(folder / "privkey.pem"), "-out", str(folder / "fullchain.pem")),
        ],
        check=True,
        capture_output=True,
    )
